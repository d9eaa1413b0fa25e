"""What runs when a differentiated region is called, and later when its gradients are asked for.

In: compiled graphs, and the plan of who is saved where.
Out: `callable(*tensors) -> tuple` of the user's outputs.
Invariant: a compiled graph is called with a list that it may empty, and never sees a history; the
whole region is one node of the tape. Saved tensors which the user can reach (inputs and outputs)
carry their version; to the others nobody can write.
AOTAutograd prints these wrappers as code; it also handles tensor subclasses and random state, and
frees each saved tensor while the backward runs (here: when the region's backward has run).
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .. import ops
from ..graph import GraphModule, Node, TensorMeta
from ..ops.sharing import meta_of
from ..tensor import on_card
from ..tensor.autograd import record
from ..tensor.cuda import is_on_card
from ..tensor.factories import empty_strided
from ..tensor.saved import Saved, save
from ..tensor.tensor import Tensor, wrap
from .aliases import Split
from .backward import Boxed, Compiler as Compiler, LazyBackward
from .joint import Joint
from .partition import Cut

NAME = "CompiledFunctionBackward"


def inference_region(compiled: Boxed) -> Callable[..., tuple]:
    """The region as it is called: with tensors instead of a list."""
    return lambda *tensors: compiled(list(tensors))


@dataclass(frozen=True)
class Plan:
    """Where a region's values are.

    outputs     how many of the forward's results are outputs; the others are saved
    tangent_of  the outputs that get a history
    inputs      the arguments that get a gradient
    numbers     the arguments that are numbers, called `symbols`; the backward takes them, too
    saved       ("argument", i), ("output", i) or ("result", i) for each saved value: the places of
                arguments among the inputs, of the others among the forward's results; ("copy", i)
                for an argument that is overwritten after the call
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
    def of(joint: Joint, cut: Cut, overwritten: Sequence[bool]) -> Plan:
        arguments = {node.name: i for i, node in enumerate(joint.primals)}
        outputs = {node.name: i for i, node in enumerate(joint.graph.outputs[: joint.outputs])}
        saved = []
        for number, value in enumerate(cut.saved):
            if value.name in arguments:
                place = arguments[value.name]
                saved.append(("copy" if overwritten[place] else "argument", place))
            elif value.name in outputs:
                saved.append(("output", outputs[value.name]))
            else:
                saved.append(("result", joint.outputs + number))
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
        value = results[place] if kind in ("output", "result") else tensors[place]
        kept.append(save(_copied(value) if kind == "copy" else value))
    return kept


def _copied(tensor: Tensor) -> Tensor:
    """The same numbers in the same layout, for a backward that was compiled for it."""
    return _laid_out(tensor.detach(), tensor.meta)


def _pull_back(
    numbers: list[Any], saved: list[Any], backward: LazyBackward, plan: Plan
) -> Callable[..., list]:
    """The region's backward as the tape calls it: outputs' gradients in, inputs' gradients out."""

    values = dict(zip(plan.symbols, numbers))
    names = [value.name for value in backward.cut.saved]

    def pull_back(*grads: Tensor | None) -> list[Tensor | None]:
        used = tuple([grad is not None for grad in grads])
        compiled, unread = backward.given(used, values), backward.unread[used]
        box = list(numbers)
        for value, (kind, _), name in zip(saved, plan.saved, names):
            box.append(_restored(value, kind, name in unread))
        for grad, meta in zip(grads, plan.tangents):
            if grad is not None:
                box.append(_fitted(grad, meta if not numbers else meta.at(values)))
        found = compiled(box)
        return [found[i] for i in plan.inputs]
    return pull_back


def _restored(value: Any, kind: str, unread: bool) -> Tensor:
    """A saved tensor. Raises RuntimeError when it is read and was written to since the forward."""
    if unread and type(value) is Saved:
        return wrap(value.array)
    found: Tensor = value.value(f", which is output 0 of {NAME}," if kind == "output" else "")
    return found


def _fitted(grad: Tensor, meta: TensorMeta) -> Tensor:
    """The gradient with the strides that the backward graph was compiled for."""
    return grad if grad._stride == meta.stride else _laid_out(grad, meta)


def _laid_out(tensor: Tensor, meta: TensorMeta) -> Tensor:
    """A copy with these strides, where the tensor lies."""
    make = on_card.empty_strided if is_on_card(tensor.array) else empty_strided
    return ops.copy_(make(meta.shape, meta.stride, meta.dtype), tensor)
