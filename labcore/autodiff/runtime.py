"""What runs when a differentiated region is called, and later when its gradients are asked for.

In: compiled graphs, and the plan of who is saved where.  Out: `callable(*tensors) -> tuple` of the user's outputs.
Invariant: a compiled graph is called with a list it may empty and never sees a history; the history of the whole region is one
node of the tape. Saved tensors which the user can reach (inputs and outputs) carry their version; the others nobody can write to.
AOTAutograd generates these wrappers as code, too; it also handles inputs that are written to, tensor subclasses, random state
and saved-tensor hooks, and frees each saved tensor while the backward runs (here: when the region's backward has run).
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from .. import ops, trace
from ..graph import GraphModule, Node, TensorMeta
from ..tensor.autograd import record
from ..tensor.factories import empty_strided
from ..tensor.nodes import Saved as SavedTensor, save
from ..tensor.tensor import Tensor
from .aliases import Split
from .joint import Joint
from .partition import Cut

Boxed = Callable[[list[Any]], tuple]

NAME = "CompiledFunctionBackward"


def inference_region(compiled: Boxed | None, split: Split, attrs: dict[str, Any]) -> Callable[..., tuple]:
    """Call the compiled graph, then make the outputs that are views; None: nothing is computed."""
    if compiled is None:
        compiled = _nothing
    if split.epilogue is None:
        return lambda *tensors: compiled(list(tensors))
    finish, arguments = GraphModule(split.epilogue, attrs, "Epilogue").forward, split.arguments

    def run(*tensors: Tensor) -> tuple:
        return finish(*[tensors[i] for i in arguments], *compiled(list(tensors)))
    return run


def _nothing(box: list[Any]) -> tuple:
    return ()


class LazyBackward:
    """The compiled backward graph of one region: compiled when it is first called."""

    def __init__(self, gm: GraphModule, compiler: Callable[[GraphModule, str], Boxed]) -> None:
        self.gm, self.compiler = gm, compiler
        self.compile_id = trace.current_compile_id()
        self.compiled: Boxed | None = None
        self._lock = threading.Lock()

    def __call__(self, box: list[Any]) -> tuple:
        return (self.compiled or self._compile())(box)

    def _compile(self) -> Boxed:
        with self._lock, trace.compiling(self.compile_id):
            if self.compiled is None:
                started = perf_counter()
                self.compiled = self.compiler(self.gm, "backward")
                if trace.listening():
                    note = "backward: compiled at the first backward(), codegen included"
                    trace.emit(trace.Stage("autodiff", perf_counter() - started, note))
        return self.compiled


@dataclass(frozen=True)
class Plan:
    """Where a region's values are.

    outputs: how many results are outputs, the others are saved.  tangent_of: the outputs with a history.
    inputs: the arguments that get a gradient.  saved: ("argument", i), ("output", i) or ("result", i) each.
    tangents: what the backward graph was compiled for.
    """

    outputs: int
    tangent_of: tuple[int, ...]
    inputs: tuple[int, ...]
    saved: tuple[tuple[str, int], ...]
    tangents: tuple[TensorMeta, ...]

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
        return Plan(joint.outputs, joint.tangent_of, inputs, tuple(saved), tuple(n.meta for n in joint.tangents))


def training_region(forward: Boxed, backward: LazyBackward, plan: Plan, split: Split,
                    attrs: dict[str, Any]) -> Callable[..., tuple]:
    """Call the forward graph, record one node for the whole region, then make the outputs that are views."""
    finish = None if split.epilogue is None else GraphModule(split.epilogue, attrs, "Epilogue").forward

    def run(*tensors: Tensor) -> tuple:
        results = forward(list(tensors))
        outputs = results[: plan.outputs]
        pull_back = _pull_back(_saved(plan, tensors, results), backward, plan)
        record(NAME, [tensors[i] for i in plan.inputs], [outputs[i] for i in plan.tangent_of], pull_back)
        if finish is None:
            return outputs
        return finish(*[tensors[i] for i in split.arguments], *outputs)
    return run


def _saved(plan: Plan, tensors: tuple, results: tuple) -> list[Any]:
    """What the backward will read. Nothing here holds a history, so a region never keeps itself alive."""
    kept = []
    for kind, place in plan.saved:
        if kind == "result":
            kept.append(results[place])
        else:
            kept.append(save(tensors[place] if kind == "argument" else results[place]))
    return kept


def _pull_back(saved: list[Any], backward: LazyBackward, plan: Plan) -> Callable[..., list]:
    """The region's backward as the tape calls it: gradients of the outputs in, gradients of the inputs out."""

    def pull_back(*grads: Tensor) -> list[Tensor | None]:
        box = [_restored(value, kind) for value, (kind, _) in zip(saved, plan.saved)]
        box.extend(_fitted(grad, meta) for grad, meta in zip(grads, plan.tangents))
        found = backward(box)
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
