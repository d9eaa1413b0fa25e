"""Operators that write their result into their first operand: `add_`, `relu_`, `copy_` ...

In: an array to be written.  Out: that same array.
Invariant: each has a pure twin, `functional`; its value, converted to the first operand's type, is
what is written.
The written tensor never changes shape or type: what does not fit is an error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..graph import TensorMeta
from . import factories, pointwise  # noqa: F401  the twins' pure halves
from .arrays import empty, meta_of, ndarray, put, quiet, scalar
from .broadcast import broadcast_shapes, is_dense
from .elementwise import is_direct
from .op import OPS, Op, naming, register
from .promote import can_cast

WITH_TWIN = (
    "add sub mul div floor_divide remainder pow eq ne lt le gt ge logical_and logical_or "
    "logical_xor logical_not bitwise_and bitwise_or bitwise_xor bitwise_not relu exp log sqrt "
    "rsqrt sin cos erf tanh sigmoid abs neg sign reciprocal square clamp floor ceil trunc "
    "exp2 expm1 log1p log2 log10 tan asin acos atan sinh cosh asinh acosh atanh atan2 fmod"
).split()


def _check_writable(input: TensorMeta) -> None:
    """No two elements of the written tensor may share memory."""
    if input.numel and any(n > 1 and s == 0 for n, s in zip(input.shape, input.stride)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )


def _check_shape(input: TensorMeta, shape: tuple[int, ...]) -> None:
    if shape != input.shape:
        raise RuntimeError(
            f"output with shape {list(input.shape)} doesn't match the broadcast shape {list(shape)}"
        )


def check_overlap(target: ndarray, operands: Any) -> None:
    """Raise RuntimeError when an operand is another, overlapping part of the written memory."""
    for operand in operands:
        if not isinstance(operand, ndarray) or not np.may_share_memory(target, operand):
            continue
        same = operand.ctypes.data == target.ctypes.data and (
            (operand.shape, operand.strides) == (target.shape, target.strides))
        if not same and all(is_dense(a.shape, _element_strides(a)) for a in (target, operand)):
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to "
                "tensor refer to a single memory location. Please clone() the tensor before "
                "performing the operation."
            )


def _element_strides(array: ndarray) -> tuple[int, ...]:
    return tuple([s // array.itemsize for s in array.strides])


def _twin(functional: Op) -> Op:
    """Register the in-place form of a pointwise operator."""

    def meta(input: TensorMeta, *args: Any, **kwargs: Any) -> TensorMeta:
        if functional.name == "sub":  # it refuses bools before anybody looks at the layout
            functional.meta(input, *args, **kwargs)
        _check_writable(input)
        given = [m.shape for m in (*args, *kwargs.values()) if isinstance(m, TensorMeta)]
        _check_shape(input, broadcast_shapes(input.shape, *given))
        out = functional.meta(input, *args, **kwargs)
        if not can_cast(out.dtype, input.dtype):
            raise RuntimeError(
                f"result type {out.dtype.title} can't be cast to the desired output type "
                f"{input.dtype.title}"
            )
        return input

    direct: frozenset[np.dtype] | None = None

    def kernel(input: ndarray, *args: Any, **kwargs: Any) -> ndarray:
        nonlocal direct
        if direct is None:  # found at the first call: for all operators it takes a while
            kept = (t for t in functional.direct if _keeps_type(functional, arity, t))
            direct = frozenset(kept)
        if (
            not kwargs
            and len(args) + 1 == arity
            and is_direct(input, args[0] if args else input, direct)
        ):
            check_overlap(input, args)
            return quiet.run(ufunc, input, *args, out=input)
        checked(
            *meta_of((input, *args)), **{name: meta_of(value) for name, value in kwargs.items()}
        )
        check_overlap(input, (*args, *kwargs.values()))
        with np.errstate(all="ignore"):
            put(input, functional.kernel(input, *args, **kwargs))
        return input

    name = f"{functional.name}_"
    meta.__wrapped__ = functional.meta  # type: ignore[attr-defined]  # whose parameters it has
    ufunc, checked = functional.ufunc, naming(name, meta)
    arity = 2 if "other" in functional.parameters else 1
    return register(name, "inplace", kernel, checked, functional=functional)


def _keeps_type(op: Op, arity: int, type_: np.dtype) -> bool:
    """Is the result of this type when the operands are? Then it can be computed in place."""
    operand = TensorMeta((1,), (1,), dtypes.from_numpy(type_))
    return op.meta(*[operand] * arity).dtype is operand.dtype


for _name in WITH_TWIN:
    _twin(OPS[_name])


# ---- writing what is given ----------------------------------------------------------------------


def _copy_shape(input: TensorMeta, src: TensorMeta) -> None:
    _check_shape(input, broadcast_shapes(input.shape, src.shape))


def _copy_meta(input: TensorMeta, src: TensorMeta) -> TensorMeta:
    """The pure twin of `copy_`: the layout and type of `input`, the values of `src`."""
    _copy_shape(input, src)
    return OPS["full_like"].meta(input, 0)


def _copy_kernel(input: ndarray, src: ndarray) -> ndarray:
    result = empty(copy.meta(meta_of(input), meta_of(src)))
    with np.errstate(all="ignore"):
        put(result, src)
    return result


def _copy_into_meta(input: TensorMeta, src: TensorMeta) -> TensorMeta:
    _check_writable(input)
    _copy_shape(input, src)
    return input


def _copy_into_kernel(input: ndarray, src: ndarray) -> ndarray:
    copy_into.meta(meta_of(input), meta_of(src))
    check_overlap(input, (src,))
    with np.errstate(all="ignore"):
        put(input, src)
    return input


def _fill_meta(input: TensorMeta, fill_value: Any) -> TensorMeta:
    OPS["full_like"].meta(input, fill_value)
    return input


def _fill_kernel(input: ndarray, fill_value: Any) -> ndarray:
    fill.meta(meta_of(input), fill_value)
    with np.errstate(all="ignore"):
        input.fill(scalar(fill_value, input.dtype))
    return input


copy = register("copy", "pointwise", _copy_kernel, _copy_meta)
copy_into = register("copy_", "inplace", _copy_into_kernel, _copy_into_meta, functional=copy)
fill = register("fill_", "inplace", _fill_kernel, _fill_meta, functional=OPS["full_like"])
zero = register(
    "zero_",
    "inplace",
    lambda input: fill.kernel(input, 0),
    lambda input: input,
    functional=OPS["zeros_like"],
)
