"""What runs when a differentiated region is called, and later when its gradients are asked for.

In: compiled graphs, and the plan of who is saved where.
Out: `callable(*tensors) -> tuple` of the user's outputs.
Invariant: a compiled graph is called with a list that it may empty, and never sees a history; the
whole region is one node of the tape. Saved tensors which the user can reach (inputs and outputs)
carry their version; to the others nobody can write.
AOTAutograd prints these wrappers as code; it also handles inputs that are written to, tensor
subclasses, random state and saved-tensor hooks, and frees each saved tensor while the backward runs
(here: when the region's backward has run).
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from .. import ops, trace
from ..graph import Graph, GraphModule, Node, TensorMeta
from ..ops.sharing import meta_of
from ..shapes import Undecided
from ..tensor.autograd import record
from ..tensor.factories import empty_strided
from ..tensor.modes import mode, no_grad
from ..tensor.nodes import Saved as SavedTensor, save
from ..tensor.storage import Storage
from ..tensor.tensor import Tensor
from .aliases import Split, split_aliases
from .joint import Joint, trace_joint
from .partition import Cut, cut_at
from .passes import clean

Boxed = Callable[[list[Any]], tuple]
Compiler = Callable[[GraphModule, str], Boxed]

NAME = "CompiledFunctionBackward"


def compile_split(compiler: Compiler, split: Split, phase: str, attrs: dict[str, Any]) -> Boxed:
    """Compile what is computed; outputs that are views or inputs are put in place afterwards."""
    compiled: Boxed = _nothing
    if split.core.outputs:
        compiled = compiler(GraphModule(split.core, attrs, f"{phase.capitalize()}Graph"), phase)
    if phase == "inference":
        compiled = _under_any_mode(compiled)
    if split.epilogue is None:
        return compiled
    finish = GraphModule(split.epilogue, attrs, "Epilogue").forward

    def run(box: list[Any]) -> tuple:
        kept = [box[i] for i in split.arguments]
        return finish(*kept, *compiled(box))
    return run


def _nothing(box: list[Any]) -> tuple:
    return ()


def _under_any_mode(compiled: Boxed) -> Boxed:
    """`compiled`, whose results are inference tensors when it is called under inference_mode."""

    def run(box: list[Any]) -> tuple:
        results = compiled(box)
        if mode.inference:
            for tensor in results:
                if tensor._storage is None:
                    tensor._storage = Storage(tensor.array, inference=True)
        return results
    return run


def inference_region(compiled: Boxed) -> Callable[..., tuple]:
    """The region as it is called: with tensors instead of a list."""
    return lambda *tensors: compiled(list(tensors))


def run_by_operators(gm: GraphModule, phase: str) -> Boxed:
    """The compiler that compiles nothing: one eager operator a node."""

    def run(args: list[Any]) -> Any:
        inputs = tuple(args)
        args.clear()
        with no_grad():
            return gm.forward(*inputs)

    return run


class LazyBackward:
    """The backward of one region: for each set of outputs that gradients came for, a graph.

    It is compiled when it is first needed; where numbers are symbolic the one for all outputs at
    once, as long as what it takes for granted can become a guard. AOTAutograd has one, and passes
    zeros for outputs that were not used; zeros are not nothing, for 0 * inf is nan, and eager mode
    leaves those ways out.
    """

    def __init__(self, core: Graph, joint: Joint, cut: Cut, attrs: dict[str, Any],
                 compiler: Compiler) -> None:
        self.core, self.joint, self.cut, self.attrs = core, joint, cut, attrs
        self.compiler, self.compile_id = compiler, trace.current_compile_id()
        self.compiled: dict[tuple[bool, ...], Boxed] = {}
        self._lock = threading.Lock()

    def given(self, used: tuple[bool, ...]) -> Boxed:
        """The compiled backward for gradients of these outputs:
        `(*numbers, *saved, *tangents) -> grads`."""
        return self.compiled.get(used) or self._compile(used)

    def _compile(self, used: tuple[bool, ...]) -> Boxed:
        """Gradients that are views (of a tangent, say) are made outside, like outputs."""
        with self._lock, trace.compiling(self.compile_id):
            if used not in self.compiled:
                started = perf_counter()
                split = split_aliases(self._graph(used))
                note = "backward: compiled at the first backward(), codegen included"
                try:
                    compiled = compile_split(self.compiler, split, "backward", self.attrs)
                except Undecided as question:
                    compiled = compile_split(run_by_operators, split, "backward", self.attrs)
                    note = f"backward: run by eager operators, as {question}"
                self.compiled[used] = compiled
                if trace.listening():
                    trace.emit(trace.Stage("autodiff", perf_counter() - started, note))
        return self.compiled[used]

    def _graph(self, used: tuple[bool, ...]) -> Graph:
        """The cut's backward graph; when not all outputs were used, one from the same saved."""
        if all(used):
            return self.cut.backward
        unused = {i for i, is_used in zip(self.joint.tangent_of, used) if not is_used}
        wanted = [bool(node.meta and node.meta.requires_grad) for node in self.joint.primals]
        joint = trace_joint(self.core, wanted, unused).after(clean)
        names = {value.name for value in self.cut.saved}
        saved = [node for node in joint.graph.nodes if node.name in names]
        assert len(saved) == len(names), "a saved tensor has no place in this backward"
        return cut_at(joint, saved).backward


@dataclass(frozen=True)
class Plan:
    """Where a region's values are.

    outputs     how many of the forward's results are outputs; the others are saved
    tangent_of  the outputs that get a history
    inputs      the arguments that get a gradient
    numbers     the arguments that are numbers, called `symbols`; the backward takes them, too
    saved       ("argument", i), ("output", i) or ("result", i) for each saved value
    tangents    what gradients the backward graph was compiled for
    """

    outputs: int
    tangent_of: tuple[int, ...]
    inputs: tuple[int, ...]
    numbers: tuple[int, ...]
    saved: tuple[tuple[str, int], ...]
    tangents: tuple[TensorMeta, ...]
    symbols: tuple[str, ...]

    @staticmethod
    def of(joint: Joint, cut: Cut) -> Plan:
        arguments = {node.name: i for i, node in enumerate(joint.primals)}
        outputs = {node.name: i for i, node in enumerate(joint.graph.outputs[: joint.outputs])}
        saved = []
        for place, value in enumerate(cut.saved):
            if value.name in arguments:
                saved.append(("argument", arguments[value.name]))
            elif value.name in outputs:
                saved.append(("output", outputs[value.name]))
            else:
                saved.append(("result", joint.outputs + place))
        gradients = joint.graph.outputs[joint.outputs:]
        inputs = tuple(i for i, g in enumerate(gradients) if isinstance(g, Node))
        tangents = tuple(meta_of(node) for node in joint.tangents)
        numbers = tuple(i for i, node in enumerate(joint.primals) if node.symbol)
        symbols = tuple(node.name for node in joint.primals if node.symbol)
        return Plan(
            joint.outputs, joint.tangent_of, inputs, numbers, tuple(saved), tangents, symbols
        )


def training_region(forward: Boxed, backward: LazyBackward, plan: Plan, split: Split,
                    attrs: dict[str, Any]) -> Callable[..., tuple]:
    """Call the forward graph, record the region as one node, then make outputs that are views."""
    epilogue = split.epilogue
    finish = None if epilogue is None else GraphModule(epilogue, attrs, "Epilogue").forward

    def run(*tensors: Tensor) -> tuple:
        results = forward(list(tensors))
        outputs = results[: plan.outputs]
        numbers = [tensors[i] for i in plan.numbers]
        pull_back = _pull_back(numbers, _saved(plan, tensors, results), backward, plan)
        differentiable = [outputs[i] for i in plan.tangent_of]
        record(NAME, [tensors[i] for i in plan.inputs], differentiable, pull_back)
        if finish is None:
            return outputs
        return finish(*[tensors[i] for i in split.arguments], *outputs)
    return run


def _saved(plan: Plan, tensors: tuple, results: tuple) -> list[Any]:
    """What the backward will read; nothing with a history, or a region would keep itself alive."""
    kept = []
    for kind, place in plan.saved:
        if kind == "result":
            kept.append(results[place])
        else:
            kept.append(save(tensors[place] if kind == "argument" else results[place]))
    return kept


def _pull_back(
    numbers: list[Any], saved: list[Any], backward: LazyBackward, plan: Plan
) -> Callable[..., list]:
    """The region's backward as the tape calls it: outputs' gradients in, inputs' gradients out."""

    values = dict(zip(plan.symbols, numbers))

    def pull_back(*grads: Tensor | None) -> list[Tensor | None]:
        compiled = backward.given(tuple([grad is not None for grad in grads]))
        box = [
            *numbers,
            *(_restored(value, kind) for value, (kind, _) in zip(saved, plan.saved)),
        ]
        for grad, meta in zip(grads, plan.tangents):
            if grad is not None:
                box.append(_fitted(grad, meta if not numbers else meta.at(values)))
        found = compiled(box)
        return [found[i] for i in plan.inputs]
    return pull_back


def _restored(value: Any, kind: str) -> Tensor:
    """A saved tensor. Raises RuntimeError when it was written to since the forward."""
    if type(value) is not SavedTensor:
        return value
    return value.value(f", which is output 0 of {NAME}," if kind == "output" else "")


def _fitted(grad: Tensor, meta: TensorMeta) -> Tensor:
    """The gradient with the strides that the backward graph was compiled for."""
    if grad._stride == meta.stride:
        return grad
    return ops.copy_(empty_strided(meta.shape, meta.stride, meta.dtype), grad)
