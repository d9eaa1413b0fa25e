"""Memory of a simulated card: `DeviceArray`, and the tensors over it.

In: arrays of the host, sizes.  Out: arrays that only kernels and copies look into.
Invariant: a `DeviceArray` knows shape, strides and where it lies, and can be sliced and turned like
any array of numpy's, which is what views are; but numpy refuses to compute with it, as the host
cannot compute with a card's memory. `to_host` and `to_card` copy, as a copy over the bus would.
A card of silicon would have a class of its own here, with the same names.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from labcore.dtypes import dtype as DType
from labcore.ops.op import Op

REFUSED = (
    "numpy cannot compute with memory of a card: copy it first (tensor.cpu()), or leave it to an "
    "operator of the lab, which runs as a kernel"
)


class DeviceArray(np.ndarray):
    """An array in the memory of the simulated card."""

    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(REFUSED)

    def __array_function__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(REFUSED)


def to_host(array: np.ndarray) -> np.ndarray:
    """The same memory as the host would see it: for the simulator, and for what copies it."""
    return array.view(np.ndarray) if type(array) is DeviceArray else array


def to_card(array: np.ndarray) -> DeviceArray:
    """A copy in the card's memory, in the same layout."""
    return array.copy(order="K").view(DeviceArray)


def is_on_card(array: Any) -> bool:
    return type(array) is DeviceArray


Carry = Callable[[Op, Sequence[Any]], Callable[..., Any]]
_on_card: Carry | None = None


def install(carry: Carry | None) -> None:
    """Set who carries out operators on memory of a card; None: nobody."""
    global _on_card
    _on_card = carry


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
    return op.kernel if _on_card is None else _on_card(op, raw)


def empty_strided(shape: Sequence[int], stride: Sequence[int], dtype: DType) -> Any:
    """A tensor of this layout on the card. It holds nan, or the lowest number, until written, so
    that what a kernel forgets is seen."""
    from .tensor import wrap

    span = 1 + sum((n - 1) * s for n, s in zip(shape, stride)) if all(shape) else 0
    poison = np.nan if dtype.is_floating_point else dtype.numpy.kind == "b" or np.iinfo(
        dtype.numpy).min
    memory = np.full(span, poison, dtype.numpy)
    steps = [s * dtype.itemsize for s in stride]
    return wrap(np.ndarray(tuple(shape), dtype.numpy, memory, 0, steps).view(DeviceArray))
