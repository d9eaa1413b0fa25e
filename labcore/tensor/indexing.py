"""`x[...]` and `x[...] = value`.

In: what stands between the brackets: ints, slices, None, Ellipsis, tensors of integers, masks.
Out: a chain of view operators, and one `_index` where tensors index.
Invariant: without tensors in it reading gives a view, never a copy; writing is `copy_` or `fill_`
on that view, of what `_index_put` or `where` makes of it where tensors index.
How many elements a mask reads depends on its values: that is eager only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from labcore import dtypes, ops
from labcore.shapes import SymInt, SymNumber, surely_equal, to_int

from .cuda import to_host

if TYPE_CHECKING:
    pass


def getitem(tensor: Any, index: Any) -> Any:
    """The view that `index` names; a copy where tensors index."""
    if type(index) is int and tensor.shape:
        return _select(tensor, 0, index, 0)
    view, places = _viewed(tensor, index)
    return ops._index(view, _all_places(view, places)) if places else view


Places = dict[int, Any]  # axis of the view -> the tensor that indexes from there on


def _viewed(tensor: Any, index: Any) -> tuple[Any, Places]:
    """The view that the rest of the index names, and where tensors index it."""
    view, places = tensor, {}
    dim = 0
    for number, item in enumerate(_complete(tensor, index)):
        if _indexes(item):
            if not item.shape:  # one bool chooses all or nothing along an axis of its own
                view, item = ops.unsqueeze(view, dim), ops.view(item, (1,))
            places[dim] = item
            dim += _axes(item)
        elif item is None:
            view = ops.unsqueeze(view, dim)
            dim += 1
        elif isinstance(item, slice):
            view = _slice(view, dim, item)
            dim += 1
        else:
            view = _select(view, dim, item, number)
    if view is tensor and not places:
        view = ops.slice(view, 0, None, None, 1) if view.shape else ops.view(view, ())
    return view, places


def _indexes(item: Any) -> bool:
    """Is it a tensor that indexes, and no number?"""
    return hasattr(item, "dtype") and hasattr(item, "meta") and _is_array(item)


def _is_array(item: Any) -> bool:
    return bool(item.shape) or item.dtype is dtypes.bool


def _axes(item: Any) -> int:
    """How many axes an item of an index takes."""
    if item is None or item is Ellipsis:
        return 0
    return len(item.shape) if _indexes(item) and item.dtype is dtypes.bool else 1


def _all_places(view: Any, places: Places) -> tuple:
    """The indices of `_index`: one for each axis, None for a whole one."""
    found: list[Any] = [None] * len(view.shape)
    for dim, item in places.items():
        if item.dtype is not dtypes.bool:
            found[dim] = item
            continue
        _check_mask(view, dim, item)
        found[dim : dim + len(item.shape)] = _where_true(item)
    return tuple(found)


def _check_mask(view: Any, dim: int, mask: Any) -> None:
    for axis, size in enumerate(mask.shape):
        if view.shape[dim + axis] != size:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {axis} does not match the "
                f"shape of the indexed tensor {list(view.shape)} at index {dim + axis}"
            )


def _where_true(mask: Any) -> list[Any]:
    from .factories import from_numpy

    found = [from_numpy(places) for places in np.nonzero(to_host(mask.array))]
    return [places.to(mask.device) for places in found]


def setitem(tensor: Any, index: Any, value: Any) -> None:
    """Write `value`, broadcast, into what `index` names."""
    view, places = (tensor, {}) if index is Ellipsis else _viewed(tensor, index)
    if places:
        ops.copy_(view, _overwritten(view, places, value))
        return
    if isinstance(value, (int, float, np.generic, SymNumber)):
        ops.fill_(view, value)
        return
    if not hasattr(value, "shape"):
        raise TypeError(
            f"can't assign a {type(value).__name__} to a torch.{tensor.dtype.title}Tensor"
        )
    if isinstance(value, np.ndarray):
        from .factories import from_numpy

        value = from_numpy(value)
    while len(value.shape) > len(view.shape) and value.shape[0] == 1:
        value = ops.select(value, 0, 0)  # leading axes of size 1 do not count
    if tuple(value.shape) != tuple(view.shape):
        value = ops.expand(value, tuple(view.shape))
    ops.copy_(view, value)


def _overwritten(view: Any, places: Places, value: Any) -> Any:
    """The view's values after the write. One value at a mask is a choice for each element."""
    if not hasattr(value, "meta"):
        value = ops.full((), value, view.dtype)
    dim, mask = next(iter(places.items()))
    if len(places) == 1 and mask.dtype is dtypes.bool and not value.shape:
        _check_mask(view, dim, mask)
        after = len(view.shape) - dim - len(mask.shape)
        return ops.where(ops.view(mask, (*mask.shape, *[1] * after)), value, view)
    if value.dtype is not view.dtype:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {view.dtype.title} "
            f"for the destination and {value.dtype.title} for the source."
        )
    return ops._index_put(view, _all_places(view, places), value)


def _complete(tensor: Any, index: Any) -> list[Any]:
    """The index as a list with the Ellipsis spelled out. Raises for what cannot index."""
    items = list(index) if isinstance(index, tuple) else [index]
    for item in items:
        _check_item(item)
    axes = sum(_axes(item) for item in items)
    ndim = len(tensor.shape)
    if not ndim and axes:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
        )
    if axes > ndim:
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    places = [place for place, item in enumerate(items) if item is Ellipsis]
    for place in reversed(places):  # the first stands for all remaining axes, another one for none
        items[place : place + 1] = [slice(None)] * (ndim - axes) if place == places[0] else []
    return items


def _check_item(item: Any) -> None:
    if item is None or item is Ellipsis or isinstance(item, slice):
        return
    if isinstance(item, (bool, np.bool_)):
        raise IndexError(
            "indexing by a bool is not supported: x[None] adds an axis, torch.where selects by "
            "a mask"
        )
    if isinstance(item, (int, np.integer, SymInt)):
        return
    if hasattr(item, "dtype") and hasattr(item, "shape"):
        if item.dtype in (dtypes.int64, dtypes.int32, dtypes.bool) and hasattr(item, "meta"):
            return
        raise IndexError(
            "tensors used as indices must be long, int, byte or bool tensors"
        )
    if isinstance(item, (list, range)):
        raise IndexError(
            "indexing by a list is not supported: make it a tensor (torch.tensor([...]))"
        )
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
        f"valid indices (got {type(item).__name__})"
    )


def _select(view: Any, dim: int, item: Any, number: int) -> Any:
    index, size = to_int(item), view.shape[dim]
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for dimension {number} with size {size}")
    return ops.select(view, dim, index)


def _is_end(stop: Any, size: Any) -> bool:
    """Does a slice up to there reach the end? What is at the end only for the sizes seen is no
    reason for another program."""
    return stop is None or stop > size or surely_equal((stop,), (size,))


def _slice(view: Any, dim: int, item: slice) -> Any:
    step = 1 if item.step is None else to_int(item.step)
    if step <= 0:
        raise ValueError("step must be greater than zero")
    start = None if item.start is None else to_int(item.start)
    stop = None if item.stop is None else to_int(item.stop)
    if step == 1 and start in (None, 0) and _is_end(stop, view.shape[dim]):
        return view  # the whole axis
    return ops.slice(view, dim, start, stop, step)
