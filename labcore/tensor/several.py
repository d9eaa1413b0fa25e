"""Functions that give several tensors, or take any number of them: `max(dim)`, `sort`, `topk`,
`split`, `meshgrid`, `einsum` ...

In: tensors.  Out: tuples of tensors, with names (`values`, `indices`) where PyTorch has them.
Invariant: each only calls operators, so on capture's stand-ins it writes their calls. Values are
gathered at the places that an operator found: what is differentiated is the gather.
PyTorch has operators with several results; a graph here has one tensor a node.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from labcore import ops
from labcore.ops.broadcast import broadcast_shapes
from labcore.ops.reductions import wrap_dim

FUNCTIONS: dict[str, Callable[..., Any]] = {}  # what `labcore` and its tensors have besides


def _public(function: Callable[..., Any]) -> Callable[..., Any]:
    FUNCTIONS[function.__name__.strip("_")] = function
    return function


def _result(name: str, *fields: str) -> Any:
    """A named tuple that looks like PyTorch's."""

    def look(self: Any) -> str:
        lines = ",\n".join(f"{field}={value!r}" for field, value in zip(fields, self))
        return f"torch.return_types.{name}(\n{lines})"

    made: Any = namedtuple(name, fields)  # type: ignore[misc]
    made.__repr__ = look  # type: ignore[method-assign]
    return made


RESULTS = {name: _result(name, "values", "indices") for name in "max min median sort topk".split()}
RESULTS["aminmax"] = _result("aminmax", "min", "max")

# ---- the largest, with its place -----------------------------------------------------------------


def _extreme(
    name: str, all_of: Any, of_two: Any, places: Any, input: Any, dim: Any, keepdim: bool
) -> Any:
    if dim is None:
        return all_of(input)
    if hasattr(dim, "meta"):
        return of_two(input, dim)
    found = places(input, dim, True)
    values = ops.gather(input, dim, found)
    if keepdim or not input.shape:
        return RESULTS[name](values, found)
    return RESULTS[name](ops.squeeze(values, dim), ops.squeeze(found, dim))


@_public
def max(input: Any, dim: Any = None, keepdim: bool = False, other: Any = None) -> Any:
    """Of all elements; of each row along `dim`, with its place; or of two tensors, one by one."""
    dim = other if other is not None else dim
    return _extreme("max", ops.amax, ops.maximum, ops.argmax, input, dim, keepdim)


@_public
def min(input: Any, dim: Any = None, keepdim: bool = False, other: Any = None) -> Any:
    """The smallest, in the same three ways as `max`."""
    dim = other if other is not None else dim
    return _extreme("min", ops.amin, ops.minimum, ops.argmin, input, dim, keepdim)


@_public
def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    places = ops.argsort(input, dim, descending, stable)
    return RESULTS["sort"](ops.gather(input, dim, places), places)


@_public
def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    places = ops._argtopk(input, k, dim, largest, sorted)
    return RESULTS["topk"](ops.gather(input, dim, places), places)


@_public
def median(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower of the two in the middle."""
    flat = ops.reshape(input, (-1,)) if dim is None else input
    axis = wrap_dim(0 if dim is None else dim, len(flat.shape))
    places = ops.argsort(flat, axis)
    middle = (flat.shape[axis] - 1) // 2
    found = ops.clone(ops.slice(places, axis, middle, middle + 1), True)
    values = ops.gather(flat, axis, found)
    if dim is None:
        return ops.reshape(values, ())
    if keepdim:
        return RESULTS["median"](values, found)
    return RESULTS["median"](ops.squeeze(values, axis), ops.squeeze(found, axis))


def _of_floats(name: str, input: Any) -> None:
    if not input.dtype.is_floating_point:
        raise RuntimeError(f"{name} only support floating point and complex dtypes")


@_public
def var_mean(input: Any, dim: Any = None, **how: Any) -> tuple:
    _of_floats("var_mean", input)
    return ops.var(input, dim, **how), ops.mean(input, dim, how.get("keepdim", False))


@_public
def std_mean(input: Any, dim: Any = None, **how: Any) -> tuple:
    _of_floats("std_mean", input)
    return ops.std(input, dim, **how), ops.mean(input, dim, how.get("keepdim", False))


@_public
def aminmax(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    over = () if dim is None else dim
    return RESULTS["aminmax"](ops.amin(input, over, keepdim), ops.amax(input, over, keepdim))


# ---- parts ---------------------------------------------------------------------------------------


@_public
def split(input: Any, split_size_or_sections: Any, dim: int = 0) -> tuple:
    """Views of this size along `dim` (the last one what is left), or of these sizes."""
    axis = wrap_dim(dim, len(input.shape))
    size = input.shape[axis]
    if isinstance(split_size_or_sections, (tuple, list)):
        sizes = list(split_size_or_sections)
        if sum(sizes) != size:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's "
                f"size at dimension {axis}), but got split_sizes={sizes}"
            )
    else:
        one = split_size_or_sections
        if one < 0 or one == 0 and size:
            raise RuntimeError(
                f"split expects split_size be non-negative, but got split_size={one}"
                if one < 0
                else "split_size can only be 0 if dimension size is 0, but got dimension size of "
                f"{size}"
            )
        whole = size // one if one else 0
        sizes = [one] * whole + ([size - one * whole] if size - one * whole or not size else [])
    found, start = [], 0
    for one in sizes:
        found.append(ops.slice(input, axis, start, start + one))
        start += one
    return tuple(found)


@_public
def chunk(input: Any, chunks: int, dim: int = 0) -> tuple:
    """At most so many views of one size, the last one perhaps smaller."""
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = input.shape[wrap_dim(dim, len(input.shape))]
    if not size:
        return split(input, [0] * chunks, dim)
    return split(input, -(-size // chunks), dim)


@_public
def unbind(input: Any, dim: int = 0) -> tuple:
    axis = wrap_dim(dim, len(input.shape))
    return tuple([ops.select(input, axis, k) for k in range(input.shape[axis])])


@_public
def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple:
    """Each tensor's values along an axis of its own, repeated along the others."""
    given = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], list) else [*tensors]
    if indexing == "xy" and len(given) > 1:
        given[:2] = given[1::-1]
    shape = tuple(t.numel() if hasattr(t, "numel") else t.meta.numel for t in given)
    grids = [
        ops.expand(ops.view(t, (1,) * k + (-1,) + (1,) * (len(given) - k - 1)), shape)
        for k, t in enumerate(given)
    ]
    if indexing == "xy" and len(grids) > 1:
        grids[:2] = grids[1::-1]
    return tuple(grids)


@_public
def broadcast_tensors(*tensors: Any) -> tuple:
    shape = broadcast_shapes(*[t.shape for t in tensors])
    return tuple(ops.expand(t, shape) for t in tensors)


def _at_least(ndim: int, tensor: Any) -> Any:
    missing = ndim - len(tensor.shape)
    return ops.view(tensor, (1,) * missing + tuple(tensor.shape)) if missing > 0 else tensor


@_public
def hstack(tensors: Sequence[Any]) -> Any:
    given = [_at_least(1, t) for t in tensors]
    return ops.cat(given, 0 if len(given[0].shape) == 1 else 1)


@_public
def vstack(tensors: Sequence[Any]) -> Any:
    return ops.cat([_at_least(2, t) for t in tensors], 0)


# ---- sums of products ----------------------------------------------------------------------------


@_public
def einsum(equation: str, *operands: Any) -> Any:
    """Sums of products by the letters of their axes: "bij,bjk->bik" is a batched matmul."""
    given = list(operands[0]) if len(operands) == 1 and _many(operands[0]) else [*operands]
    letters, out = _letters(equation, [len(t.shape) for t in given])
    parts = [_without_repeats(*pair) for pair in zip(given, letters)]
    _check_sizes(parts)
    tensor, names = parts.pop(0)
    while parts:
        other, others = parts.pop(0)
        later = {*out, *(n for _, rest in parts for n in rest)}
        tensor, names = _contracted(tensor, names, other, others, later)
    over = tuple(k for k, n in enumerate(names) if n not in out)
    if over:
        tensor = ops.sum(tensor, over)
    names = [n for n in names if n in out]
    return ops.permute(tensor, tuple(names.index(n) for n in out))


def _many(value: Any) -> bool:
    return isinstance(value, (tuple, list))


def _letters(equation: str, ndims: list[int]) -> tuple[list[list[str]], list[str]]:
    """The names of each operand's axes, and of the result's; an ellipsis becomes numbered names."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ndims):
        more = "more" if len(ndims) > len(terms) else "fewer"
        raise RuntimeError(
            f"einsum(): {more} operands were provided than specified in the equation"
        )
    extra = 0
    for term, ndim in zip(terms, ndims):
        named = len(term.replace("...", ""))
        if "..." not in term and named != ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) does not match the "
                f"number of dimensions ({ndim}) for operand {terms.index(term)} and no ellipsis "
                "was given"
            )
        if "..." in term:
            extra = extra if extra > ndim - named else ndim - named

    def names(term: str, count: int) -> list[str]:
        before, dots, after = term.partition("...")
        middle = [f"...{k}" for k in range(extra - count, extra)] if dots else []
        return [*before, *middle, *after]

    found = [names(t, n - len(t.replace("...", ""))) for t, n in zip(terms, ndims)]
    if arrow:
        return found, names(right, extra)
    flat = [n for one in found for n in one]
    once = sorted(n for n in set(flat) if not n.startswith("...") and flat.count(n) == 1)
    return found, [f"...{k}" for k in range(extra)] + once


def _without_repeats(tensor: Any, names: list[str]) -> tuple[Any, list[str]]:
    """The diagonal along axes of one name."""
    names = list(names)
    for name in [n for n in dict.fromkeys(names) if names.count(n) > 1]:
        while names.count(name) > 1:
            first = names.index(name)
            second = names.index(name, first + 1)
            size = tensor.shape[first]
            tensor = ops.movedim(tensor, (first, second), (-2, -1))
            on = ops.eye(size, size, dtype=ops.eq.meta(tensor.meta, 0).dtype)
            tensor = ops.sum(ops.where(on, tensor, False), -1)
            names = [n for k, n in enumerate(names) if k not in (first, second)] + [name]
    return tensor, names


def _check_sizes(parts: list[tuple[Any, list[str]]]) -> None:
    sizes: dict[str, int] = {}
    for number, (tensor, names) in enumerate(parts):
        for name, size in zip(names, tensor.shape):
            known = sizes.setdefault(name, size)
            if known != size and 1 not in (known, size):
                raise RuntimeError(
                    f"einsum(): subscript {name} has size {size} for operand {number} which does "
                    f"not broadcast with previously seen size {known}"
                )
            if known == 1:
                sizes[name] = size


def _contracted(
    a: Any, first: list[str], b: Any, second: list[str], later: set[str]
) -> tuple[Any, list[str]]:
    """Two operands made one by a batched matmul; axes that nobody needs later are summed."""
    for name in [n for n in first if n in second]:  # sizes of 1 that broadcast are summed alone
        if a.shape[first.index(name)] != b.shape[second.index(name)]:
            return _multiplied(a, first, b, second)
    a, first = _summed(a, first, {*second, *later})
    b, second = _summed(b, second, {*first, *later})
    batch = [n for n in first if n in second and n in later]
    inner = [n for n in first if n in second and n not in later]
    rows = [n for n in first if n not in second]
    columns = [n for n in second if n not in first]
    sizes = {**dict(zip(first, a.shape)), **dict(zip(second, b.shape))}

    def matrix(tensor: Any, names: list[str], *groups: list[str]) -> Any:
        order = tuple(names.index(n) for group in (batch, *groups) for n in group)
        shape = tuple(sizes[n] for n in batch)
        for group in groups:
            size = 1
            for n in group:
                size *= sizes[n]
            shape += (size,)
        return ops.reshape(ops.permute(tensor, order), shape)

    found = ops.matmul(matrix(a, first, rows, inner), matrix(b, second, inner, columns))
    names = [*batch, *rows, *columns]
    return ops.reshape(found, tuple(sizes[n] for n in names)), names


def _summed(tensor: Any, names: list[str], needed: set[str]) -> tuple[Any, list[str]]:
    over = tuple(k for k, n in enumerate(names) if n not in needed)
    return (ops.sum(tensor, over) if over else tensor), [n for n in names if n in needed]


def _multiplied(a: Any, first: list[str], b: Any, second: list[str]) -> tuple[Any, list[str]]:
    """Element by element, over all axes of both."""
    names = [*first, *(n for n in second if n not in first)]

    def spread(tensor: Any, own: list[str]) -> Any:
        tensor = ops.permute(tensor, tuple(own.index(n) for n in names if n in own))
        for place, name in enumerate(names):
            if name not in own:
                tensor = ops.unsqueeze(tensor, place)
        return tensor

    return ops.mul(spread(a, first), spread(b, second)), names
