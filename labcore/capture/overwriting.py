"""Inputs that a region writes: what is done to them when its graph has run, and when that is right.

In: the memory of a region at its end.  Out: guards; and the functions that a variant calls.
Invariant: an input is overwritten once, with the same effect on its version, its history and that
of its base and views as the writes of the program had.
AOTAutograd gives new contents back by `copy_`, too, and rebuilds inputs that share memory from a
synthetic base; here that is the base which they have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..graph import Node
from ..guards import Source, kinds
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
    from .operators import OperatorCalls


class Shared:
    """What is known of inputs that share memory, by the ids of tensors: `bases` whose views are to
    be read as such, `twins` that are to be read as what another tensor is when detached."""

    def __init__(self) -> None:
        self.bases: set[int] = set()
        self.twins: dict[int, tuple[Source, Tensor]] = {}


class SharedMemory(CaptureAgain):
    """Capture is to begin again, as now more is known of the memory that inputs share."""


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


def finish(memory: Memory, looker: Looker, shared: Shared) -> None:
    """Guards under which writing an input changes nothing else.

    Raises Break, at the step of the first write, where it would; SharedMemory where it would not if
    the inputs were read in another way."""
    records = mode.grad and any(tensor.meta.requires_grad for tensor in looker.tensors)
    separate = versions_apart if records else apart
    for root, _, _, recorded in memory.overwritten():
        written = memory.input(root)
        step = memory.writes[root][0]
        others = [t for t in looker.tensors if t.node is not None and memory_of(t.node) is not root]
        taken = root not in memory.tape_saw or takes_writes(written.value, recorded)
        close = [t for t in others if not separate(written.value, t.value)]
        if not taken or close:
            _read_otherwise(shared, looker, written, close)
            stop = Break("inplace-operator", name="of an input", pure="add")
            stop.step = step
            raise stop
        if not mode.inference:
            looker.recordable(written, step)
        if root in memory.tape_saw:
            _guard_takes_writes(looker, written, recorded)
        if others:
            _guard_apart(looker, written, others, separate)


def _read_otherwise(
    shared: Shared, looker: Looker, written: TensorVariable, close: list[TensorVariable]
) -> None:
    """Raises SharedMemory for views of one tensor, or of one and what it is when detached, where
    sizes are known."""
    if looker.numbers.inputs:
        return
    for other in close:
        pair = [_base(tensor) for tensor in (written, other)]
        (_, one), (_, two) = pair
        if one is not two:
            whole, twin = sorted(pair, key=lambda place: not place[1]._requires_grad)
            if not is_detached(twin[1], whole[1]) or id(twin[1]) in shared.twins:
                return
            shared.twins[id(twin[1])] = whole
        elif id(one) in shared.bases:
            return
        shared.bases |= {id(one), id(two)}
        raise SharedMemory


def _base(tensor: TensorVariable) -> tuple[Source, Tensor]:
    """The base of a view, or the tensor itself, and where it is."""
    assert tensor.source is not None
    base = tensor.value._base
    if base is None:
        return tensor.source, tensor.value
    return tensor.source.attribute("_base"), base


def is_detached(twin: Tensor, tensor: Tensor) -> bool:
    """Is `twin` what `tensor.detach()` gives?"""
    same = storage_of(twin) is storage_of(tensor) and twin.data_ptr() == tensor.data_ptr()
    layout = (twin.shape, twin._stride) == (tensor.shape, tensor._stride)
    return same and layout and twin._base is None and not twin._requires_grad


def shared_node(operators: OperatorCalls, tensor: TensorVariable) -> Node | None:
    """The node of an input that is read as a view of another one, or as another one detached,
    under a guard that it is this; None for any other input."""
    shared, memory, looker = operators.shared, operators.tracer.memory, operators.vm.looker
    home, value, source = tensor.home, tensor.value, tensor.source
    if value is None or source is None:
        return None
    if id(value) in shared.twins:
        whole = looker.look(looker.lazy(*shared.twins[id(value)]))
        code = f"{looker.builder.constant(is_detached, 'is_detached')}({home}, {whole.home})"
        _guard_shared(looker, source, home, code, "no longer another tensor, detached")
        twin = operators.placeholder(tensor)
        node = memory.detached_input(operators.input_node(whole), tensor, twin)
    elif id(value._base) in shared.bases:
        base = looker.look(looker.lazy(*_base(tensor)))
        code = f"{home}._view == {looker.builder.constant(value._view, 'view')}"
        _guard_shared(looker, source, home, code, "another view of its base")
        node = memory.view_of_input(operators.input_node(base), value._view)
    else:
        return None
    return node


def _guard_shared(looker: Looker, source: Source, home: str, code: str, words: str) -> None:
    words, name = f"{source.name!r} is {words}", source.name
    looker.builder.add(
        kinds.condition("NO_TENSOR_ALIASING", name, code, home, "shared memory", words, None)
    )


def _guard_apart(
    looker: Looker,
    written: TensorVariable,
    others: list[TensorVariable],
    separate: Callable[..., bool],
) -> None:
    assert written.source is not None
    name, homes = written.source.name, ", ".join(t.home for t in others)
    words = f"{name!r} is written, and shares memory with another tensor now"
    code = f"{separate.__name__}({written.home}, {homes})"
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


def versions_apart(written: Tensor, *others: Tensor) -> bool:
    """The same, and would the tape not take the write for one to another tensor?"""
    storage = storage_of(written)
    return not any(storage is other._storage for other in others) and apart(written, *others)


def overlaps_itself(shape: tuple[int, ...], stride: tuple[int, ...]) -> bool:
    """May two elements be at one address?"""
    end = 0
    for step, size in sorted((s, n) for n, s in zip(shape, stride) if n > 1):
        if step <= end:
            return True
        end += step * (size - 1)
    return False
