"""Operators whose result shares its input's storage: only shape and strides change.

In: a tensor and sizes or axes.  Out: a view.
Invariant: a kernel's result is a numpy view of its input with exactly the strides the meta rule
names.
PyTorch also shares storage between types (`view(dtype)`) and windows (`as_strided`, `unfold`,
`diagonal`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from .. import dtypes
from ..graph import TensorMeta, same_shape
from ..shapes import SymInt
from .arrays import meta_of, ndarray, with_strides
from .op import Op, naming, register
from .reductions import reduced_axes, wrap_dim

Ints = tuple[int, ...]
py_slice = slice  # `slice` is an operator here
WHOLE = (py_slice(None),) * 64  # numpy has no more axes


Start = tuple[int, int]  # (axis, index): where along which axis the result begins


def view_op(
    name: str,
    meta: Callable,
    start: Callable[..., Start] | None = None,
    quick: Callable[..., ndarray | None] | None = None,
) -> Op:
    """Register a view. `start` says where the result begins; without it, where its input does.

    `quick` gives the same view by numpy's own means, or None when the arguments are not ordinary.
    The operator gets `offset(*args)`: by how many elements the result's first lies after its
    input's first.
    """
    checked = naming(name, meta)

    def kernel(input: ndarray, *args: Any, **kwargs: Any) -> ndarray:
        found = None if quick is None else quick(input, *args, **kwargs)
        if found is not None:
            return found
        out = checked(meta_of(input), *args, **kwargs)
        if start is not None:
            axis, index = start(meta_of(input), *args, **kwargs)
            input = input[(py_slice(None),) * axis + (py_slice(index, None),)]
        return with_strides(input, out)

    def offset(input: TensorMeta, *args: Any, **kwargs: Any) -> int:
        axis, index = start(input, *args, **kwargs) if start is not None else (0, 0)
        return index * input.stride[axis] if index else 0

    return register(name, "view", kernel, checked, offset=offset)


def _new(input: TensorMeta, shape: Sequence[int], stride: Sequence[int]) -> TensorMeta:
    return TensorMeta(tuple(shape), tuple(stride), input.dtype, input.device)


# ---- view: other sizes over the same elements ---------------------------------------------------


def infer_size(shape: Sequence[int], numel: int) -> Ints:
    """Fill in a -1. Raises RuntimeError when the sizes do not hold `numel` elements."""
    known, unknown = 1, None
    for axis, size in enumerate(shape):
        if size == -1:
            if unknown is not None:
                raise RuntimeError("only one dimension can be inferred")
            unknown = axis
        elif size < 0:
            raise RuntimeError(
                f"invalid shape dimension {size} at index {axis} of shape {list(shape)}"
            )
        else:
            known *= size
    if unknown is None and known == numel:
        return tuple(shape)
    if unknown is None or (known and numel % known) or (not known and numel):
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")
    if not known:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified "
            "dimension size -1 can be any value and is ambiguous"
        )
    return tuple(numel // known if axis == unknown else size for axis, size in enumerate(shape))


def view_strides(input: TensorMeta, shape: Ints) -> Ints | None:
    """The strides under which `shape` lies over the same memory, or None when only a copy can do
    that.

    Axes that follow each other without a gap form a chunk; new axes must divide a chunk.
    """
    if input.numel == 0:
        return (
            input.stride
            if same_shape(input.shape, shape)
            else TensorMeta.contiguous(shape, input.dtype).stride
        )
    if not input.shape:
        return (1,) * len(shape)
    new, axis = [0] * len(shape), len(shape) - 1
    base, chunk, seen = input.stride[-1], 1, 1
    for old in reversed(range(input.ndim)):
        chunk *= input.shape[old]
        last = old == 0
        if last or (input.shape[old - 1] != 1 and input.stride[old - 1] != chunk * base):
            while axis >= 0 and (seen < chunk or shape[axis] == 1):
                new[axis] = seen * base
                seen *= shape[axis]
                axis -= 1
            if seen != chunk:
                return None
            if not last:
                base, chunk, seen = input.stride[old - 1], 1, 1
    return tuple(new) if axis == -1 else None


def _view_meta(input: TensorMeta, shape: Sequence[int]) -> TensorMeta:
    shape = infer_size(shape, input.numel)
    strides = view_strides(input, shape)
    if strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return _new(input, shape, strides)


def _quick_view(input: ndarray, shape: Sequence[int]) -> ndarray | None:
    ordinary = input.flags.c_contiguous and input.size and 1 not in input.shape
    if not ordinary or min(shape, default=1) < 1 or prod(shape) != input.size:
        return None
    return input.reshape(shape)


view = view_op("view", _view_meta, quick=_quick_view)


# ---- axes: order, number, repetition ------------------------------------------------------------


def _permute_meta(input: TensorMeta, dims: Sequence[int]) -> TensorMeta:
    if len(dims) != input.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {input.ndim} is not "
            f"equal to len(dims) = {len(dims)}"
        )
    axes = [wrap_dim(d, input.ndim) for d in dims]
    if len(set(axes)) != len(axes):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return _new(input, [input.shape[a] for a in axes], [input.stride[a] for a in axes])


def _transpose_meta(input: TensorMeta, dim0: int, dim1: int) -> TensorMeta:
    a, b = wrap_dim(dim0, input.ndim), wrap_dim(dim1, input.ndim)
    axes = list(range(input.ndim))
    if axes:
        axes[a], axes[b] = b, a
    return _new(input, [input.shape[a] for a in axes], [input.stride[a] for a in axes])


def _expand_meta(input: TensorMeta, size: Sequence[int]) -> TensorMeta:
    extra = len(size) - input.ndim
    if extra < 0:
        kind = "CPUBoolType" if input.dtype is dtypes.bool else f"torch.{input.dtype.title}Tensor"
        raise RuntimeError(
            f"expand({kind}{{{list(input.shape)}}}, size={list(size)}): the number of sizes "
            f"provided ({len(size)}) must be greater or equal to the number of dimensions in the "
            f"tensor ({input.ndim})"
        )
    shape, stride = list(size), [0] * len(size)
    for axis in reversed(range(len(size))):
        own = axis - extra
        have = input.shape[own] if own >= 0 else 1
        if size[axis] == -1 and own < 0:
            raise RuntimeError(
                "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing "
                f"dimension {axis}"
            )
        if own < 0:
            stride[axis] = stride[axis + 1] * shape[axis + 1] if axis + 1 < len(size) else 1
        else:
            stride[axis] = input.stride[own]
        if size[axis] == -1:
            shape[axis] = have
        elif size[axis] != have:
            if have != 1:
                raise RuntimeError(
                    f"The expanded size of the tensor ({size[axis]}) must match the existing size "
                    f"({have}) at non-singleton dimension {axis}.  Target sizes: {list(size)}.  "
                    f"Tensor sizes: {list(input.shape)}"
                )
            stride[axis] = 0
    return _new(input, shape, stride)


def _unsqueeze_meta(input: TensorMeta, dim: int) -> TensorMeta:
    axis = wrap_dim(dim, input.ndim + 1)
    step = input.shape[axis] * input.stride[axis] if axis < input.ndim else 1
    return _new(
        input,
        (*input.shape[:axis], 1, *input.shape[axis:]),
        (*input.stride[:axis], step, *input.stride[axis:]),
    )


def _squeeze_meta(input: TensorMeta, dim: int | Sequence[int] | None = None) -> TensorMeta:
    if dim is None:
        wanted = set(range(input.ndim))
    else:
        wanted = set(reduced_axes(dim, input.ndim)) if dim != () else set()
    kept = [a for a in range(input.ndim) if a not in wanted or input.shape[a] != 1]
    return _new(input, [input.shape[a] for a in kept], [input.stride[a] for a in kept])


def _quick_permute(input: ndarray, dims: Sequence[int]) -> ndarray | None:
    return input.transpose(dims) if sorted(dims) == list(range(input.ndim)) else None


def _quick_transpose(input: ndarray, dim0: int, dim1: int) -> ndarray | None:
    ndim = input.ndim
    return input.swapaxes(dim0, dim1) if -ndim <= dim0 < ndim and -ndim <= dim1 < ndim else None


permute = view_op("permute", _permute_meta, quick=_quick_permute)
transpose = view_op("transpose", _transpose_meta, quick=_quick_transpose)
expand = view_op("expand", _expand_meta)
unsqueeze = view_op("unsqueeze", _unsqueeze_meta)
squeeze = view_op("squeeze", _squeeze_meta)

# The same memory without history: no view to the tape, which is why it is of another kind.
detach = register("detach", "detach", lambda input: input, lambda input: input.with_grad(False))
# What `.data` gives: the same, and writes through it are not counted as writes to the tensor.
data = register("_data", "detach", lambda input: input, lambda input: input.with_grad(False))


# ---- parts --------------------------------------------------------------------------------------


def _select_meta(input: TensorMeta, dim: int, index: int) -> TensorMeta:
    axis, _ = select_start(input, dim, index)
    return _new(
        input,
        input.shape[:axis] + input.shape[axis + 1 :],
        input.stride[:axis] + input.stride[axis + 1 :],
    )


def select_start(input: TensorMeta, dim: int, index: int) -> Start:
    if not input.shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis = wrap_dim(dim, input.ndim)
    size = input.shape[axis]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at "
            f"dimension {axis}"
        )
    return axis, index % size


def slice_bounds(size: int, start: int | None, end: int | None) -> tuple[int, int]:
    """Start and end counted from 0 and clipped to the axis, as Python's slices do."""
    if isinstance(size, SymInt) or isinstance(start, SymInt) or isinstance(end, SymInt):
        first, last = _bound(0 if start is None else start, size), _bound(end, size)
    else:
        first, last, _ = py_slice(start, end).indices(size)
    return first, max(first, last)


def _bound(place: Any, size: Any) -> Any:
    """A place counted from 0 and clipped to an axis; None is its end."""
    if place is None or place > size:
        return size
    if place >= 0:
        return place
    return place + size if place + size >= 0 else 0


def _slice_meta(
    input: TensorMeta, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> TensorMeta:
    axis, first = slice_start(input, dim, start, end, step)
    last = slice_bounds(input.shape[axis], start, end)[1]
    count = (last - first + step - 1) // step
    shape, stride = list(input.shape), list(input.stride)
    shape[axis], stride[axis] = count, stride[axis] * step
    return _new(input, shape, stride)


def slice_start(
    input: TensorMeta, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Start:
    if not input.shape:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    axis = wrap_dim(dim, input.ndim)
    return axis, slice_bounds(input.shape[axis], start, end)[0]


def _quick_select(input: ndarray, dim: int, index: int) -> ndarray | None:
    if not 0 <= dim < input.ndim or not -input.shape[dim] <= index < input.shape[dim]:
        return None
    where: Any = (*WHOLE[:dim], index, ...)
    return input[where]


def _quick_slice(
    input: ndarray, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> ndarray | None:
    if not 0 <= dim < input.ndim or step < 1:
        return None
    found = input[(*WHOLE[:dim], py_slice(start, end, step))]
    return found if found.size else None  # where nothing is left numpy has another stride


select = view_op("select", _select_meta, select_start, _quick_select)
slice_ = view_op("slice", _slice_meta, slice_start, _quick_slice)
