"""`Tensor`: the handle a user holds.

In: a numpy array, wrapped by the eager interpreter, the factories and the runtime of compiled code.
Out: torch's tensor: what it is (shape, strides, dtype), what it shares (storage, base); what it
records is in `history.py`, what it can do in `methods.py`, how it becomes numbers in
`conversions.py`.
Invariant: `array` looks into the storage's memory; `shape`, `_stride`, `dtype` and, all of them in
one object, `_layout` are those of `array`, kept in slots because guards and generated code read
them on every call.
Left out: named dimensions, sparse and quantized layouts, subclass dispatch.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labcore import devices, dtypes
from labcore.graph import TensorMeta

from . import missing
from .conversions import Conversions
from .cuda import DeviceArray
from .exchange import Exchange
from .history import History
from .layout import Layout, layout_of
from .methods import Methods
from .modes import mode
from .replaced import Watched, seal
from .size import Size
from .storage import Storage, address

if TYPE_CHECKING:
    from .hooks import GradientHooks
    from .nodes import Node, Step

Known = tuple[Layout, Size, tuple[int, ...], dtypes.dtype, devices.device]

_new = object.__new__
_layouts: dict[tuple, Known] = {}
_on_card: dict[tuple, Known] = {}


class Tensor(Conversions, Exchange, History, Methods, metaclass=Watched):
    """A view of a storage, with or without a history.

    `_base` is the tensor this one is a view of and `_view` how it was taken; `_output_number` says
    which result of `grad_fn` this is. `_layout.requires_grad` is `requires_grad` without the
    property's price.
    """

    __slots__ = (
        "__weakref__",
        "_base",
        "_grad",
        "_hooks",
        "_layout",
        "_output_number",
        "_pointer",
        "_storage",
        "_stride",
        "_view",
        "_views",
        "array",
        "device",
        "dtype",
        "grad_fn",
        "shape",
    )

    # numpy asks the tensor, not itself, what `array * tensor` is
    __array_priority__ = 1000

    array: np.ndarray
    shape: Size
    dtype: dtypes.dtype
    device: devices.device
    grad_fn: Node | None
    _layout: Layout
    _stride: tuple[int, ...]
    _grad: Tensor | None
    _output_number: int  # set with grad_fn
    _base: Tensor | None
    # set with _base: the way from there, and why the tape takes no writes to it, if that is so
    _view: tuple[tuple[Step, ...], str]
    _hooks: GradientHooks  # set when a leaf gets its first one
    _views: list[weakref.ref[Tensor]] | None
    _storage: Storage | None
    _pointer: int | None

    def __new__(cls, *values: Any) -> Tensor:
        """`Tensor([1, 2])` or `Tensor(2, 3)`, as in PyTorch.

        `tensor(...)` and `empty(...)` are the names that say what they do.
        """
        from .factories import legacy_tensor

        return legacy_tensor(values)

    def __dir__(self) -> list[str]:
        return dir(type(self))

    # ---- what it is ----

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def meta(self) -> TensorMeta:
        """What the compiler knows of a tensor."""
        wanted = self._layout.requires_grad
        return TensorMeta(self.shape, self._stride, self.dtype, self.device, wanted)

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

    # ---- the same memory again ----

    def detach_(self) -> Tensor:
        if self._base is not None:
            raise RuntimeError("Can't detach views in-place. Use detach() instead.")
        self.grad_fn, self._layout = None, self._layout.requiring(False)
        return self

    @property
    def data(self) -> Tensor:
        """The same memory without history, under a version counter of its own.

        Writes through it go unnoticed by the tape.
        """
        other = wrap(self.array)
        other._storage = storage_of(self).alias()
        return other

    @data.setter
    def data(self, value: Tensor) -> None:
        if self._layout.requires_grad and not value.dtype.is_floating_point:
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex "
                "dtype"
            )
        self.array, self.shape = value.array, value.shape
        self._stride, self.dtype, self.device = value._stride, value.dtype, value.device
        own = self._layout
        self._layout = value._layout.marked(own.marks).requiring(own.requires_grad)
        self._storage, self._pointer = storage_of(value).alias(), value._pointer

    def as_strided(
        self, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
    ) -> Tensor:
        """Any layout over this tensor's storage.

        Not recorded: a tensor that requires grad is refused.
        """
        if self._layout.requires_grad and mode.grad:
            raise RuntimeError(
                "as_strided is not recorded for a backward: use slicing, transpose and expand, "
                "or call it on x.detach()"
            )
        start = self.storage_offset() if storage_offset is None else storage_offset
        return strided_alias(self, tuple(size), tuple(stride), start)

    # ---- copies ----

    __hash__ = object.__hash__  # a tensor is itself, whatever `==` says

    def __copy__(self) -> Tensor:
        other = alias(self, self.array)
        other._layout = other._layout.requiring(self._layout.requires_grad)
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if self.grad_fn is not None:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the "
                "deepcopy protocol at the moment."
            )
        if id(self) not in memo:
            other = _alone(self, memo)
            other._layout = other._layout.requiring(self._layout.requires_grad)
            other._grad = copy.deepcopy(self._grad, memo)
            memo[id(self)] = other
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable, tuple]:
        if self.grad_fn is not None:
            raise RuntimeError(
                "cannot pickle a tensor with a history; pickle tensor.detach() instead"
            )
        return _restored, (self.array, self._layout.requires_grad)


missing.install(Tensor)
seal(Tensor)


def wrap(array: np.ndarray, known: Known | None = None) -> Tensor:
    """A tensor over an array that a kernel just made, or that nobody else knows as a tensor;
    `known` is what `learnt` says of arrays like it."""
    self = _new(Tensor)
    self.array = array
    self._layout, self.shape, self._stride, self.dtype, self.device = known or learnt(array)
    self._grad = self.grad_fn = self._base = self._storage = self._pointer = self._views = None
    return self


def learnt(array: np.ndarray) -> Known:
    """The layout of an array and what is in it, remembered for the next one like it."""
    kept = _on_card if isinstance(array, DeviceArray) else _layouts
    return kept.get((array.shape, array.strides, array.dtype)) or _learn(array, kept)


def _learn(array: np.ndarray, kept: dict[tuple, Known]) -> Known:
    found = dtypes.from_numpy(array.dtype)
    stride = tuple([s // found.itemsize for s in array.strides])
    device = devices.cuda if kept is _on_card else devices.cpu
    layout = layout_of(array.shape, stride, found, device)
    if len(kept) > 4096:
        kept.clear()  # shapes that change on every call
    known = layout, layout.shape, layout.stride, found, device
    kept[array.shape, array.strides, array.dtype] = known
    return known


def alias(source: Tensor, array: np.ndarray) -> Tensor:
    """A tensor over `array`, which looks into `source`'s memory; no history."""
    self = wrap(array)
    self._storage = storage_of(source)
    return self


def strided_alias(
    tensor: Tensor, shape: tuple[int, ...], stride: tuple[int, ...], start: int
) -> Tensor:
    """The same storage from its element `start` on, under this layout.

    Raises RuntimeError where it ends before.
    """
    memory, size = storage_of(tensor).memory, tensor.dtype.itemsize
    needed = start + 1 + sum((n - 1) * s for n, s in zip(shape, stride)) if all(shape) else 0
    if needed > memory.size or start < 0:
        raise RuntimeError(
            f"setStorage: sizes {list(shape)}, strides {list(stride)}, storage offset {start}, "
            f"and itemsize {size} requiring a storage size of {needed * size} are out of bounds "
            f"for storage of size {memory.nbytes}"
        )
    steps = [s * size for s in stride]
    array = np.ndarray(shape, memory.dtype, memory, start * size if needed else 0, steps)
    return alias(tensor, array.view(type(tensor.array)))


def _alone(tensor: Tensor, memo: dict[Any, Any]) -> Tensor:
    """The tensor over a copy of its memory; of tensors that share it, all get the same copy."""
    memory = storage_of(tensor).memory
    if id(memory) not in memo:
        memo[id(memory)] = memory, wrap(memory.copy())
    whole = memo[id(memory)][1]
    return strided_alias(whole, tensor.shape, tensor._stride, tensor.storage_offset())


def storage_of(tensor: Tensor) -> Storage:
    storage = tensor._storage
    if storage is None:
        storage = tensor._storage = Storage(tensor.array)
    return storage


def to_inference(tensor: Tensor) -> None:
    """A new tensor, whose memory is nobody else's, becomes one that inference_mode made."""
    tensor._storage = Storage(tensor.array, inference=True)


def _restored(array: np.ndarray, requires_grad: bool) -> Tensor:
    tensor = wrap(array)
    tensor._layout = tensor._layout.requiring(requires_grad)
    return tensor


def _axis(dim: int, ndim: int) -> int:
    limit = max(ndim, 1)
    if not -limit <= dim < limit or not ndim:
        if not ndim and -1 <= dim <= 0:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but "
            f"got {dim})"
        )
    return dim
