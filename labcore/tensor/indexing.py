"""`x[...]` and `x[...] = value`.

In: what stands between the brackets: ints, slices, None, Ellipsis.  Out: a chain of view operators.
Invariant: reading gives a view, never a copy; writing is `copy_` or `fill_` on that view.
Left out: indexing by tensors and masks (PyTorch's index and index_put_), which copies; here it is
an error that says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from labcore import dtypes, ops
from labcore.shapes import SymInt, SymNumber, to_int

if TYPE_CHECKING:
    pass


def getitem(tensor: Any, index: Any) -> Any:
    """The view that `index` names."""
    if type(index) is int and tensor.shape:
        return _select(tensor, 0, index, 0)
    view = tensor
    dim = 0
    for number, item in enumerate(_complete(tensor, index)):
        if item is None:
            view = ops.unsqueeze(view, dim)
            dim += 1
        elif isinstance(item, slice):
            view = _slice(view, dim, item)
            dim += 1
        else:
            view = _select(view, dim, item, number)
    return (
        ops.slice(view, 0, None, None, 1)
        if view is tensor and view.shape
        else _distinct(view, tensor)
    )


def setitem(tensor: Any, index: Any, value: Any) -> None:
    """Write `value`, broadcast, into the view that `index` names."""
    view = tensor if index is Ellipsis else getitem(tensor, index)
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


def _distinct(view: Any, tensor: Any) -> Any:
    """A 0-d tensor's `x[...]` is a new view too."""
    return ops.view(view, ()) if view is tensor else view


def _complete(tensor: Any, index: Any) -> list[Any]:
    """The index as a list with the Ellipsis spelled out. Raises for what cannot index."""
    items = list(index) if isinstance(index, tuple) else [index]
    for item in items:
        _check_item(item)
    axes = sum(item is not None and item is not Ellipsis for item in items)
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
        if not item.shape and item.dtype in (dtypes.int64, dtypes.int32):
            return
        raise IndexError(
            f"indexing by a tensor ({item.dtype.name}{list(item.shape)}) is not supported: an "
            "index is made of ints, slices, None and Ellipsis; torch.where selects by a mask"
        )
    if isinstance(item, (list, range)):
        raise IndexError(
            "indexing by a list is not supported: an index is made of ints, slices, None and "
            "Ellipsis"
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


def _slice(view: Any, dim: int, item: slice) -> Any:
    step = 1 if item.step is None else to_int(item.step)
    if step <= 0:
        raise ValueError("step must be greater than zero")
    start = None if item.start is None else to_int(item.start)
    stop = None if item.stop is None else to_int(item.stop)
    if step == 1 and start in (None, 0) and (stop is None or stop >= view.shape[dim]):
        return view  # the whole axis
    return ops.slice(view, dim, start, stop, step)
