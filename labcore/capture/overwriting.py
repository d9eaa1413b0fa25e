"""Inputs that a region writes: what is done to them when its graph has run, and when that is right.

In: the memory of a region at its end.  Out: guards; and the functions that a variant calls.
Invariant: an input is overwritten once, with the same effect on its version, its history and that
of its base and views as the writes of the program had.
AOTAutograd gives new contents back by `copy_`, too, and rebuilds inputs that share memory from a
synthetic base; here that is the base which they have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..graph import Node
from ..guards import Source, kinds
from ..ops.sharing import memory_of
from ..tensor import Tensor
from ..tensor.modes import mode, no_grad
from ..tensor.nodes import UNRECORDED_VIEW
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
    """What so many in-place operators did to an input in a region, at its end; the graph may have
    put the new contents in place itself."""
    if contents is tensor:
        storage_of(tensor).writes += 1
    else:
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
    base = view._base
    if base is not None:
        view.grad_fn, view._view = None, (view._view[0], UNRECORDED_VIEW)
        view._layout = view._layout.requiring(base._layout.requires_grad)


def record_view(view: Tensor, base: Tensor | None) -> None:
    """The view was made where views are recorded, of what the region made or of this input."""
    if view._base is not None:
        refusal = "" if base is None or base._base is None else base._view[1]
        view._view = (view._view[0], refusal)


# ---- when it is right ---------------------------------------------------------------------------


def finish(memory: Memory, looker: Looker, shared: Shared) -> None:
    """Guards under which writing an input changes nothing else.

    Raises Break, at the step of the first write, where it would; SharedMemory where it would not if
    the inputs were read in another way."""
    overwritten = [(root, memory.input(root), how) for root, _, _, how in memory.overwritten()]
    if not overwritten:
        return
    records = mode.grad and any(tensor.meta.requires_grad for tensor in looker.tensors)
    tensors = [tensor for tensor in looker.tensors if tensor.node is not None]
    places = _places(tensors, [written for _, written, _ in overwritten], records)
    are_apart = apart(places, *(tensor.value for tensor in tensors))
    for root, written, recorded in overwritten:
        step = memory.writes[root][0]
        taken = root not in memory.tape_saw or takes_writes(written.value, recorded)
        close = [] if are_apart else _close(written, tensors, records)
        if not taken or close:
            _read_otherwise(shared, written, close)
            stop = Break("inplace-operator", name="of an input", pure="add")
            stop.step = step
            raise stop
        if not mode.inference:
            looker.recordable(written, step)
        if root in memory.tape_saw:
            _guard_takes_writes(looker, written, recorded)
    if len(tensors) > 1:
        _guard_apart(looker, tensors, places)


def _places(
    tensors: list[TensorVariable], written: list[TensorVariable], records: bool
) -> Places:
    """Tensors that are read as views of one input are one memory, which is written as a whole."""
    roots = [memory_of(tensor.node) for tensor in tensors if tensor.node is not None]
    numbers = {root: number for number, root in enumerate(dict.fromkeys(roots))}
    places = frozenset(n for n, tensor in enumerate(tensors) if tensor in written)
    return Places(tuple([numbers[root] for root in roots]), places, records)


def _close(
    written: TensorVariable, tensors: list[TensorVariable], records: bool
) -> list[TensorVariable]:
    """The others that are not apart from this one."""
    pairs = [(t, _places([written, t], [written], records)) for t in tensors]
    return [t for t, places in pairs if not apart(places, written.value, t.value)]


def _read_otherwise(
    shared: Shared, written: TensorVariable, close: list[TensorVariable]
) -> None:
    """Raises SharedMemory for views of one tensor, or of one and what it is when detached."""
    for other in close:
        pair = [_base(tensor) for tensor in (written, other)]
        (_, one), (_, two) = pair
        if one is not two:
            whole, twin = sorted(pair, key=lambda place: not place[1]._layout.requires_grad)
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
    return same and layout and twin._base is None and not twin._layout.requires_grad


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
    elif id(value._base) in shared.bases and not is_watched(value):
        base = looker.look(looker.lazy(*_base(tensor)))
        way = looker.builder.constant(value._view, "view")
        code = f"{looker.builder.constant(is_view, 'is_view')}({home}, {way})"
        _guard_shared(looker, source, home, code, "another view of its base")
        node = memory.view_of_input(operators.input_node(base), value._view)
    else:
        return None
    return node


def is_view(tensor: Tensor, way: tuple) -> bool:
    """Is it this view of its base, and does nobody ask for its own gradient?"""
    return tensor._view == way and not is_watched(tensor)


def is_watched(tensor: Tensor) -> bool:
    """Is the gradient of just this tensor kept, or told to a hook?"""
    node = tensor.grad_fn
    if node is None:
        return False
    hooked = node.hooks is not None and any(node.hooks.arriving.values())
    return hooked or node.retains(tensor)


def _guard_shared(looker: Looker, source: Source, home: str, code: str, words: str) -> None:
    words, name = f"{source.name!r} is {words}", source.name
    origin = looker.builder.met_at(home)
    looker.builder.add(
        kinds.condition("NO_TENSOR_ALIASING", name, code, home, "shared memory", words, origin)
    )


def _guard_apart(looker: Looker, tensors: list[TensorVariable], places: Places) -> None:
    sources = [tensors[n].source for n in sorted(places.written)]
    name = ", ".join(source.name for source in sources if source is not None)
    home = tensors[min(places.written)].home
    words = f"what is written of {name} shares memory with another tensor now"
    known, homes = looker.builder.constant(places, "places"), ", ".join(t.home for t in tensors)
    code, expected = f"apart({known}, {homes})", "memory of its own"
    origin = looker.builder.met_at(home)
    looker.builder.add(
        kinds.condition("NO_TENSOR_ALIASING", name, code, home, expected, words, origin)
    )


def _guard_takes_writes(looker: Looker, written: TensorVariable, recorded: bool) -> None:
    assert written.source is not None
    name, home = written.source.name, written.home
    code = f"{looker.builder.constant(takes_writes, 'takes_writes')}({home}, {recorded})"
    words = f"{name!r} is a leaf that requires grad, a view of one, or retains its gradient, now"
    expected, origin = "a tensor that may be written", looker.builder.met_at(home)
    looker.builder.add(kinds.condition("TENSOR_MATCH", name, code, home, expected, words, origin))


def takes_writes(tensor: Tensor, recorded: bool) -> bool:
    """Does the tape take a write to the tensor? `recorded`: a gradient may flow into it."""
    base = tensor._base
    if recorded and (tensor.retains_grad or base is not None and base.retains_grad):
        return False  # that of the new values, which only a graph would read
    if base is None:
        return not (recorded and tensor._layout.requires_grad and tensor.grad_fn is None)
    if not recorded:
        return not base._layout.requires_grad
    return not tensor._view[1] and not (tensor._layout.requires_grad and base.grad_fn is None)


@dataclass(frozen=True, eq=False)
class Places:
    """Of some tensors in a row: the number of each one's memory; which of them are written; and
    whether the tape is asked, for which a write to a storage is one to each tensor of it."""

    memories: tuple[int, ...]
    written: frozenset[int]
    records: bool


def apart(places: Places, *tensors: Tensor) -> bool:
    """Does no tensor reach into the memory of another one that is written, from its first element
    to its last? In the order of their addresses: each is compared with its neighbours only."""
    if places.records and not _versions_apart(places, tensors):
        return False
    ahead: list[int] = []  # those that begin before the next one, and may reach into it
    for start, number in sorted((t.data_ptr(), n) for n, t in enumerate(tensors) if t.array.size):
        ahead = [n for n in ahead if _end(tensors[n]) > start]
        if any(_differ(places, other, number) for other in ahead):
            return False
        ahead.append(number)
    return True


def _versions_apart(places: Places, tensors: tuple[Tensor, ...]) -> bool:
    """Is each storage that is written one memory?"""
    known: dict[int, int] = {}
    several, written = set(), set()
    for number, tensor in enumerate(tensors):
        storage, memory = id(tensor._storage), places.memories[number]
        if tensor._storage is not None and known.setdefault(storage, memory) != memory:
            several.add(storage)
        if number in places.written:
            written.add(storage)
    return several.isdisjoint(written)


def _differ(places: Places, one: int, other: int) -> bool:
    """Is one of the two written, and the other no part of the same memory?"""
    return places.memories[one] != places.memories[other] and not places.written.isdisjoint(
        (one, other)
    )


def _end(tensor: Tensor) -> int:
    """The address behind the last element."""
    steps = sum([(n - 1) * step for n, step in zip(tensor.shape, tensor._stride)])
    return tensor.data_ptr() + (steps + 1) * tensor.dtype.itemsize


def overlaps_itself(shape: tuple[int, ...], stride: tuple[int, ...]) -> bool:
    """May two elements be at one address?"""
    end = 0
    for step, size in sorted((s, n) for n, s in zip(shape, stride) if n > 1):
        if step <= end:
            return True
        end += step * (size - 1)
    return False
