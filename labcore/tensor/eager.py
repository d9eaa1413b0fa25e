"""Eager mode: an operator computes, now.

In: a call of an operator on tensors and numbers.  Out: tensors around what the operator's numpy
kernel returned.
Invariant: a kernel's fresh array is wrapped, never copied; a view operator's result shares its
input's storage; when an input requires grad and this thread records, a floating-point result gets
its node.
PyTorch gets here through its dispatcher: autograd, in-place and view tracking, then the CPU kernel.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from labcore import devices
from labcore.ops import dispatch
from labcore.ops.arguments import check_arguments, number_places, with_numbers
from labcore.ops.inplace import check_overlap
from labcore.ops.op import Op

from .arguments import positional, unwrapped
from .cuda import beside, carrier
from .inplace import write
from .modes import mode
from .nodes import MAKES_ANEW, UNRECORDED, UNRECORDED_VIEW
from .recording import finish, prepare
from .storage import Storage
from .tensor import Tensor, storage_of, wrap

_NUMBERS = frozenset((int, float, bool, type(None)))


class EagerInterpreter:
    """The bottom of the interpreter stack."""

    def refuse_overlap(self, target: Tensor, others: Sequence[Tensor]) -> None:
        """Raise RuntimeError where one is another part of the memory that is to be written."""
        check_overlap(target.array, [other.array for other in others])

    def call(self, op: Op, args: tuple, kwargs: dict[str, Any]) -> Any:
        __tracebackhide__ = True
        if kwargs:
            args = positional(op, args, kwargs)
        places = number_places(op)
        if places and len(args) > places[0]:
            args, _ = with_numbers(op, args, {}, Tensor.item)
        if op.kind not in MAKES_ANEW and (not args or type(args[0]) is not Tensor):
            check_arguments(op, args)
        if op.compose is not None:
            with beside(args) if devices.device.in_use else nullcontext():
                return _attempt(op.compose, op, args)
        needs_grad = False
        raw: list[Any] = []
        for arg in args:
            kind = type(arg)
            if kind is Tensor:
                raw.append(arg.array)
                needs_grad |= arg._layout.requires_grad
            elif kind in _NUMBERS:
                raw.append(arg)
            else:
                value, requires = unwrapped(op, arg)
                raw.append(value)
                needs_grad |= requires
        if op.mutates:
            return _attempt(lambda *given: write(op, given, raw, needs_grad), op, args)
        recording = needs_grad and mode.grad and op.kind not in UNRECORDED and prepare(op, args)
        array = _attempt(carrier(op, raw), op, tuple(raw))
        out = wrap(array if isinstance(array, np.ndarray) else np.asarray(array))
        if op.alias:
            _note_view(op, args, out)
        elif mode.inference:
            out._storage = Storage(out.array, inference=True)
        if recording and out.dtype.is_floating_point:
            finish(*recording, out)
        return out


# What a call with wrong arguments ends in; anything else is our bug and keeps its traceback.
REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, AttributeError, OverflowError)


def _attempt(function: Callable, op: Op, args: tuple) -> Any:
    """function(*args); a refusal is told in the user's terms, not in those of our rules."""
    try:
        return function(*args)
    except REFUSALS as error:
        told = error
    try:
        told = _blame(op, args) or told
        if isinstance(told, AttributeError):
            raise told
        raise told.with_traceback(None) from told.__cause__
    finally:
        del told  # an error that its own frame holds would keep the user's tensors alive


def _blame(op: Op, args: tuple) -> TypeError | None:
    """The error of a wrong number or kind of arguments, if that is what is wrong."""
    try:
        check_arguments(op, args)
    except TypeError as error:
        return error
    return None


# ---- views --------------------------------------------------------------------------------------


def _note_view(op: Op, args: tuple, out: Tensor) -> None:
    """Remember what `out` is a view of, and how it was taken."""
    source = args[0]
    out._storage = storage_of(source)
    if op.name == "_data":
        out._storage = out._storage.alias()
    if out._storage.inference or op.kind == "detach":
        return
    step, unrecorded = (op, args[1:]), "" if mode.grad else UNRECORDED_VIEW
    if source._base is None:
        out._base, out._view = source, ((step,), unrecorded)
    else:
        steps, refusal = source._view
        out._base, out._view = source._base, ((*steps, step), refusal or unrecorded)
    base = out._base
    # As in PyTorch: even when nothing is recorded.
    out._layout = out._layout.requiring(base._layout.requires_grad)
    if base._views is None:
        base._views = [weakref.ref(out)]
    else:
        base._views.append(weakref.ref(out))
        if len(base._views) & 63 == 0:
            base._views = [view for view in base._views if view() is not None]


interpreter = EagerInterpreter()
dispatch.install_eager(interpreter)
