"""Operators that combine whole tensors: `matmul`, the one primitive of its kind.

In: arrays.  Out: a new contiguous array.
Invariant: operands of `matmul` have one type; a vector counts as a row on the left and as a column
on the right.
PyTorch splits matmul into mm, mv, dot and bmm and hands them to BLAS; numpy hands it to BLAS too.
"""

from __future__ import annotations

import numpy as np

from .. import dtypes
from ..graph import TensorMeta
from .arrays import empty, in_float32, meta_of, ndarray
from .broadcast import broadcast_shapes
from .op import naming, register


def _matmul_meta(input: TensorMeta, other: TensorMeta) -> TensorMeta:
    if not input.shape or not other.shape:
        raise RuntimeError(
            "both arguments to matmul need to be at least 1D, but they are "
            f"{input.ndim}D and {other.ndim}D"
        )
    _check_inner(input, other)
    _check_types(input, other)
    rows = input.shape[-2:-1]
    columns = other.shape[-1:] if other.ndim > 1 else ()
    batch = broadcast_shapes(input.shape[:-2], other.shape[:-2])
    return TensorMeta.contiguous((*batch, *rows, *columns), input.dtype)


def _check_inner(input: TensorMeta, other: TensorMeta) -> None:
    """The axis that is summed over must have one size; the text depends on who does the work."""
    inner = other.shape[-2] if other.ndim > 1 else other.shape[0]
    if input.shape[-1] == inner:
        return
    if input.ndim == other.ndim == 1:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{input.shape[0]}] and src "
            f"[{other.shape[0]}] to have the same number of elements, but got {input.shape[0]} and "
            f"{other.shape[0]} elements respectively"
        )
    if other.ndim == 1:
        rows = input.numel // max(input.shape[-1], 1)
        raise RuntimeError(
            f"size mismatch, got input ({rows}), mat ({rows}x{input.shape[-1]}), vec ({inner})"
        )
    if other.ndim > 2:
        batch = broadcast_shapes(input.shape[:-2], other.shape[:-2])
        count = TensorMeta.contiguous(batch, input.dtype).numel
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{count}, "
            f"{input.shape[-1]}] but got: [{count}, {inner}]."
        )
    rows = input.numel // max(input.shape[-1], 1)
    raise RuntimeError(
        f"mat1 and mat2 shapes cannot be multiplied ({rows}x{input.shape[-1]} and "
        f"{inner}x{other.shape[-1]})"
    )


def _check_types(input: TensorMeta, other: TensorMeta) -> None:
    """One type on both sides, and not bool; the message again depends on who would do the work."""
    a, b = input.dtype, other.dtype
    case = (
        "bmm"
        if other.ndim > 2
        else ("dot" if input.ndim == other.ndim == 1 else "addmv" if other.ndim == 1 else "addmm")
    )
    if a is not b:
        raise RuntimeError(
            {
                "dot": "dot : expected both vectors to have same dtype, but found "
                f"{a.title} and {b.title}",
                "addmv": "addmv input tensors must have the same dtype, but got "
                f"{b.title}, {a.title}, and {b.title}",
                "bmm": f"expected scalar type {a.title} but found {b.title}",
                "addmm": "expected m1 and m2 to have the same dtype, but got: "
                f"{_C_NAMES[a]} != {_C_NAMES[b]}",
            }[case]
        )
    if a is dtypes.bool:
        kernel = {"addmv": "addmv_impl_cpu", "addmm": "addmm_impl_cpu_"}.get(case, case)
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")


_C_NAMES = {
    dtypes.float32: "float",
    dtypes.float64: "double",
    dtypes.float16: "c10::Half",
    dtypes.bfloat16: "c10::BFloat16",
    dtypes.int64: "long int",
    dtypes.int32: "int",
    dtypes.bool: "bool",
}


def _matmul_kernel(input: ndarray, other: ndarray) -> ndarray:
    """A batch times one matrix is one product of all its rows: numpy would make one of each."""
    out = empty(_matmul(meta_of(input), meta_of(other)))
    with np.errstate(all="ignore"):
        if input.ndim > 2 and other.ndim <= 2 and out.size and input.size:
            rows = input.reshape(-1, input.shape[-1])
            np.matmul(rows, other, out=out.reshape(len(rows), *other.shape[1:]))
        else:
            np.matmul(input, other, out=out)
    return out


_matmul = naming("matmul", _matmul_meta)
register("matmul", "matmul", in_float32(_matmul_kernel, _matmul), _matmul)
