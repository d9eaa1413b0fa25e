"""`aot_compile`: from a captured graph to a callable that differentiates itself.

In: a captured graph, example inputs, and a compiler `(gm, phase) -> callable(list) -> tuple`.
Out: a callable of the graph's inputs that returns its outputs, with a history when one is wanted.
Invariant: whether gradients are wanted is decided here, once; the caller's guards keep grad mode
and the inputs' `requires_grad`, shapes, strides and types as they were for the examples, or as the
symbols in their metas say.

    decompose ─► split aliases ─┬─► inference graph ─► compiler
                                └─► joint graph ─► cut ─┬─► forward graph ─► compiler
                                                        └─► backward graph ─► compiler, later

AOTAutograd also functionalizes (here capture writes pure operators in place of those that write, so
there is nothing left to do), tracks effects and random state, and has a cache of its own.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter

from .. import trace
from ..graph import Graph, GraphModule, verify
from ..tensor.modes import is_grad_enabled
from ..tensor.tensor import Tensor
from .aliases import Split, given_back, split_aliases
from .backward import Compiler, LazyBackward, compile_split
from .joint import Joint, trace_joint
from .options import DEFAULT, AutodiffOptions
from .partition import Cut, default_partition
from .passes import clean, decompose
from .runtime import Plan, inference_region, training_region


def aot_compile(gm: GraphModule, example_inputs: Sequence[Tensor], compiler: Compiler,
                backward_compiler: Compiler | None = None,
                options: AutodiffOptions = DEFAULT) -> Callable[..., tuple]:
    """Compile `gm` for inputs like these; the backward is compiled when it first runs."""
    started = perf_counter()
    split = split_aliases(verify(decompose(verify(gm.graph))))
    wanted = [isinstance(t, Tensor) and t.requires_grad for t in example_inputs]
    if is_grad_enabled() and any(wanted):
        joint = trace_joint(split.core, wanted)
        if joint.tangents:
            joint = joint.after(clean)
            cut = partition(joint, options)
            _report_cut(joint, cut, started)
            return _training(gm, split, joint, cut, compiler, backward_compiler or compiler)
    return _inference(gm, split, compiler, started)


def _inference(gm: GraphModule, split: Split, compiler: Compiler,
               started: float) -> Callable[..., tuple]:
    graph = verify(clean(split.core), functional=True)
    _report("inference", graph)
    _report_stage(started, f"no gradient is wanted: one graph of {operations(graph)}")
    split = replace(split, core=graph)
    overwritten = given_back(gm, split.results)
    compiled = compile_split(compiler, split, "inference", gm.attrs, overwritten)
    return inference_region(compiled)


def partition(joint: Joint, options: AutodiffOptions) -> Cut:
    """Cut as the options say. networkx is imported only where it cuts."""
    if callable(options.partitioner):
        return options.partitioner(joint)
    if options.partitioner == "default":
        return default_partition(joint)
    from .mincut import min_cut_partition
    return min_cut_partition(joint, options.activation_memory_budget)


def _training(gm: GraphModule, split: Split, joint: Joint, cut: Cut, compiler: Compiler,
              backward_compiler: Compiler) -> Callable[..., tuple]:
    forward = compiler(GraphModule(cut.forward, gm.attrs, "ForwardGraph"), "forward")
    tangents = [node.name for node in joint.tangents]
    backward = LazyBackward(cut, tangents, gm.attrs, backward_compiler)
    overwritten = [node.name in gm.overwritten for node in gm.graph.placeholders]
    plan = Plan.of(joint, cut, overwritten)
    return training_region(forward, backward, plan, split, gm.attrs)


def _report_cut(joint: Joint, cut: Cut, started: float) -> None:
    saved = [value.name for value in cut.saved]
    _report("joint", joint.graph)
    _report("forward", cut.forward, saved, cut.saved_bytes)
    _report("backward", cut.backward, saved, cut.saved_bytes)
    if trace.listening():
        for decision in cut.decisions:
            trace.emit(trace.PartitionChoice(**vars(decision)))
    sizes = f"{operations(cut.forward)} forward, {len(cut.backward.calls)} backward"
    kept = f"{len(saved)} saved, {cut.saved_bytes} bytes" if saved else "nothing saved"
    again = f", {len(cut.recomputed)} computed again" if cut.recomputed else ""
    _report_stage(started, f"{sizes}; {kept}{again}")


def operations(graph: Graph) -> str:
    """"3 operations"."""
    count = len(graph.calls)
    return f"{count} operation{'' if count == 1 else 's'}"


def _report(phase: str, graph: Graph, saved: Sequence[str] = (), saved_bytes: int = 0) -> None:
    if trace.listening():
        trace.emit(trace.AotGraph(phase, graph.python_code(phase), list(saved), saved_bytes))


def _report_stage(started: float, note: str) -> None:
    if trace.listening():
        trace.emit(trace.Stage("autodiff", perf_counter() - started, note))
