"""Other names and small changes of shape: `narrow repeat roll triu movedim` ...

In: a tensor, axes, sizes.  Out: a view where PyTorch gives one, else a new tensor.
Invariant: each is a function over views, joins and comparisons of positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..devices import placing
from ..dtypes import dtype as DType
from . import composites, factories, joining, pointwise, views  # noqa: F401  their parts
from .derivatives import derivative, meta_of
from .op import Table
from .parts import check_no_bool, composite, decomposed
from .promote import LARGEST
from .reductions import wrap_dim
from .views import infer_size

ops = Table()

# ---- views ---------------------------------------------------------------------------------------


@composite("torch Tensor")
def narrow(input: Any, dim: int, start: int, length: int) -> Any:
    meta = meta_of(input)
    if not meta.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    size = meta.shape[wrap_dim(dim, meta.ndim)]
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -size <= start <= size:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-size}, {size}], but got "
            f"{start})"
        )
    start = start + size if start < 0 else start
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return ops.slice(input, dim, start, start + length)


@composite("torch Tensor")
def movedim(input: Any, source: Any, destination: Any) -> Any:
    ndim = meta_of(input).ndim
    given, wanted = (
        [wrap_dim(d, ndim) for d in ([axes] if isinstance(axes, int) else axes)]
        for axes in (source, destination)
    )
    if len(given) != len(wanted):
        raise RuntimeError(
            "movedim: Invalid source or destination dims: source ("
            f"{given} dims) should contain the same number of dims as destination ({wanted} dims)"
        )
    if not ndim:
        return ops.view(input, ())
    order = [d for d in range(ndim) if d not in given]
    for to, axis in sorted(zip(wanted, given)):
        order.insert(to, axis)
    return ops.permute(input, tuple(order))


@composite("torch Tensor")
def swapaxes(input: Any, axis0: int, axis1: int) -> Any:
    return ops.transpose(input, axis0, axis1)


@composite("torch Tensor")
def broadcast_to(input: Any, size: Sequence[int]) -> Any:
    return ops.expand(input, size)


@composite("torch Tensor")
def unflatten(input: Any, dim: int, sizes: Sequence[int]) -> Any:
    shape = meta_of(input).shape
    axis = wrap_dim(dim, len(shape))
    try:
        sizes = infer_size(sizes, shape[axis])
    except RuntimeError:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {axis} "
            f"({shape[axis]}) in the input tensor"
        ) from None
    return ops.view(input, (*shape[:axis], *sizes, *shape[axis + 1 :]))


@composite("torch Tensor")
def ravel(input: Any) -> Any:
    return ops.reshape(ops.contiguous(input), (-1,))


# ---- copies --------------------------------------------------------------------------------------


@composite("Tensor")
def repeat(input: Any, repeats: Sequence[int]) -> Any:
    """All of it, so many times along each axis; more numbers than axes add axes in front."""
    shape = meta_of(input).shape
    extra = len(repeats) - len(shape)
    if extra < 0:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    shape = (1,) * extra + tuple(shape)
    if not shape:
        return ops.clone(input)
    pairs = [n for one, n in zip(repeats, shape) for n in (one, n)]
    between = ops.view(input, tuple(n for size in shape for n in (1, size)))
    whole = ops.clone(ops.expand(between, tuple(pairs)), True)
    return ops.view(whole, tuple(one * n for one, n in zip(repeats, shape)))


@composite("torch Tensor")
def tile(input: Any, dims: Sequence[int]) -> Any:
    missing = meta_of(input).ndim - len(dims)
    return ops.repeat(input, (1,) * max(missing, 0) + tuple(dims))


@composite("torch Tensor")
def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """What falls off at one end comes in at the other."""
    shape = meta_of(input).shape
    if dims is None:
        flat = ops.reshape(input, (-1,))
        return ops.view(ops.roll(flat, shifts, 0), tuple(shape))
    steps = [shifts] if isinstance(shifts, int) else list(shifts)
    axes = [dims] if isinstance(dims, int) else list(dims)
    if len(steps) != len(axes):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(steps)}, dims:{len(axes)}"
        )
    moved = False
    for step, axis in zip(steps, axes):
        if not shape:
            raise IndexError(f"Dimension specified as {axis} but tensor has no dimensions")
        size = shape[wrap_dim(axis, len(shape))]
        cut = (size - step) % size if size else 0
        if cut:
            ends = ops.slice(input, axis, cut, size), ops.slice(input, axis, 0, cut)
            input, moved = ops.cat(list(ends), axis), True
    return input if moved else ops.clone(input)


@composite("torch Tensor")
def diff(input: Any, n: int = 1, dim: int = -1) -> Any:
    if not meta_of(input).ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    for _ in range(n):
        size = meta_of(input).shape[wrap_dim(dim, meta_of(input).ndim)]
        after, before = ops.slice(input, dim, 1, size), ops.slice(input, dim, 0, max(size - 1, 0))
        bools = meta_of(input).dtype is dtypes.bool
        input = ops.logical_xor(after, before) if bools else ops.sub(after, before)
    return input


# ---- triangles -----------------------------------------------------------------------------------


def _beyond_diagonal(name: str, input: Any, diagonal: int) -> tuple[Any, Any]:
    """(columns minus rows, the diagonal)."""
    meta = meta_of(input)
    if meta.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    rows, columns = meta.shape[-2:]
    return ops.sub(ops.arange(columns), ops.unsqueeze(ops.arange(rows), 1)), diagonal


@composite("torch Tensor")
def triu(input: Any, diagonal: int = 0) -> Any:
    kept = ops.ge(*_beyond_diagonal("triu", input, diagonal))
    return ops.contiguous(ops.where(kept, input, False))


@composite("torch Tensor")
def tril(input: Any, diagonal: int = 0) -> Any:
    kept = ops.le(*_beyond_diagonal("tril", input, diagonal))
    return ops.contiguous(ops.where(kept, input, False))


@composite("torch")
def eye(
    n: int, m: int | None = None, dtype: DType | None = None, device: Any = None
) -> Any:
    where = placing(device)
    rows, columns = ops.arange(n, **where), ops.arange(n if m is None else m, **where)
    return ops.to(ops.eq(ops.unsqueeze(rows, 1), columns), dtype or dtypes.default)


@composite("Tensor")  # `labcore.trace` is the room of that name
def trace(input: Any) -> Any:
    meta = meta_of(input)
    if meta.ndim != 2:
        raise RuntimeError("trace: expected a matrix, but got tensor with dim " + str(meta.ndim))
    check_no_bool("trace", meta.dtype)
    on_diagonal = ops.eq(*_beyond_diagonal("trace", input, 0))
    return ops.sum(ops.where(on_diagonal, input, False))


# ---- numbers -------------------------------------------------------------------------------------


@composite("torch Tensor")
def round(input: Any, decimals: int = 0) -> Any:
    """To even where two are equally near."""
    if not decimals:
        return ops._round(input)
    scale = 10.0 ** abs(decimals)
    first, then = (ops.mul, ops.div) if decimals > 0 else (ops.div, ops.mul)
    return then(ops._round(first(input, scale)), scale)


@composite("torch Tensor", "frac_cpu")
def frac(input: Any) -> Any:
    return ops.sub(input, ops.trunc(input))


@composite("torch Tensor")
def nan_to_num(
    input: Any, nan: float | None = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Any:
    type_ = meta_of(input).dtype
    if not type_.is_floating_point:
        return ops.clone(input)
    top = LARGEST[type_]
    found = ops.where(ops.isnan(input), 0.0 if nan is None else nan, input)
    found = ops.where(ops.eq(input, float("inf")), top if posinf is None else posinf, found)
    return ops.where(ops.eq(input, float("-inf")), -top if neginf is None else neginf, found)


@decomposed("torch Tensor", "logaddexp_cpu")
def logaddexp(input: Any, other: Any) -> Any:
    larger, apart = ops.maximum(input, other), ops.neg(ops.abs(ops.sub(input, other)))
    found = ops.add(larger, ops.log1p(ops.exp(apart)))
    same = ops.logical_and(ops.eq(input, other), ops.isinf(input))
    return ops.where(same, input, found)


derivative(
    "logaddexp",
    input=lambda grad, input, other: _share(grad, input, other),
    other=lambda grad, input, other: _share(grad, other, input),
)


def _share(grad: Any, ours: Any, theirs: Any) -> Any:
    return ops.div(grad, ops.add(ops.exp(ops.sub(theirs, ours)), 1))


@decomposed("torch Tensor")
def xlogy(input: Any, other: Any) -> Any:
    """input * log(other); 0 where input is 0, but nan where other is."""
    other = _logarithm_of(input, other)
    product = ops.mul(input, ops.log(other))
    product = ops.where(ops.eq(input, 0), 0.0, product)
    return ops.where(ops.isnan(other), float("nan"), product)


def _logarithm_of(input: Any, other: Any) -> Any:
    """A number as a tensor of the type that its logarithm has beside `input`."""
    if meta_of(other) is not None:
        return other
    return ops.full((), other, ops.div.meta(meta_of(input), other).dtype)


def _xlogy_input(grad: Any, input: Any, other: Any) -> Any:
    other = _logarithm_of(input, other)
    nothing = ops.logical_and(ops.eq(input, 0), ops.le(other, 0))
    return ops.mul(grad, ops.where(nothing, 0.0, ops.log(other)))


derivative(
    "xlogy",
    input=_xlogy_input,
    other=lambda grad, input, other: ops.mul(grad, ops.div(input, other)),
)


@composite("torch Tensor")
def clamp_min(input: Any, min: Any) -> Any:
    return ops.clamp(input, min)


@composite("torch Tensor")
def clamp_max(input: Any, max: Any) -> Any:
    return ops.clamp(input, None, max)

