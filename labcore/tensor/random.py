"""Tensors of random numbers.

In: sizes and a seed.  Out: leaf tensors.
Invariant: all numbers come from the one generator of `ops.random`, so `manual_seed` makes a
program's numbers repeatable. They are numpy's numbers: the same seed gives others in PyTorch.
"""

from __future__ import annotations

from typing import Any

from labcore import dtypes, ops
from labcore.devices import placing
from labcore.dtypes import dtype as DType
from labcore.ops.random import Generator, generator

from .factories import checked_size, finished, tensor
from .tensor import Tensor


def manual_seed(seed: int) -> Generator:
    """Start the generator again, at numbers that depend on `seed` only."""
    generator.manual_seed(int(seed))
    return generator


def initial_seed() -> int:
    """The seed the generator last started from."""
    return generator.seed


def rand(
    *size: Any, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Uniform numbers from [0, 1)."""
    made = ops.rand(checked_size("rand", size), dtype, **placing(device))
    return finished(made, device, requires_grad)


def randn(
    *size: Any, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Normal numbers: mean 0, variance 1."""
    made = ops.randn(checked_size("randn", size), dtype, **placing(device))
    return finished(made, device, requires_grad)


def rand_like(
    input: Tensor, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    return finished(ops.rand_like(input, dtype), device, requires_grad)


def randn_like(
    input: Tensor, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    return finished(ops.randn_like(input, dtype), device, requires_grad)


def randint(
    low: int,
    high: Any,
    size: Any = None,
    *,
    dtype: DType = dtypes.int64,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`randint(high, size)` or `randint(low, high, size)`: whole numbers below high."""
    if size is None:
        low, high, size = 0, low, high
    if high <= low:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    numbers = generator.integers(low, high, checked_size("randint", (size,)))
    return tensor(numbers, dtype=dtype, device=device, requires_grad=requires_grad)
