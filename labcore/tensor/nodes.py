"""The nodes of the tape: what `grad_fn` is.

In: an operator that just ran, with its inputs and its result.  Out: a node that can turn the
gradient of the result into gradients of the inputs.
Invariant: an edge leads to an older node (`number`) or to a leaf, so the newest node first is an
order in which gradients are complete; a node never holds the tensor whose grad_fn it is, so a
tensor's memory goes when its last user lets go.
PyTorch generates a C++ class for each operator; here one class reads the operator's rules from
`ops.derivatives`.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from labcore import devices, ops
from labcore.graph import TensorMeta
from labcore.ops import derivatives
from labcore.ops.op import Op

from .cuda import beside
from .hooks import GradientHooks
from .saved import Packed, Saved, save as save
from .tensor import Tensor, wrap

_numbers = itertools.count()

MAKES_ANEW = frozenset(("factory", "random"))  # what comes out depends on no input's values
UNRECORDED = MAKES_ANEW | {"detach"}

KEPT = (Saved, Packed)

Edge = tuple[Any, int]  # (a Node, or a leaf Tensor that accumulates; which of the node's results)
Grads = Sequence[Tensor | None]

SECOND_TIME = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you "
    "call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
    "through the graph a second time or if you need to access saved tensors after calling "
    "backward."
)


def edge_of(tensor: Tensor) -> Edge | None:
    """Where this tensor's gradient goes; None when it needs none."""
    if not tensor._layout.requires_grad:
        return None
    node = tensor.grad_fn
    return (tensor, 0) if node is None else (node, tensor._output_number)




def attach(tensor: Tensor, node: Node, number: int = 0) -> None:
    """Make `tensor` the result of `node`."""
    tensor.grad_fn, tensor._output_number = node, number
    tensor._layout = tensor._layout.requiring(True)


_BASE_WRITTEN = "its base or another view of its base has been"
# Why the tape takes no writes to a view.
UNRECORDED_VIEW = (
    "A view was created in no_grad mode and {} modified inplace with grad mode enabled. Given that "
    "this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
    "moving both the view and the inplace either both inside the no_grad block (if you don't want "
    "the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
)


class AccumulateGrad:
    """How a leaf looks in `next_functions`; the engine itself goes straight to the leaf."""

    __slots__ = ("variable",)

    def __init__(self, variable: Tensor) -> None:
        self.variable = variable

    next_functions = ()

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"


class Node:
    """One recorded step. `edges` has an entry an input, None where no gradient is wanted."""

    __slots__ = ("__weakref__", "_name", "edges", "hooks", "number", "retained")
    results = 1

    def __init__(self, name: str, edges: Sequence[Edge | None]) -> None:
        self._name, self.edges = name, edges
        self.number = next(_numbers)
        self.retained: dict[int, weakref.ref[Tensor]] | None = None
        self.hooks: GradientHooks | None = None

    def name(self) -> str:
        return self._name

    @property
    def next_functions(self) -> tuple:
        """The nodes that the gradients go to, with which of their results it is."""
        return tuple(
            (None, 0) if e is None else (AccumulateGrad(e[0]), 0) if isinstance(e[0], Tensor) else e
            for e in self.edges
        )

    def apply(self, grads: Grads) -> Grads:
        """The gradients of the inputs, one for each edge, from those of the results."""
        raise NotImplementedError

    def release(self) -> None:
        """Let go of what was saved."""

    def retain_grad(self, tensor: Tensor) -> None:
        self.retained = {**(self.retained or {}), tensor._output_number: weakref.ref(tensor)}

    def retains(self, tensor: Tensor) -> bool:
        return self.retained is not None and tensor._output_number in self.retained

    def forget(self, tensor: Tensor) -> bool:
        """`tensor` is another step's from now on; had it to be retained?"""
        kept = self.retained
        return kept is not None and kept.pop(tensor._output_number, None) is not None

    def __repr__(self) -> str:
        return f"<{self._name} object at {id(self):#x}>"


# Shape, strides, dtype and device: a TensorMeta not yet made.
Layout = tuple[Any, tuple[int, ...], Any, Any]


class OperatorNode(Node):
    """An operator's call, with just what the rules of its `wanted` parameters read.

    `values` has tensors as `Saved` and numbers as they are; `layouts` what is known of tensors not
    saved.
    """

    __slots__ = ("layouts", "op", "values", "wanted")

    def __init__(
        self,
        op: Op,
        name: str,
        edges: Sequence[Edge | None],
        wanted: tuple[str, ...],
        values: dict[str, Any],
        layouts: dict[str, Any],
    ) -> None:
        super().__init__(name, edges)
        self.op, self.wanted, self.layouts = op, wanted, layouts
        self.values: dict[str, Any] | None = values

    def apply(self, grads: Grads) -> Grads:
        if self.values is None:
            raise RuntimeError(SECOND_TIME)
        metas = {name: _meta(layout) for name, layout in self.layouts.items()}
        values = metas | {name: self._restored(name, value) for name, value in self.values.items()}
        found: list[Tensor | None] = []
        for param in self.wanted:
            rule = self.op.derivatives.get(param)
            with beside(grads[:1]) if devices.device.in_use else nullcontext():
                grad = self._through(rule, values, grads[0], metas[param])  # a rule makes zeros
            if isinstance(grad, list):
                found.extend(grad)
            else:
                found.append(grad)
        return found

    def _through(self, rule: Any, values: dict, grad: Any, operand: Any) -> Any:
        if rule is not None:
            return derivatives.apply(rule, values, grad, operand)
        if self.op.kind in MAKES_ANEW:  # `fill_`, `zero_`: what was there before does not matter
            return ops.zeros(tuple(operand.shape), operand.dtype)
        raise RuntimeError(f"derivative for aten::{self.op.name} is not implemented")

    def _restored(self, name: str, value: Any) -> Any:
        if type(value) is list:
            return [self._restored(name, v) for v in value]
        return value.value(self._source(name)) if type(value) in KEPT else value

    def _source(self, name: str) -> str:
        """Which node a saved value came from, as PyTorch words it."""
        if name == "out":
            return f", which is output 0 of {self._name},"
        edge = self.edges[self.wanted.index(name)] if name in self.wanted else None
        if edge is None or isinstance(edge[0], Tensor):
            return ""
        return f", which is output {edge[1]} of {edge[0].name()},"

    def release(self) -> None:
        # A node that saved nothing can be walked again, as in PyTorch, where a number beside a
        # tensor is saved as a tensor.
        if self.values and any(
            n == "other" or type(v) in KEPT or type(v) is list and v for n, v in self.values.items()
        ):
            self.values = None


def _meta(layout: Any) -> Any:
    if type(layout) is list:
        return [_meta(one) for one in layout]
    return None if layout is None else TensorMeta(*layout)


class FunctionNode(Node):
    """A step recorded by its own backward function: a compiled region, for one."""

    __slots__ = ("backward", "results")

    def __init__(
        self, name: str, edges: Sequence[Edge | None], backward: Callable, results: int
    ) -> None:
        super().__init__(name, edges)
        self.backward: Callable | None = backward
        self.results = results

    def apply(self, grads: Grads) -> Grads:
        if self.backward is None:
            raise RuntimeError(SECOND_TIME)
        found = self.backward(*grads)
        if len(found) != len(self.edges):
            raise RuntimeError(
                f"{self._name} returned {len(found)} gradients for {len(self.edges)} inputs"
            )
        return found

    def release(self) -> None:
        self.backward = None


Step = tuple[Op, tuple]  # a view operator and its arguments after the tensor


class ViewNode(Node):
    """The history of a view whose base was written to: the way from base to view, backwards."""

    __slots__ = ("base", "refusal", "steps")

    def __init__(self, base: Tensor, steps: tuple[Step, ...], refusal: str) -> None:
        super().__init__("AsStridedBackward0", [edge_of(base)])
        self.base, self.steps, self.refusal = base.meta, steps, refusal

    def apply(self, grads: Grads) -> Grads:
        if self.refusal:
            raise RuntimeError(self.refusal.format(_BASE_WRITTEN))
        return [through_views(self.base, self.steps, grads[0])]


def through_views(base: TensorMeta, steps: tuple[Step, ...], grad: Any) -> Any:
    """The gradient of a base from the gradient of a view of it."""
    metas = [base]
    for op, rest in steps:
        metas.append(op.meta(metas[-1], *rest))
    for (op, rest), meta in zip(reversed(steps), reversed(metas[:-1])):
        bound = op.bind((meta, *rest), {})
        with beside([grad]) if devices.device.in_use else nullcontext():
            grad = derivatives.gradients(op, bound, None, grad, ("input",))["input"]
    return grad


class CopySlices(Node):
    """An in-place operator wrote to a view: the new history of its base.

    Outside the view the gradient passes through; inside it goes through the operator. `place`: the
    operator's edge that leads to what was in the view before, if it has one.
    """

    __slots__ = ("base", "node", "place", "steps")

    def __init__(
        self, base: Tensor, steps: tuple[Step, ...], node: Node, place: int | None
    ) -> None:
        others = [edge for n, edge in enumerate(node.edges) if n != place]
        super().__init__("CopySlices", [edge_of(base), *others])
        self.base, self.steps, self.node, self.place = base.meta, steps, node, place

    def apply(self, grads: Grads) -> Grads:
        assert grads[0] is not None
        grad = wrap(grads[0].array.copy(order="K"))
        part = grad
        for op, rest in self.steps:
            part = op(part, *rest)
        found = list(self.node.apply([ops.clone(part)]))
        passed = None if self.place is None else found.pop(self.place)
        if passed is None:
            ops.zero_(part)
        else:
            ops.copy_(part, passed)
        return [grad if self.edges[0] is not None else None, *found]

    def release(self) -> None:
        self.node.release()
