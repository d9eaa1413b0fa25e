"""`Tensor`: the handle a user holds.

In: a numpy array, wrapped by the eager interpreter, the factories and the runtime of compiled code.
Out: torch's tensor: what it is (shape, strides, dtype), what it shares (storage, base), what it records (grad_fn).
Invariant: `array` looks into the storage's memory; `shape`, `_stride` and `dtype` are those of `array`, kept in slots because
guards and generated code read them on every call. A non-leaf tensor holds its history; the history never holds the tensor.
Left out: named dimensions, sparse and quantized layouts, subclass dispatch, hooks.
"""
from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from labcore import devices, dtypes
from labcore.graph import TensorMeta

from .methods import Methods
from .size import Size
from .storage import Storage, address

if TYPE_CHECKING:
    from .autograd import Node

Layout = tuple[Size, tuple[int, ...], dtypes.dtype]

_new = object.__new__
_layouts: dict[tuple, Layout] = {}

NO_GRAD_FOR_INTEGERS = "only Tensors of floating point dtype can require gradients"


class Tensor(Methods):
    """A view of a storage, with or without a history.

    `_base` is the tensor this one is a view of and `_view` how it was taken; `_output_number` says which result of `grad_fn`
    this is. `_requires_grad` is `requires_grad` without the property's price, for guards.
    """

    __slots__ = ("__weakref__", "_base", "_grad", "_output_number", "_pointer", "_requires_grad", "_storage", "_stride",
                 "_view", "_views", "array", "device", "dtype", "grad_fn", "shape")

    # numpy asks the tensor, not itself, what `array * tensor` is
    __array_priority__ = 1000

    array: np.ndarray
    shape: Size
    dtype: dtypes.dtype
    device: devices.device
    grad_fn: Node | None
    _stride: tuple[int, ...]
    _requires_grad: bool
    _base: Tensor | None

    def __new__(cls, *values: Any) -> Tensor:
        """`Tensor([1, 2])` or `Tensor(2, 3)`, as in PyTorch; `tensor(...)` and `empty(...)` say what they do."""
        from .factories import legacy_tensor
        return legacy_tensor(values)

    # ---- what it is ----

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def meta(self) -> TensorMeta:
        """What the compiler knows of a tensor."""
        return TensorMeta(self.shape, self._stride, self.dtype, self.device, self._requires_grad)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.array.nbytes

    def dim(self) -> int:
        return len(self.shape)

    def numel(self) -> int:
        return self.array.size

    nelement = numel

    def element_size(self) -> int:
        return self.dtype.itemsize

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[_axis(dim, len(self.shape))]

    def stride(self, dim: int | None = None) -> Any:
        return self._stride if dim is None else self._stride[_axis(dim, len(self.shape))]

    def is_contiguous(self) -> bool:
        return bool(self.array.flags.c_contiguous)

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    # ---- what it shares ----

    def untyped_storage(self) -> Storage:
        """The memory this tensor is a view of."""
        return storage_of(self)

    def data_ptr(self) -> int:
        """The address of the first element; 0 for a tensor without elements."""
        pointer = self._pointer
        if pointer is None:
            pointer = self._pointer = address(self.array) if self.array.size else 0
        return pointer

    def storage_offset(self) -> int:
        if not self.array.size or self._storage is None:
            return 0
        return (self.data_ptr() - self._storage.data_ptr()) // self.dtype.itemsize

    @property
    def _version(self) -> int:
        if self.is_inference():
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self._storage is None else self._storage.version

    def _is_view(self) -> bool:
        return self._base is not None

    def is_inference(self) -> bool:
        return self._storage is not None and self._storage.inference

    # ---- what it records ----

    @property
    def requires_grad(self) -> bool:
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if self.grad_fn is not None:
            if wanted:
                return
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
                "subgraph that doesn't require differentiation use var_no_grad = var.detach().")
        if wanted and not self.dtype.is_floating_point:
            raise RuntimeError(NO_GRAD_FOR_INTEGERS)
        if wanted and self.is_inference():
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        self._requires_grad = bool(wanted)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        self.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self) -> bool:
        return self.grad_fn is None

    @property
    def output_nr(self) -> int:
        return 0 if self.grad_fn is None else self._output_number

    @property
    def grad(self) -> Tensor | None:
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            _check_grad(self, value)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def backward(self, gradient: Tensor | None = None, retain_graph: bool | None = None,
                 create_graph: bool = False, inputs: Any = None) -> None:
        """Add the gradient of this tensor to `.grad` of the leaves it came from."""
        from .autograd import backward
        backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def retain_grad(self) -> None:
        """Keep `.grad` of this tensor too, though it is no leaf."""
        if not self._requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self.grad_fn is not None:
            self.grad_fn.retain_grad(self)

    @property
    def retains_grad(self) -> bool:
        return self.grad_fn is not None and self.grad_fn.retains(self)

    def detach(self) -> Tensor:
        """The same memory without history."""
        return alias(self, self.array)

    def detach_(self) -> Tensor:
        if self._base is not None:
            raise RuntimeError("Can't detach views in-place. Use detach() instead.")
        self.grad_fn, self._requires_grad = None, False
        return self

    @property
    def data(self) -> Tensor:
        """The same memory without history and with a version counter of its own: writes go unnoticed."""
        other = wrap(self.array)
        other._storage = storage_of(self).alias()
        return other

    @data.setter
    def data(self, value: Tensor) -> None:
        if value.dtype is not self.dtype and self._requires_grad and not value.dtype.is_floating_point:
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        self.array, self.shape, self._stride, self.dtype = value.array, value.shape, value._stride, value.dtype
        self._storage, self._pointer = storage_of(value).alias(), value._pointer

    # ---- to Python and numpy ----

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """The tensor's memory as a numpy array: nothing is copied."""
        if self._requires_grad and not force:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        return self.array.view()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def item(self) -> Any:
        """The one element as a Python number."""
        if self.array.size != 1:
            raise RuntimeError(f"a Tensor with {self.array.size} elements cannot be converted to Scalar")
        return self.array.item()

    def tolist(self) -> Any:
        return self.array.tolist()

    def __bool__(self) -> bool:
        if self.array.size != 1:
            many = "more than one value" if self.array.size else "no values"
            raise RuntimeError(f"Boolean value of Tensor with {many} is ambiguous")
        return bool(self.array.item())

    def _number(self) -> Any:
        if self.array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self.array.item()

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

    def __iter__(self) -> Iterator[Tensor]:
        if not self.shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter([self[i] for i in range(self.shape[0])])

    def __contains__(self, element: Any) -> bool:
        return bool((self == element).array.any())

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        from .printing import tensor_text
        return tensor_text(self)

    def __format__(self, spec: str) -> str:
        if not self.shape and spec:
            return format(self.array.item(), spec)
        return object.__format__(self, spec)

    def __copy__(self) -> Tensor:
        other = alias(self, self.array)
        other._requires_grad = self._requires_grad
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if self.grad_fn is not None:
            raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol "
                               "at the moment.")
        if id(self) not in memo:
            other = wrap(self.array.copy(order="K"))
            other._requires_grad, other._grad = self._requires_grad, copy.deepcopy(self._grad, memo)
            memo[id(self)] = other
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable, tuple]:
        if self.grad_fn is not None:
            raise RuntimeError("cannot pickle a tensor with a history; pickle tensor.detach() instead")
        return _restored, (self.array, self._requires_grad)


def wrap(array: np.ndarray) -> Tensor:
    """A tensor over an array that a kernel just made, or that nobody else knows as a tensor."""
    self = _new(Tensor)
    self.array = array
    layout = _layouts.get((array.shape, array.strides, array.dtype))
    self.shape, self._stride, self.dtype = layout if layout is not None else _layout(array)
    self.device = devices.cpu
    self._requires_grad = False
    self._grad = self.grad_fn = self._base = self._storage = self._pointer = self._views = None
    return self


def _layout(array: np.ndarray) -> Layout:
    """Shape, strides in elements and dtype of an array, remembered for the next one like it."""
    found = dtypes.from_numpy(array.dtype)
    layout = Size(array.shape), tuple([s // found.itemsize for s in array.strides]), found
    if len(_layouts) > 4096:
        _layouts.clear()  # shapes that change on every call
    _layouts[array.shape, array.strides, array.dtype] = layout
    return layout


def alias(source: Tensor, array: np.ndarray) -> Tensor:
    """A tensor over `array`, which looks into `source`'s memory; no history."""
    self = wrap(array)
    self._storage = storage_of(source)
    return self


def storage_of(tensor: Tensor) -> Storage:
    storage = tensor._storage
    if storage is None:
        storage = tensor._storage = Storage(tensor.array)
    return storage


def _restored(array: np.ndarray, requires_grad: bool) -> Tensor:
    tensor = wrap(array)
    tensor._requires_grad = requires_grad
    return tensor


def _axis(dim: int, ndim: int) -> int:
    limit = max(ndim, 1)
    if not -limit <= dim < limit or not ndim:
        if not ndim and -1 <= dim <= 0:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        raise IndexError(f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but got {dim})")
    return dim


def _check_grad(tensor: Tensor, grad: Any) -> None:
    if not isinstance(grad, Tensor):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(grad).__name__}")
    if grad is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    if grad.dtype is not tensor.dtype:
        raise RuntimeError(f"attempting to assign a gradient with dtype '{grad.dtype.title.lower()}' to a tensor with dtype "
                           f"'{tensor.dtype.title.lower()}'")
    if grad.shape != tensor.shape:
        raise RuntimeError(f"attempting to assign a gradient of size '{list(grad.shape)}' to a tensor of size "
                           f"'{list(tensor.shape)}'. Please ensure that the gradient and the tensor are the same size")
