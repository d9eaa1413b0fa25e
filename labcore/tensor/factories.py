"""Tensors from Python data, from numpy, and from nothing.

In: numbers in nested lists, arrays, sizes.  Out: leaf tensors.
Invariant: `tensor` copies, `from_numpy` shares memory, `as_tensor` copies only when it must. The
filled ones (`zeros`, `full`, `arange` ...) are operators of the table, so capture sees them too;
here their arguments take PyTorch's form.
Left out: `out=`, `layout=`, `pin_memory=`, `memory_format=`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from labcore import devices, dtypes, ops
from labcore.devices import placing
from labcore.dtypes import dtype as DType
from labcore.graph import contiguous_strides
from labcore.shapes import SymInt

from . import cuda, on_card, pool
from .cuda import is_on_card
from .exchange import from_interface
from .layout import Layout, layout_of
from .methods import sizes
from .size import Size
from .tensor import Tensor, wrap

_new = object.__new__


def finished(tensor: Tensor, device: Any, requires_grad: bool) -> Tensor:
    """A factory's last step: where shall it lie, and is a gradient wanted?"""
    if device is not None:
        tensor = tensor.to(device)
    if requires_grad:
        if not tensor.dtype.is_floating_point:
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients"
            )
        tensor.requires_grad = True
    return tensor


# ---- from data ----------------------------------------------------------------------------------


def tensor(
    data: Any, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A new leaf with a copy of `data`: a number, nested sequences, an array or a tensor."""
    return finished(_wrapped(_copied(data, dtype)), device, requires_grad)


def as_tensor(data: Any, dtype: DType | None = None, device: Any = None) -> Tensor:
    """`data` as a tensor; memory is shared when it is a tensor or an array of that type already."""
    if isinstance(data, Tensor):
        return data.to(dtype, device=device) if dtype else data.to(device=device)
    if isinstance(data, np.ndarray) and dtype in (None, dtypes.from_numpy(data.dtype)):
        return finished(from_numpy(data), device, False)
    if hasattr(data, "__cuda_array_interface__"):
        made = from_interface(data)
        return made.to(dtype, device=device) if dtype else made.to(device=device or made.device)
    return tensor(data, dtype=dtype, device=device)


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor over the array's own memory: a write to one shows in the other."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    if any(step < 0 for step in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with "
            "negative strides are not currently supported. (You can probably work around this "
            "by making a copy of your array  with array.copy().) "
        )
    dtypes.from_numpy(array.dtype)
    if any(step % array.itemsize for step in array.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy "
            "array to reallocate the memory."
        )
    return _wrapped(array.view(np.ndarray))


def _wrapped(array: np.ndarray) -> Tensor:
    """`wrap`, for an array of numpy's making: without elements it would have strides of 0."""
    if array.size:
        return wrap(array)
    return empty_strided(
        array.shape, contiguous_strides(array.shape), dtypes.from_numpy(array.dtype)
    )


def legacy_tensor(values: tuple) -> Tensor:
    """`Tensor(2, 3)` has these sizes and no values, `Tensor([1, 2])` has these values.

    Both are of the default type.
    """
    if len(values) == 1 and not isinstance(values[0], int):
        return tensor(values[0], dtype=dtypes.default)
    return empty(*values) if values else empty(0)


def _copied(data: Any, dtype: DType | None) -> np.ndarray:
    if isinstance(data, Tensor):
        data = cuda.to_host(data.array)
    if isinstance(data, (np.ndarray, np.generic)):
        found = dtypes.from_numpy(data.dtype)
        return np.array(data, dtype=(dtype or found).numpy, order="C")
    if isinstance(data, str):
        raise TypeError("new(): invalid data type 'str'")
    shape = _shape_of(data)
    kinds: set[DType] = set()
    flat: list[Any] = []
    _flatten(data, shape, 0, flat, kinds)
    dtype = dtype or _common(kinds)
    with np.errstate(all="ignore"):
        made = np.array(flat, dtype=dtypes.computed_in(dtype).numpy).reshape(shape)
        return made.astype(dtype.numpy, copy=False)


def _shape_of(data: Any) -> tuple[int, ...]:
    """The shape, judged by the first element on each level."""
    shape = []
    while isinstance(data, (list, tuple, range)) or (
        isinstance(data, (np.ndarray, Tensor)) and data.ndim
    ):
        shape.append(len(data))
        if not len(data):
            break
        data = data[0]
        if isinstance(data, str):
            raise ValueError("too many dimensions 'str'")
    return tuple(shape)


def _flatten(data: Any, shape: tuple[int, ...], axis: int, flat: list, kinds: set) -> None:
    """Append the numbers in order. Raises when a sequence's length differs from its siblings'."""
    if axis == len(shape):
        flat.append(_number(data, kinds))
        return
    if not hasattr(data, "__len__") or isinstance(data, str):
        raise TypeError(
            f"expected a sequence of length {shape[axis]} at dim {axis}, but got "
            f"{type(data).__name__}"
        )
    if len(data) != shape[axis]:
        raise ValueError(
            f"expected sequence of length {shape[axis]} at dim {axis} (got {len(data)})"
        )
    for item in data:
        _flatten(item, shape, axis + 1, flat, kinds)


def _number(value: Any, kinds: set) -> Any:
    kind = type(value)
    if kind is float:
        kinds.add(dtypes.default)
    elif kind is int:
        kinds.add(dtypes.int64)
    elif kind is bool:
        kinds.add(dtypes.bool)
    elif isinstance(value, Tensor):
        kinds.add(value.dtype)
        return value._number()
    elif isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0:
        kinds.add(dtypes.from_numpy(value.dtype))
        return value.item()
    elif isinstance(value, (list, tuple)):
        raise TypeError(
            f"not a sequence of numbers: found a {kind.__name__} where the first element had a "
            "number"
        )
    else:
        raise RuntimeError(f"Could not infer dtype of {kind.__name__}")
    return value


def _common(kinds: set[DType]) -> DType:
    """The type that holds all of them; no elements at all make the default type."""
    ladder = (dtypes.float64, dtypes.float32, *dtypes.HALVES, dtypes.int64, dtypes.int32)
    return next((t for t in ladder if t in kinds), dtypes.bool if kinds else dtypes.default)


# ---- without data -------------------------------------------------------------------------------

Make = Callable[[Sequence[int], np.dtype], np.ndarray]
_layouts: dict[tuple, tuple[Layout, Size, tuple[int, ...], Make | None]] = {}


def empty_strided(shape: Sequence[int], stride: Sequence[int], dtype: DType) -> Tensor:
    """Uninitialised memory under exactly this layout. Generated code makes its outputs with it."""
    key = (shape, stride, dtype)
    known = _layouts.get(key)
    if known is None:
        if len(_layouts) > 4096:
            _layouts.clear()  # shapes that change on every call
        layout = layout_of(tuple(shape), tuple(stride), dtype)
        contiguous = layout.stride == contiguous_strides(shape) and all(shape)
        small = prod(shape) * dtype.itemsize < pool.LEAST
        make: Make | None = (np.empty if small else pool.array) if contiguous else None
        known = _layouts[key] = layout, layout.shape, layout.stride, make
    self = _new(Tensor)
    self._layout, self.shape, self._stride, make = known
    self.array = make(shape, dtype.numpy) if make else _strided(shape, stride, dtype)
    self.dtype = dtype
    self.device = devices.cpu
    self._grad = self.grad_fn = self._base = self._storage = self._pointer = self._views = None
    return self


def _strided(shape: Sequence[int], stride: Sequence[int], dtype: DType) -> np.ndarray:
    """Memory from the first to the last element, seen through these strides."""
    span = 1 + sum((n - 1) * s for n, s in zip(shape, stride)) if all(shape) else 0
    memory = np.empty(span, dtype.numpy)
    return np.ndarray(shape, dtype.numpy, memory, 0, [s * dtype.itemsize for s in stride])


def empty(
    *size: Any, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    shape = checked_size("empty", size)
    return finished(
        empty_strided(shape, contiguous_strides(shape), dtype or dtypes.default),
        device,
        requires_grad,
    )


def empty_like(
    input: Tensor, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    meta = ops.zeros_like.meta(input.meta)
    make = on_card.empty_strided if is_on_card(input.array) else empty_strided
    return finished(make(meta.shape, meta.stride, dtype or input.dtype), device, requires_grad)


def zeros(
    *size: Any, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    made = ops.zeros(checked_size("zeros", size), dtype, **placing(device))
    return finished(made, device, requires_grad)


def ones(
    *size: Any, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    made = ops.ones(checked_size("ones", size), dtype, **placing(device))
    return finished(made, device, requires_grad)


def full(
    size: Sequence[int],
    fill_value: Any,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    made = ops.full(tuple(size), fill_value, dtype, **placing(device))
    return finished(made, device, requires_grad)


def zeros_like(
    input: Tensor, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    return finished(ops.zeros_like(input, dtype), device, requires_grad)


def ones_like(
    input: Tensor, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    return finished(ops.ones_like(input, dtype), device, requires_grad)


def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    return finished(ops.full_like(input, fill_value, dtype), device, requires_grad)


def checked_size(name: str, size: tuple) -> tuple[int, ...]:
    """Sizes as a tuple. Raises TypeError for anything but ints."""
    if not size:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    shape = sizes(size)
    for place, n in enumerate(shape):
        if not hasattr(n, "__index__"):
            raise TypeError(
                f"{name}(): argument 'size' (position {place + 1}) must be tuple of ints, not "
                f"{type(n).__name__}"
            )
    shape = tuple(n if isinstance(n, SymInt) else operator.index(n) for n in shape)
    if any(n < 0 for n in shape):
        raise RuntimeError(f"{name}: Dimension size must be non-negative.")
    return shape


# ---- sequences and chance -----------------------------------------------------------------------


def arange(
    start: Any,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`arange(end)` or `arange(start, end, step)`; the end is not reached."""
    made = ops.arange(start, end, step, dtype, **placing(device))
    return finished(made, device, requires_grad)


def linspace(
    start: float,
    end: float,
    steps: int,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`steps` numbers at equal distances; both ends are among them."""
    found = _wrapped(np.linspace(start, end, steps).astype((dtype or dtypes.default).numpy))
    return finished(found, device, requires_grad)
