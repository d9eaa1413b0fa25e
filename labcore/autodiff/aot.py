"""`aot_compile`: from a captured graph to a callable that differentiates itself.

In: a captured graph, example inputs, and a compiler `(gm, phase) -> callable(list of tensors) -> tuple`.
Out: a callable of the graph's inputs that returns the user's outputs, with a history when one is wanted.
Invariant: whether gradients are wanted is decided here, once; the caller's guards keep grad mode, `requires_grad`, shapes, strides
and types of the inputs as they were for the examples.

    decompose ─► split aliases ─┬─► inference graph ─► compiler
                                └─► joint graph ─► cut ─► forward graph ─► compiler
                                                      └─► backward graph ─► compiler, at the first backward
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from .. import trace
from ..graph import Graph, GraphModule, verify
from ..tensor.modes import is_grad_enabled
from ..tensor.tensor import Tensor
from .aliases import Split, split_aliases
from .joint import Joint, trace_joint
from .partition import Cut, default_partition
from .passes import decompose, merge_common_subexpressions, remove_dead_code, remove_identity_views
from .runtime import Boxed, LazyBackward, Plan, inference_region, training_region

Compiler = Callable[[GraphModule, str], Boxed]

CLEANUPS = (decompose, remove_identity_views, merge_common_subexpressions, remove_dead_code)


def aot_compile(gm: GraphModule, example_inputs: Sequence[Tensor], compiler: Compiler,
                backward_compiler: Compiler | None = None) -> Callable[..., tuple]:
    """Compile `gm` for inputs like these. The backward's compiler is asked at the first backward."""
    started = perf_counter()
    split = split_aliases(verify(decompose(verify(gm.graph))))
    wanted = [t.requires_grad for t in example_inputs]
    if is_grad_enabled() and any(wanted):
        joint = trace_joint(split.core, wanted)
        if joint.tangents:
            return _training(gm, split, joint, compiler, backward_compiler or compiler, started)
    return _inference(gm, split, compiler, started)


def _inference(gm: GraphModule, split: Split, compiler: Compiler, started: float) -> Callable[..., tuple]:
    graph = verify(clean(_with_argument_names(split.core)), functional=True)
    _report("inference", graph)
    _report_stage(started, f"inference: {len(graph.calls)} calls; no input wants a gradient")
    compiled = compiler(GraphModule(graph, gm.attrs, "InferenceGraph"), "inference") if graph.outputs else None
    return inference_region(compiled, split, gm.attrs)


def _training(gm: GraphModule, split: Split, joint: Joint, compiler: Compiler, backward_compiler: Compiler,
              started: float) -> Callable[..., tuple]:
    joint = joint.after(clean)
    cut = default_partition(joint)
    saved = [value.name for value in cut.saved]
    _report("joint", joint.graph)
    _report("forward", cut.forward, saved, cut.saved_bytes)
    _report("backward", cut.backward, saved, cut.saved_bytes)
    _report_stage(started, f"training: {_calls(cut)}; {len(saved)} saved, {cut.saved_bytes} bytes")
    forward = compiler(GraphModule(cut.forward, gm.attrs, "ForwardGraph"), "forward")
    backward = LazyBackward(GraphModule(cut.backward, gm.attrs, "BackwardGraph"), backward_compiler)
    return training_region(forward, backward, Plan.of(joint, cut), split, gm.attrs)


def clean(graph: Graph) -> Graph:
    """All clean-ups in their order, each checked."""
    for cleanup in CLEANUPS:
        graph = verify(cleanup(graph))
    return graph


def _with_argument_names(graph: Graph) -> Graph:
    """The graph with its inputs named arg0_1, arg1_1 ... as AOTAutograd names them."""
    new, env = Graph(), {}
    for node in graph.nodes:
        if node.op == "placeholder":
            env[node] = new.placeholder(f"arg{len(env)}_1", node.meta, node.origin)
        else:
            env[node] = new.node_copy(node, env.__getitem__)
    return new


def _calls(cut: Cut) -> str:
    return f"forward {len(cut.forward.calls)} calls, backward {len(cut.backward.calls)}"


def _report(phase: str, graph: Graph, saved: list[str] | None = None, saved_bytes: int = 0) -> None:
    if trace.listening():
        code = graph.python_code("joint" if phase == "joint" else phase)
        trace.emit(trace.AotGraph(phase, code, saved or [], saved_bytes))


def _report_stage(started: float, note: str) -> None:
    if trace.listening():
        trace.emit(trace.Stage("autodiff", perf_counter() - started, note))
