"""Products made of `matmul`: `linear mm bmm addmm einsum scaled_dot_product_attention` ...

In: matrices, vectors, batches of them.  Out: a new tensor.
Invariant: each is a function over `matmul`, views and pointwise operators, so its gradient is
theirs, and what surrounds the product fuses.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

from .. import dtypes
from . import activations, linear as _linear  # noqa: F401  their parts
from .derivatives import meta_of
from .op import Table
from .parts import check_float, check_no_bool, composite
from .reductions import wrap_dim

ops = Table()


@composite("F")
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """input @ weight.T + bias, over the last axis."""
    found = ops.matmul(input, ops.t(weight))
    return found if bias is None else ops.add(found, bias)


# ---- matmul for tensors of given numbers of axes -------------------------------------------------


@composite("torch Tensor")
def mm(input: Any, mat2: Any) -> Any:
    for which, tensor in (("self", input), ("mat2", mat2)):
        if meta_of(tensor).ndim != 2:
            raise RuntimeError(f"{which} must be a matrix")
    return ops.matmul(input, mat2)


@composite("torch Tensor")
def bmm(input: Any, mat2: Any) -> Any:
    first, second = meta_of(input), meta_of(mat2)
    for which, meta in (("batch1", first), ("batch2", second)):
        if meta.ndim != 3:
            raise RuntimeError(f"{which} must be a 3D tensor")
    if second.shape[:2] != (first.shape[0], first.shape[2]):
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: ["
            f"{first.shape[0]}, {first.shape[2]}] but got: [{second.shape[0]}, {second.shape[1]}]."
        )
    return ops.matmul(input, mat2)


@composite("torch Tensor")
def mv(input: Any, vec: Any) -> Any:
    if (meta_of(input).ndim, meta_of(vec).ndim) != (2, 1):
        raise RuntimeError(
            f"vector + matrix @ vector expected, got 1, {meta_of(input).ndim}, {meta_of(vec).ndim}"
        )
    return ops.matmul(input, vec)


@composite("torch Tensor")
def dot(input: Any, tensor: Any) -> Any:
    if (meta_of(input).ndim, meta_of(tensor).ndim) != (1, 1):
        raise RuntimeError(
            f"1D tensors expected, but got {meta_of(input).ndim}D and {meta_of(tensor).ndim}D "
            "tensors"
        )
    return ops.matmul(input, tensor)


@composite("torch Tensor")
def outer(input: Any, vec2: Any) -> Any:
    for which, tensor in (("self", input), ("vec2", vec2)):
        if meta_of(tensor).ndim != 1:
            raise RuntimeError(
                f"outer: Expected 1-D argument {which}, but got {meta_of(tensor).ndim}-D"
            )
    return ops.mul(ops.unsqueeze(input, 1), vec2)


def _plus(input: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """beta * input + alpha * product; with a beta of 0 nothing of the input, not even a nan. Among
    integers the two are integers."""
    if not meta_of(product).dtype.is_floating_point:
        beta, alpha = int(beta), int(alpha)
    if alpha != 1:
        product = ops.mul(product, alpha)
    if beta == 0:
        return product
    return ops.add(product, input if beta == 1 else ops.mul(input, beta))


@composite("torch Tensor")
def addmm(input: Any, mat1: Any, mat2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    for which, tensor in (("mat1", mat1), ("mat2", mat2)):
        if meta_of(tensor).ndim != 2:
            raise RuntimeError(f"{which} must be a matrix, got {meta_of(tensor).ndim}-D tensor")
    check_no_bool("addmm_impl_cpu_", meta_of(mat1).dtype)
    return _plus(input, ops.matmul(mat1, mat2), beta, alpha)


@composite("torch Tensor")
def addmv(input: Any, mat: Any, vec: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    return _plus(input, ops.mv(mat, vec), beta, alpha)


@composite("torch Tensor")
def baddbmm(input: Any, batch1: Any, batch2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    check_no_bool("baddbmm", meta_of(batch1).dtype)
    return _plus(input, ops.bmm(batch1, batch2), beta, alpha)


@composite("torch Tensor")
def addcmul(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Any:
    product = ops.mul(tensor1, tensor2)
    common = ops.add.meta(meta_of(input), meta_of(product)).dtype
    check_no_bool("addcmul_cpu_out", common)
    if not common.is_floating_point:
        value = int(value)
    return ops.add(input, product if value == 1 else ops.mul(product, value))


@composite("torch Tensor")
def addcdiv(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Any:
    if not any(meta_of(tensor).dtype.is_floating_point for tensor in (tensor1, tensor2)):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release "
            "addcdiv will perform a true division of tensor1 and tensor2. The historic addcdiv "
            "behavior can be implemented as (input + value * torch.trunc(tensor1 / tensor2)).to"
            "(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for float "
            "inputs. The future addcdiv behavior is just the latter implementation: (input + value "
            "* tensor1 / tensor2), for all dtypes."
        )
    quotient = ops.div(tensor1, tensor2)
    return ops.add(input, quotient if value == 1 else ops.mul(quotient, value))


@composite("torch Tensor")
def lerp(input: Any, end: Any, weight: Any) -> Any:
    """input + weight * (end - input)."""
    kernel = "lerp_kernel_scalar" if meta_of(weight) is None else "lerp_kernel_tensor"
    check_float(kernel, meta_of(input).dtype)
    return ops.add(input, ops.mul(ops.sub(end, input), weight))


@composite("torch")
def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """Sums over the last `dims` axes of `a` and the first of `b`, or over the two lists given."""
    first, second = meta_of(a), meta_of(b)
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got {dims=}")
        if dims > min(first.ndim, second.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got {dims=}")
        over = list(range(first.ndim - dims, first.ndim)), list(range(dims))
    else:
        over = (
            [wrap_dim(d, first.ndim) for d in dims[0]],
            [wrap_dim(d, second.ndim) for d in dims[1]],
        )
    left = [d for d in range(first.ndim) if d not in over[0]]
    right = [d for d in range(second.ndim) if d not in over[1]]
    inner = 1
    for x, y in zip(*over):
        if first.shape[x] != second.shape[y]:
            raise RuntimeError(
                "contracted dimensions need to match, but first has size "
                f"{first.shape[x]} in dim {x} and second has size {second.shape[y]} in dim {y}"
            )
        inner *= first.shape[x]
    rows = ops.reshape(ops.permute(a, (*left, *over[0])), (_product(first, left), inner))
    columns = ops.reshape(ops.permute(b, (*over[1], *right)), (inner, _product(second, right)))
    shape = (*(first.shape[d] for d in left), *(second.shape[d] for d in right))
    return ops.view(ops.matmul(rows, columns), shape)


def _product(meta: Any, axes: list[int]) -> int:
    size = 1
    for axis in axes:
        size *= meta.shape[axis]
    return size


# ---- attention -----------------------------------------------------------------------------------


@composite("F")
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """softmax(query @ key.T * scale + mask) @ value.

    A mask of bools says which keys take part, one of numbers is added. With `is_causal` a query
    sees the keys up to its own place. A query that may see no key gets zeros.
    """
    asked, known, given = (meta_of(tensor).shape for tensor in (query, key, value))
    if min(len(asked), len(known), len(given)) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{len(asked)} key.dim: {len(known)} and value.dim: {len(given)} instead."
        )
    if not meta_of(query).dtype.is_floating_point:
        raise RuntimeError(f"expected scalar type Float but found {meta_of(query).dtype.title}")
    if scale is None:
        scale = 1 / sqrt(asked[-1]) if asked[-1] else 1.0
    if enable_gqa:
        times = asked[-3] // known[-3]
        key, value = ops.repeat_interleave(key, times, -3), ops.repeat_interleave(value, times, -3)
    scores = ops.mul(ops.matmul(query, ops.transpose(key, -2, -1)), scale)
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError(
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
                "is_causal=True"
            )
        attn_mask = ops.le(ops.arange(known[-2]), ops.unsqueeze(ops.arange(asked[-2]), 1))
    if attn_mask is not None:
        if meta_of(attn_mask).dtype is dtypes.bool:
            scores = ops.where(attn_mask, scores, -inf)
        else:
            scores = ops.add(scores, attn_mask)
    weights = ops.softmax(scores, -1)
    if attn_mask is not None:
        unseen = ops.eq(ops.amax(scores, -1, True), -inf)
        weights = ops.where(unseen, 0.0, weights)
    return ops.matmul(ops.dropout(weights, dropout_p), value)
