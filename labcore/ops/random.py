"""Operators that draw: `rand randn` and their `_like` forms, and the generator they draw from.

In: sizes or a tensor.  Out: a new array of uniform numbers in [0, 1), or of normal ones.
Invariant: the same seed gives the same numbers, in the order of the calls; one generator for the
process, as in PyTorch.
The numbers are numpy's (PCG64), not PyTorch's (Mersenne twister), so a seed gives other values than
there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import urandom
from typing import Any

import numpy as np

from .. import dtypes
from ..dtypes import dtype
from ..graph import TensorMeta
from .arrays import empty, meta_of, ndarray
from .broadcast import dense_strides
from .factories import sized
from .op import naming, register


class Generator:
    """The source of all random numbers; `state` is what to keep and put back.

    Until a seed is given it starts from one that the system draws. Numpy's generators are loaded at
    the first draw.
    """

    def __init__(self) -> None:
        self._seed: int | None = None
        self._source: np.random.Generator | None = None

    @property
    def seed(self) -> int:
        if self._seed is None:
            self._seed = int.from_bytes(urandom(8), "little")
        return self._seed

    def manual_seed(self, seed: int) -> None:
        self._seed, self._source = seed, None

    @property
    def _numpy(self) -> np.random.Generator:
        if self._source is None:
            self._source = np.random.default_rng(self.seed % 2**64)
        return self._source

    @property
    def state(self) -> Mapping[str, Any]:
        return self._numpy.bit_generator.state

    @state.setter
    def state(self, state: Mapping[str, Any]) -> None:
        self._numpy.bit_generator.state = state

    def uniform(self, size: Sequence[int], type_: np.dtype) -> ndarray:
        return self._numpy.random(size, type_)

    def normal(self, size: Sequence[int], type_: np.dtype) -> ndarray:
        return self._numpy.standard_normal(size, type_)

    def integers(self, low: int, high: int, size: Sequence[int]) -> ndarray:
        """Whole numbers from low up to, not including, high."""
        return np.asarray(self._numpy.integers(low, high, size))


generator = Generator()
DIGITS = {dtypes.float16: 11, dtypes.bfloat16: 8}


def _drawing(name: str, draw: Callable[[Sequence[int], np.dtype], ndarray], missing: str) -> None:
    """Register an operator that draws, and its `_like` form."""

    def check(type_: dtype) -> dtype:
        if not type_.is_floating_point:
            raise NotImplementedError(f"\"{missing}\" not implemented for '{type_.title}'")
        return type_

    def meta(size: Sequence[int], dtype: dtype | None = None,
             device: str | None = None) -> TensorMeta:
        return sized(size, check(dtype or dtypes.default), device)

    def like_meta(input: TensorMeta, dtype: dtype | None = None) -> TensorMeta:
        return TensorMeta(
            input.shape, dense_strides(input), check(dtype or input.dtype), input.device
        )

    def kernel(size: Sequence[int], dtype: dtype | None = None,
               device: str | None = None) -> ndarray:
        return drawn(plain(size, dtype))

    def like_kernel(input: ndarray, dtype: dtype | None = None) -> ndarray:
        return drawn(like(meta_of(input), dtype))

    def drawn(out: TensorMeta) -> ndarray:
        result = empty(out)
        values = draw(out.shape, dtypes.computed_in(out.dtype).numpy)
        if out.dtype.is_half and draw == generator.uniform:
            # As many digits as the type has: what is rounded could become 1.
            steps = np.float32(2 ** DIGITS[out.dtype])
            values = np.floor(values * steps) / steps
        result[...] = values
        return result

    plain, like = naming(name, meta), naming(f"{name}_like", like_meta)
    register(name, "random", kernel, plain)
    register(f"{name}_like", "random", like_kernel, like)


_drawing("rand", generator.uniform, "check_uniform_bounds")
_drawing("randn", generator.normal, "normal_kernel_cpu")
