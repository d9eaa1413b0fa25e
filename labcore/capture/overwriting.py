"""Inputs that a region writes: what is done to them when its graph has run, and when that is right.

In: the memory of a region at its end.  Out: guards; and the functions that a variant calls.
Invariant: an input is overwritten once, with the same effect on its version, its history and that
of its base and views as the writes of the program had.
AOTAutograd gives new contents back by `copy_`, too, and rebuilds inputs that share memory from a
synthetic base; here that is the base which they have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..graph import Node
from ..guards import kinds
from ..ops.sharing import memory_of
from ..tensor import Tensor
from ..tensor.modes import mode, no_grad
from ..tensor.tensor import storage_of
from .breaks import Break
from .skipping import CaptureAgain
from .variables import TensorVariable

if TYPE_CHECKING:
    from .looking import Looker
    from .memory import Memory


class SharedBase(CaptureAgain):
    """Inputs are views of one tensor, which is written: they are to be read as such views."""

    def __init__(self, base: Tensor) -> None:
        self.base = id(base)


# ---- what a variant calls -----------------------------------------------------------------------


def overwrite(tensor: Tensor, contents: Tensor, writes: int) -> None:
    """What so many in-place operators did to an input in a region, at its end."""
    with no_grad():
        tensor.copy_(contents)
    written(tensor, writes - 1)


def overwrite_recorded(tensor: Tensor, contents: Tensor, writes: int) -> None:
    """The same for operators that were recorded: the input continues the history of `contents`."""
    tensor.copy_(contents)
    written(tensor, writes - 1)


def written(tensor: Tensor, writes: int) -> None:
    """The tensor was written so often before anybody could see it."""
    storage_of(tensor).unseen += writes


def unrecord(view: Tensor) -> None:
    """The view was made where nothing is recorded, which the tape remembers."""
    if view._base is not None:
        view.grad_fn, view._view = None, (view._view[0], False)


# ---- when it is right ---------------------------------------------------------------------------


def finish(memory: Memory, looker: Looker) -> None:
    """Guards under which writing an input changes nothing else.

    Raises Break, at the step of the first write, where it would; SharedBase where it would not if
    the inputs were read in another way."""
    for root, _, _, recorded in memory.overwritten():
        written = memory.input(root)
        step = memory.writes[root][0]
        others = [t for t in looker.tensors if t.node is not None and memory_of(t.node) is not root]
        taken = root not in memory.tape_saw or takes_writes(written.value, recorded)
        if not taken or not apart(written.value, *(t.value for t in others)):
            _read_otherwise(looker, written.value, others)
            stop = Break("inplace-operator", name="of an input", pure="add")
            stop.step = step
            raise stop
        if not mode.inference:
            looker.recordable(written, step)
        if root in memory.tape_saw:
            _guard_takes_writes(looker, written, recorded)
        if others:
            _guard_apart(looker, written, others)


def _read_otherwise(looker: Looker, written: Tensor, others: list[TensorVariable]) -> None:
    """Raises SharedBase for views of the base of what is written, whose sizes are known."""
    base = written if written._base is None else written._base
    for other in others:
        if not apart(written, other.value) and not looker.numbers.inputs:
            views = [t for t in (written, other.value) if t is not base]
            if all(t._base is base and t._view[1] for t in views):
                raise SharedBase(base)


def shared_view(memory: Memory, looker: Looker, tensor: TensorVariable, base: Node) -> Node:
    """The node of an input that is a view of another one, under a guard that it is this view."""
    home, source = tensor.home, tensor.source
    assert source is not None
    steps = tensor.value._view
    code = f"{home}._view == {looker.builder.constant(steps, 'view')}"
    words = f"{source.name!r} is another view of its base"
    looker.builder.add(
        kinds.condition(
            "NO_TENSOR_ALIASING", source.name, code, home, "the same view", words, None
        )
    )
    node = base
    for op, rest in steps[0]:
        node = memory.view(op, node, rest)
    return node


def _guard_apart(looker: Looker, written: TensorVariable, others: list[TensorVariable]) -> None:
    assert written.source is not None
    name, homes = written.source.name, ", ".join(t.home for t in others)
    words = f"{name!r} is written, and shares memory with another tensor now"
    code = f"apart({written.home}, {homes})"
    expected = "memory of its own"
    looker.builder.add(
        kinds.condition("NO_TENSOR_ALIASING", name, code, written.home, expected, words, None)
    )


def _guard_takes_writes(looker: Looker, written: TensorVariable, recorded: bool) -> None:
    assert written.source is not None
    name, home = written.source.name, written.home
    code = f"{looker.builder.constant(takes_writes, 'takes_writes')}({home}, {recorded})"
    words = f"{name!r} is a leaf that requires grad, or a view of one, now"
    expected = "a tensor that may be written"
    looker.builder.add(kinds.condition("TENSOR_MATCH", name, code, home, expected, words, None))


def takes_writes(tensor: Tensor, recorded: bool) -> bool:
    """Does the tape take a write to the tensor? `recorded`: a gradient may flow into it."""
    base = tensor._base
    if base is None:
        return not (recorded and tensor._requires_grad and tensor.grad_fn is None)
    if not recorded:
        return not base._requires_grad
    return tensor._view[1] and not (base._requires_grad and base.grad_fn is None)


def apart(written: Tensor, *others: Tensor) -> bool:
    """Does no other tensor show any of the memory of the one that is written?"""
    array = written.array
    return not any(np.may_share_memory(array, other.array) for other in others)


def overlaps_itself(shape: tuple[int, ...], stride: tuple[int, ...]) -> bool:
    """May two elements be at one address?"""
    end = 0
    for step, size in sorted((s, n) for n, s in zip(shape, stride) if n > 1):
        if step <= end:
            return True
        end += step * (size - 1)
    return False
