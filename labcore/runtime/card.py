"""A card of silicon: its memory as arrays, its kernels as things to launch.

In: a `Driver`.  Out: a `Card`, as `tensor/cuda.py` has it.
Invariant: a `CardArray` has an address that means nothing to the host; its memory lives as long as
any array that looks into it. What is launched gets bare addresses: guards saw the layouts.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from .. import dtypes
from ..ops.broadcast import is_dense
from ..tensor.cuda import DeviceArray, card
from ..tensor.storage import address, flat
from . import cards
from .allocator import Allocator, Block, kind, rounded
from .cublas import KINDS, described
from .dlpack import Foreign
from .driver import CallStep, Driver, KernelStep

KEPT = 4096  # layouts that are remembered
DATA = object.__basicsize__  # where an array object of numpy's has the address of its elements
cell = ctypes.c_size_t.from_address


def place(array: np.ndarray) -> int:
    """The address of the first element, in a seventh of the time that numpy takes to say."""
    return cell(id(array) + DATA).value


Layout = tuple[tuple[int, ...], tuple[int, ...], np.dtype]  # shape, strides in bytes, type
Build = Callable[[str, "SiliconCard"], Any]  # a text -> its `Functions`


class CardArray(DeviceArray):
    """An array in the memory of a card of silicon."""

    def host(self) -> np.ndarray:
        """A copy, after all that writes it has run."""
        span = flat(self)
        found = np.empty(span.shape, self.dtype)
        if found.size:
            _driver(self).to_host(address(found), address(span), found.nbytes)
        return np.ndarray(self.shape, self.dtype, found, 0, self.strides)

    def copy(self, order: Any = "K") -> Any:
        """On the card alone, where the layout stays."""
        steps = tuple([s // self.itemsize for s in self.strides])
        if order != "K" or not is_dense(self.shape, steps):
            return super().copy(order)
        made = card().empty(self.shape, self.strides, self.dtype)
        card().copy(made, self)
        return made


def _driver(array: np.ndarray) -> Driver:
    """The driver of the card whose memory an array looks into."""
    base: Any = array
    while not isinstance(base, (Block, Foreign)):  # through views, and what numpy puts between
        base = base.base
    return base.driver


@dataclass(eq=False)
class SiliconCard:
    """`build` compiles the kernels of a text, or finds them on disk. `poison`: memory is filled
    with nan, -1 and True before it is handed out, so that what a kernel forgets is seen."""

    driver: Driver
    build: Build
    poison: bool = False

    def __post_init__(self) -> None:
        self.name = self.driver.name
        self.allocator = Allocator(self.driver)
        self.kept: dict[Any, Any] = {}
        self._makers: dict[Layout, Callable[[], CardArray]] = {}

    # ---- memory ----

    def empty(self, shape: Sequence[int], steps: Sequence[int], dtype: np.dtype) -> CardArray:
        """Raises OutOfMemory."""
        key = tuple(shape), tuple(steps), dtype
        return (self._makers.get(key) or self._learn(key))()

    def _learn(self, layout: Layout) -> Callable[[], CardArray]:
        """What makes arrays of a layout; remembered, for a program asks again and again."""
        if len(self._makers) > KEPT:
            self._makers.clear()  # shapes that change on every call
        made = self._makers[layout] = self.maker(*layout)
        return made

    def maker(self, shape: tuple[int, ...], steps: tuple[int, ...],
              dtype: np.dtype) -> Callable[[], CardArray]:
        """What makes an array of this layout at each call, as `empty` does, in less time."""
        span = sum([(n - 1) * s for n, s in zip(shape, steps)])
        size = rounded(dtype.itemsize + span if 0 not in shape else 0)
        here, common = self.allocator.here, self.allocator.common
        block_at = kind(size).from_address
        junk = 1 if dtype.kind == "b" else 255

        def make() -> CardArray:
            pool = here.pool or common
            block = block_at(pool.pointer(size))  # `pool.block`, in less time
            block.pool = pool
            if self.poison:
                self.driver.fill(block.pointer, junk, size)
            return CardArray(shape, dtype, block, 0, steps)

        return make

    def to_card(self, array: np.ndarray) -> CardArray:
        found = self.empty(array.shape, array.strides, array.dtype)
        span = flat(array)
        if span.size:
            self.driver.to_card(address(found), address(span), span.nbytes)
        return found

    def foreign(self, interface: dict[str, Any], owner: Any) -> CardArray:
        """An array over memory of another library's, which `owner` keeps."""
        return np.asarray(Foreign(interface, owner, self.driver)).view(CardArray)

    def copy(self, target: DeviceArray, source: DeviceArray) -> None:
        self.driver.copy(address(target), address(source), target.nbytes)

    # ---- work ----

    def functions(self, source: str) -> Any:
        return self.build(source, self)

    def kernels(self, code: bytes, names: Sequence[str]) -> dict[str, Kernel]:
        """Machine code as kernels that can be launched."""
        found = self.driver.load(code, names)
        return {name: Kernel(self, name, found[name]) for name in names}

    def matmul(self, a: DeviceArray, b: DeviceArray) -> DeviceArray | None:
        type_ = dtypes.from_numpy(a.dtype)
        product = described(*[(x.shape, [s // x.itemsize for s in x.strides]) for x in (a, b)])
        if product is None or type_.name not in KINDS:
            return None
        shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *a.shape[-2:-1], *(
            b.shape[-1:] if b.ndim > 1 else ()))
        steps = [a.itemsize * prod(shape[k + 1:]) for k in range(len(shape))]
        out = self.empty(shape, steps, a.dtype)
        given = address(a), address(b), address(out)

        def call() -> None:
            self.driver.matmul(type_.name, product, *given)

        call()
        if (recording := cards.recorded()) is not None:
            reads = [(address(x), flat(x).nbytes) for x in (a, b)]
            work = 2 * product.batch * product.m * product.n * product.k
            recording.append(CallStep(call, reads, (address(out), out.nbytes), work))
        return out

    def synchronize(self) -> None:
        self.driver.synchronize()


class Kernel:
    """A kernel in the memory of a card. `kernel[grid, block]` is a launch, waiting for arguments;
    the driver is told of each shape once."""

    __slots__ = ("card", "function", "launches", "name")

    def __init__(self, card: SiliconCard, name: str, function: Any) -> None:
        self.card, self.name, self.function = card, name, function
        self.launches: dict[Any, Callable[..., None]] = {}

    def __getitem__(self, shape: Any) -> Callable[..., None]:
        found = self.launches.get(shape)
        if found is None:
            found = self.launches[shape] = self._launch(*shape)
        return found

    def _launch(self, *shape: Any) -> Callable[..., None]:
        grid, block = [tuple(s) if isinstance(s, Sequence) else (s,) for s in shape]
        launch, other = self.card.driver.launcher(self.function, grid, block), self._other
        name, function, listening = self.name, self.function, cards.listening

        def run(*arguments: Any) -> None:
            kept: list[CardArray] = []
            given = [cell(id(a) + DATA).value if type(a) is CardArray else other(a, kept)
                     for a in arguments]  # `place`, without the price of a call
            launch(*given)
            if listening.on:
                cards.note(cards.Launched(name, grid, block),
                           KernelStep(function, grid, block, given))

        return run

    def _other(self, value: Any, kept: list[CardArray]) -> int | float:
        """A number, or the address of a copy of one that lies in an array of the host's; the copy
        lives until the launch is made."""
        if isinstance(value, (int, float)):
            return value
        if type(value) is np.ndarray and not value.ndim:
            if (recording := cards.recorded()) is not None:
                recording.append("a number lies on the host")
            kept.append(self.card.to_card(value))
            return address(kept[-1])
        raise _refused(value, self.name)


def _refused(value: Any, kernel: str) -> Exception:
    if isinstance(value, np.ndarray):
        where = "the simulated card" if isinstance(value, DeviceArray) else "the host"
        return RuntimeError(
            f"{kernel} runs on a card, and one of its arrays lies in the memory of {where}. "
            "Tensors and compiled functions stay where they were made: after a change of card make "
            "them anew (labcore.compiler.reset(), tensor.cpu().cuda())"
        )
    return TypeError(f"{kernel} takes arrays and numbers, not {type(value).__name__}")
