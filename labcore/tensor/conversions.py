"""From a tensor to Python and numpy.

In: a tensor.  Out: numbers, lists, arrays, text.
Invariant: `numpy()` copies nothing; what would be ambiguous, or would lose a history, is refused in
PyTorch's words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .cuda import is_on_card, to_host

if TYPE_CHECKING:
    from .size import Size
    from .tensor import Tensor


def plain(array: np.ndarray) -> np.ndarray:
    """The array in a type whose elements Python knows as numbers."""
    return to_host(array).astype(np.float32) if array.dtype.itemsize == 2 else array


class Conversions:
    """The part of `Tensor` that leaves the lab."""

    __slots__ = ()

    if TYPE_CHECKING:
        array: np.ndarray
        shape: Size

        def __getattr__(self, name: str) -> Any: ...

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """The tensor's memory as a numpy array: nothing is copied. bfloat16 is the type of that
        name in `ml_dtypes`."""
        if is_on_card(self.array):
            if not force:
                raise TypeError(
                    f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to "
                    "copy the tensor to host memory first."
                )
            return to_host(self.array).copy()
        if self._layout.requires_grad and not force:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
                "instead."
            )
        return self.array.view()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def item(self) -> Any:
        """The one element as a Python number."""
        if self.array.size != 1:
            raise RuntimeError(
                f"a Tensor with {self.array.size} elements cannot be converted to Scalar"
            )
        return plain(self.array).item()

    def tolist(self) -> Any:
        return plain(self.array).tolist()

    def __bool__(self) -> bool:
        if self.array.size != 1:
            many = "more than one value" if self.array.size else "no values"
            raise RuntimeError(f"Boolean value of Tensor with {many} is ambiguous")
        return bool(self.array.item())

    def _number(self) -> Any:
        if self.array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return plain(self.array).item()

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __index__(self) -> int:
        if self.array.size != 1 or self.dtype.is_floating_point:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.array.item())

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __iter__(self: Any) -> Iterator[Tensor]:
        if not self.shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter([self[i] for i in range(self.shape[0])])

    def __contains__(self, element: Any) -> bool:
        return bool((self == element).array.any())

    def __repr__(self: Any) -> str:
        from .printing import tensor_text

        return tensor_text(self)

    def __format__(self, spec: str) -> str:
        if not self.shape and spec:
            return format(plain(self.array).item(), spec)
        return object.__format__(self, spec)
