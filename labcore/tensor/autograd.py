"""The eager tape: `backward` and `grad`.

In: tensors with a history.  Out: gradients, added to the leaves or returned.
Invariant: a node runs once for each backward, after everything newer that leads to it; nothing here
recurses, so the length of a chain does not matter; gradients are computed without recording.
Left out: double backward (`create_graph=True` is refused), hooks of nodes, anomaly mode, more
than one thread.
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from labcore import ops

from . import function as function, pool, saved as graph  # noqa: F401  PyTorch's `autograd.graph`
from .factories import empty_like
from .function import Function as Function
from .modes import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    is_grad_enabled as is_grad_enabled,
    mode,
    no_grad,
    set_grad_enabled as set_grad_enabled,
)
from .nodes import Edge, FunctionNode, attach, edge_of
from .tensor import Tensor, wrap

Tensors = Tensor | Sequence[Tensor]


def grad_enabled() -> bool:
    """Is this thread recording?"""
    return mode.grad


def record(
    name: str,
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    backward: Callable[..., Sequence],
) -> None:
    """Give `outputs` a history in which `backward(*grads)` returns a gradient, or None, for each of
    `inputs`.

    A result that nobody used comes to `backward` as None. Does nothing when nothing is being
    recorded.
    """
    edges = [edge_of(t) for t in inputs]
    if not mode.grad or not any(edges):
        return
    node = FunctionNode(name, edges, backward, len(outputs))
    for number, tensor in enumerate(outputs):
        if tensor.dtype.is_floating_point:
            attach(tensor, node, number)


def backward(
    tensors: Tensors,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of `tensors` to `.grad` of the leaves they came from."""
    roots = _roots(_listed(tensors), grad_tensors, create_graph)
    if inputs is None:
        _run(roots, bool(retain_graph), None)
        return
    wanted = _listed(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    found = _run(roots, bool(retain_graph), [_target(t) for t in wanted])
    for tensor, gradient in zip(wanted, found):
        if gradient is not None:
            _accumulate(tensor, [gradient])


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of `inputs`; `.grad` stays as it is."""
    wanted = _listed(inputs)
    roots = _roots(_listed(outputs), grad_outputs, create_graph)
    found = _run(roots, bool(retain_graph), [_target(t) for t in wanted])
    if None in found and not (allow_unused or materialize_grads):
        raise RuntimeError(
            f"The differentiated Tensor at index {found.index(None)} appears to not have been "
            "used in the graph. Set allow_unused=True if this is the desired behavior."
        )
    if materialize_grads:
        return tuple(ops.zeros_like(t.detach()) if g is None else g for t, g in zip(wanted, found))
    return tuple(found)


def _listed(tensors: Tensors) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _target(tensor: Tensor) -> Edge:
    edge = edge_of(tensor)
    if edge is None:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return edge


# ---- where it starts ----------------------------------------------------------------------------

Root = tuple[Edge, Tensor]


def _roots(tensors: list[Tensor], gradients: Any, create_graph: bool) -> list[Root]:
    if create_graph:
        raise RuntimeError(
            "create_graph=True asks for gradients of gradients, which the lab does not compute: "
            "a backward is not recorded. Leave it out, or differentiate the gradient's formula "
            "yourself."
        )
    gradients = [None] * len(tensors) if gradients is None else _listed(gradients)
    if len(gradients) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(gradients)} gradients")
    roots = []
    for number, (tensor, gradient) in enumerate(zip(tensors, gradients)):
        edge = edge_of(tensor)
        if gradient is None and edge is not None:
            gradient = _one(tensor)
        elif edge is not None:
            _check_root(number, tensor, gradient)
            gradient = gradient.to(tensor.dtype)
        if edge is None:
            raise RuntimeError(
                f"element {number} of tensors does not require grad and does not have a grad_fn"
            )
        roots.append((edge, gradient.detach()))
    return roots


def _one(tensor: Tensor) -> Tensor:
    if tensor.array.size != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return ops.ones_like(tensor.detach())


def _check_root(number: int, tensor: Tensor, gradient: Any) -> None:
    if not isinstance(gradient, Tensor):
        raise TypeError(
            f"gradients can be either Tensors or None, but got {type(gradient).__name__}"
        )
    if gradient.shape != tensor.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{number}] has a shape of {gradient.shape} and "
            f"output[{number}] has a shape of {tensor.shape}."
        )


# ---- the walk -----------------------------------------------------------------------------------


class _Pending:
    """Gradients that have arrived at a node, by result."""

    __slots__ = ("grads", "node")

    def __init__(self, node: Any) -> None:
        self.node = node
        self.grads: dict[int, Any] = {}

    def add(self, number: int, gradient: Tensor) -> None:
        before = self.grads.get(number)
        self.grads[number] = gradient if before is None else ops.add(before, gradient)

    def through_hooks(self) -> None:
        """What the hooks of the node's results make of the gradients."""
        leaf = isinstance(self.node, Tensor)
        hooks = getattr(self.node, "_hooks", None) if leaf else self.node.hooks
        if hooks is not None:
            for number in hooks.arriving:
                found = hooks.changed(number, self.grads.get(number))
                if found is not None:
                    self.grads[number] = found


def _run(roots: list[Root], retain: bool, targets: list[Edge] | None) -> list[Tensor | None]:
    """Walk from the roots.

    Without targets leaves accumulate; with targets, the targets' gradients are returned.
    """
    needed = None if targets is None else _leading_to(roots, targets)
    pending: dict[int, _Pending] = {}
    heap: list[tuple[int, int]] = []
    with no_grad():
        for edge, gradient in roots:
            _arrive(pending, heap, edge, gradient, needed)
        captured: dict[tuple[int, int], Tensor] = {}
        while heap:
            _, key = heapq.heappop(heap)
            step = pending.pop(key)
            leaf = isinstance(step.node, Tensor)
            if leaf:
                step.through_hooks()
            if targets is not None:  # of a target that is no leaf, before its hooks
                captured.update(((key, number), g) for number, g in step.grads.items())
            if leaf:
                if targets is None:
                    _accumulate(step.node, [step.grads.pop(0)])
                continue
            if needed is not None and not needed[key]:
                continue  # a target, and nothing wanted lies behind it
            _walk_through(step, pending, heap, needed)
            if not retain:
                step.node.release()
    return [] if targets is None else [captured.get((id(t), number)) for t, number in targets]


def _walk_through(step: _Pending, pending: dict, heap: list, needed: dict | None) -> None:
    step.through_hooks()
    node, arrived = step.node, step.grads
    if node.retained:
        for number, reference in node.retained.items():
            tensor = reference()
            if tensor is not None and arrived.get(number) is not None:
                tensor._grad = (
                    arrived[number]
                    if tensor._grad is None
                    else ops.add(tensor._grad, arrived[number])
                )
    gradients = list(node.apply([arrived.get(n) for n in range(node.results)]))
    arrived.clear()
    gradients.reverse()  # so that each is let go of as it is handed on, in the order of the inputs
    for edge in node.edges:
        gradient = gradients.pop()
        if edge is not None and gradient is not None:
            _arrive(pending, heap, edge, gradient, needed)


def _arrive(pending: dict, heap: list, edge: Edge, gradient: Tensor, needed: dict | None) -> None:
    node, number = edge
    key = id(node)
    if needed is not None and key not in needed:
        return
    step = pending.get(key)
    if step is None:
        step = pending[key] = _Pending(node)
        order = (
            1 if isinstance(node, Tensor) else -node.number
        )  # the newest node first, leaves last
        heapq.heappush(heap, (order, key))
    step.add(number, gradient)


def _leading_to(roots: list[Root], targets: list[Edge]) -> dict[int, bool]:
    """The targets and all nodes that lead to one; True for those that lead further to another."""
    seen: dict[int, Any] = {}
    stack = [edge[0] for edge, _ in roots]
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen[id(node)] = node
            if not isinstance(node, Tensor):
                stack.extend(edge[0] for edge in node.edges if edge is not None)
    found = {id(node): False for node, _ in targets}
    for node in sorted(
        (n for n in seen.values() if not isinstance(n, Tensor)), key=lambda n: n.number
    ):
        if any(edge is not None and id(edge[0]) in found for edge in node.edges):
            found[id(node)] = True
    return found


# ---- where it ends ------------------------------------------------------------------------------


def _holders(holder: list[Tensor]) -> tuple[int, int]:
    """How many references there are to the tensor in a list, and to its array."""
    return sys.getrefcount(holder[0]), sys.getrefcount(holder[0].array)


# What the counts are when nobody else has the tensor: it depends on the version of Python.
_alone = _holders([wrap(np.empty(1))])


def _accumulate(leaf: Tensor, holder: list[Tensor]) -> None:
    """Add a gradient to `leaf.grad`, and tell the hooks that wait for that."""
    if leaf._layout.requires_grad:
        _add(leaf, holder)
        hooks = getattr(leaf, "_hooks", None)
        if hooks is not None:
            hooks.tell(leaf)


def _add(leaf: Tensor, holder: list[Tensor]) -> None:
    """In place, or taking the gradient over when nobody else has it."""
    gradient = holder[0].array
    if leaf._grad is not None:
        ops.add_(leaf._grad, holder[0])
        return
    owned = pool.owns_memory(gradient)
    del gradient
    if owned and _holders(holder) == _alone and holder[0]._stride == leaf._stride:
        leaf._grad = holder[0]
    else:
        copied = ops.copy_(empty_like(leaf), holder[0])
        leaf._grad = wrap(copied.array)  # which nobody has written yet
