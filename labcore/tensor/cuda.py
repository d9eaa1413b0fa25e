"""Memory of a card: `DeviceArray`, and the tensors over it.

In: arrays of the host, sizes.  Out: arrays that only kernels and copies look into.
Invariant: a `DeviceArray` knows address, shape, strides and type, and can be sliced and turned like
any array of numpy's, which is what views are; but the host never reads through it: numpy refuses to
compute with it, and `to_host` and `to_card` copy, as a copy over the bus does.
There are two cards, with a class of arrays each: the simulated one, whose memory is the host's, and
the one of silicon (`runtime/card.py`), where an array's address means nothing to the host. What
makes and runs things on either is the `Card` that `install` was given.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from labcore import devices
from labcore.ops.op import Op

REFUSED = (
    "numpy cannot compute with memory of a card: copy it first (tensor.cpu()), or leave it to an "
    "operator of the lab, which runs as a kernel"
)


class DeviceArray(np.ndarray):
    """An array in the memory of a card; which card, its class says."""

    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(REFUSED)

    def __array_function__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(REFUSED)

    def host(self) -> np.ndarray:
        """The elements as an array of the host, in the same layout; not to be written."""
        raise NotImplementedError

    # What numpy would read without asking.

    def item(self, *where: Any) -> Any:
        return self.host().item(*where)

    def tolist(self) -> Any:
        return self.host().tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        return self.host().tobytes(order)

    def any(self, *args: Any, **kwargs: Any) -> Any:
        return self.host().any(*args, **kwargs)

    def copy(self, order: Any = "K") -> Any:
        """On the card again, dense, the axes in the order in which they lie in memory."""
        return to_card(np.array(self.host(), order=order))

    def __reduce__(self) -> Any:
        return to_card, (self.host().copy(),)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__reduce__()


class SimulatedArray(DeviceArray):
    """An array in the memory of the simulated card."""

    def host(self) -> np.ndarray:
        return self.view(np.ndarray)


class Card(Protocol):
    """Where kernels run. `kept`: what was compiled for single operators, which goes with the card:
    kernels are in the memory of one, and the next may get its `id`."""

    name: str
    kept: dict[Any, Any]

    def empty(self, shape: Sequence[int], steps: Sequence[int], dtype: np.dtype) -> DeviceArray:
        """Uninitialised memory; `steps` are strides in bytes."""
        ...

    def to_card(self, array: np.ndarray) -> DeviceArray:
        """A copy of an array of the host, in exactly the same layout."""
        ...

    def copy(self, target: DeviceArray, source: DeviceArray) -> None:
        """Between arrays of one dense layout."""
        ...

    def matmul(self, a: DeviceArray, b: DeviceArray) -> DeviceArray | None:
        """The product by the card's library; None where it has none for such matrices."""
        ...

    def functions(self, source: str) -> Functions:
        """The kernels of a program's text."""
        ...

    def synchronize(self) -> None:
        """Wait until the card has done all it was given."""
        ...


class Functions(Protocol):
    """`by_name[kernel][grid, block](array, number)` launches; `note` says where they run and, if
    they were compiled, whether they were found on disk (`cached`), or why not (`reason`)."""

    by_name: Mapping[str, Any]
    note: str
    cached: bool
    reason: str
    key: str


def to_host(array: np.ndarray) -> np.ndarray:
    """What is in an array, for the host to read."""
    return array.host() if isinstance(array, DeviceArray) else array


def layout(array: np.ndarray) -> np.ndarray:
    """An ordinary array at the same address: to be turned and asked for its layout, never read."""
    return array.view(np.ndarray) if isinstance(array, DeviceArray) else array


def exact_copy(array: np.ndarray) -> np.ndarray:
    """A copy in the same layout, gaps and repetitions included."""
    from .storage import flat

    return np.ndarray(array.shape, array.dtype, flat(array).copy(), 0, array.strides)


def is_on_card(array: Any) -> bool:
    return isinstance(array, DeviceArray)


Carry = Callable[[Op, Sequence[Any]], Callable[..., Any]]
_card: Card | None = None
_carry: Carry | None = None


def install(card: Card | None, carry: Carry | None) -> None:
    """Set the card in use, and who carries out operators there; None: there is none."""
    global _card, _carry
    _card, _carry = card, carry
    devices.device.in_use = card is not None


def card_in_use() -> Card | None:
    return _card


def card() -> Card:
    """The card in use. Raises RuntimeError when there is none."""
    if _card is None:
        devices.device("cuda")
        assert _card is not None
    return _card


def to_card(array: np.ndarray) -> DeviceArray:
    """A copy in the memory of the card in use, in the same layout."""
    return card().to_card(array)


class _Here(threading.local):
    """Are the tensors that a composite makes from nothing to lie on the card?"""

    on_card = False


_here = _Here()


@contextmanager
def beside(operands: Sequence[Any]) -> Iterator[None]:
    """What is made from nothing inside lies where the operands do."""
    before = _here.on_card
    _here.on_card = before or any(is_on_card(getattr(t, "array", None)) for t in operands)
    try:
        yield
    finally:
        _here.on_card = before


def made_here(array: np.ndarray) -> np.ndarray:
    """A new array of the host's, or a copy of it on the card inside `beside`."""
    return to_card(np.asarray(array)) if _here.on_card else array


def carrier(op: Op, raw: Sequence[Any]) -> Callable[..., Any]:
    """What computes an operator where its operands lie: numpy, or a kernel on the card."""
    return op.kernel if _carry is None else _carry(op, raw)
