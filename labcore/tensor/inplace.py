"""In-place operators and the tape.

In: an operator that writes its first argument.  Out: the same tensor, one version on, with its new
history.
Invariant: after a write through any view, base and views agree on their history: the base's is
`CopySlices` (when a view was written), and every other living view is given a new one that goes
through the base.
PyTorch finds stale views when their grad_fn is asked for; here the base knows its views and tells
them.
"""

from __future__ import annotations

from typing import Any

from labcore.ops.op import Op

from .cuda import carrier
from .modes import mode
from .nodes import CopySlices, Node, ViewNode, attach
from .recording import finish, prepare
from .tensor import Tensor, storage_of


def write(op: Op, args: tuple, raw: list[Any], needs_grad: bool) -> Tensor:
    """Run an in-place operator."""
    target: Tensor = args[0]
    base = target._base
    recording = mode.grad and target.dtype.is_floating_point
    recording = recording and (needs_grad or base is not None and base._layout.requires_grad)
    if recording:
        check_target(target)
    storage = storage_of(target)
    if storage.inference and not mode.inference:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. You can "
            "make a clone to get a normal tensor before doing inplace update."
        )
    if recording:
        assert op.functional is not None
        node, plan = prepare(op.functional, args, overwrites=True)
    carrier(op, raw)(*raw)
    storage.writes += 1
    if recording:
        retained = target.grad_fn is not None and target.grad_fn.forget(target)
        finish(node, plan, target)
        if retained:
            node.retain_grad(target)
        tell_relatives(target, 0 if node.wanted[:1] == ("input",) else None)
    return target


def tell_relatives(target: Tensor, place: int | None) -> None:
    """`target` was written, and has the history that belongs to that: its base and all living views
    get one that goes through it. `place`: its node's edge to what was there before."""
    base = target._base
    if base is not None:
        assert target.grad_fn is not None
        _continue(base, CopySlices(base, target._view[0], target.grad_fn, place))
    _tell_views(target if base is None else base)


def _continue(tensor: Tensor, node: Node) -> None:
    """A gradient that is retained is always that of the newest values."""
    retained = tensor.grad_fn is not None and tensor.grad_fn.forget(tensor)
    attach(tensor, node)
    if retained:
        node.retain_grad(tensor)


def check_target(target: Tensor) -> None:
    """Raises RuntimeError where the tape takes no write to the tensor."""
    base = target._base
    if base is not None and target._view[1]:
        raise RuntimeError(target._view[1].format("is being"))
    if base is not None and target._layout.requires_grad and base.grad_fn is None:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation."
        )
    if target._layout.requires_grad and target.grad_fn is None:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation."
        )


def _tell_views(base: Tensor) -> None:
    """Give all living views a history that goes through the base's new one."""
    for reference in base._views or ():
        view = reference()
        if view is not None and view.dtype.is_floating_point:
            _continue(view, ViewNode(base, *view._view))
