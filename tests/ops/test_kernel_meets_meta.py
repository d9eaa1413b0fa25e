"""Kernel and meta rule agree on shape, type and strides, or raise the same error."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from labcore import ops
from labcore.ops.arrays import meta_of

from .strategies import TYPES, arrays, partners, shapes

UNARY = [
    n
    for n, op in ops.OPS.items()
    if op.kind == "pointwise" and list(op.signature.parameters) == ["input"]
]
BINARY = [
    n
    for n, op in ops.OPS.items()
    if op.kind == "pointwise"
    and n not in ("copy", "_to_copy")
    and [p for p in op.signature.parameters if p != "alpha"][0] == "input"
    and len(op.signature.parameters) > 1
    and list(op.signature.parameters)[1] in ("other", "exponent")
]
DATA_ERRORS = ("ZeroDivisionError",)


def attempt(call, *args, **kwargs):
    """(result, None), or (None, the error)."""
    try:
        return call(*args, **kwargs), None
    except Exception as error:
        return None, error


def check(op, *args, **kwargs):
    """The kernel's result has the layout that the meta rule says; errors are the same."""
    expected, refused = attempt(op.meta, *meta_of(args), **kwargs)
    out, failed = attempt(op.kernel, *args, **kwargs)
    if refused is not None or failed is not None:
        depends_on_data = str(failed) in DATA_ERRORS
        assert depends_on_data or (type(failed), str(failed)) == (type(refused), str(refused))
        return None
    assert type(out) is np.ndarray
    found = meta_of(out)
    assert (found.shape, found.stride) == (expected.shape, expected.stride)
    assert found.dtype is expected.dtype
    return out


def test_the_families_are_not_empty():
    assert len(UNARY) > 15 and len(BINARY) > 18


@settings(max_examples=75, deadline=None)
@given(arrays(), st.sampled_from(UNARY))
def test_unary(array, name):
    check(ops.OPS[name], array)


@settings(max_examples=200, deadline=None)
@given(partners(), st.sampled_from(BINARY))
def test_binary(operands, name):
    check(ops.OPS[name], *operands)


@settings(max_examples=50, deadline=None)
@given(arrays(types=[np.dtype(bool)]), partners())
def test_where(condition, operands):
    check(ops.where, condition, *operands)


@settings(max_examples=50, deadline=None)
@given(arrays(), st.sampled_from([0, 1, 1.5, None]), st.sampled_from([2, 0.25, None]))
def test_clamp(array, low, high):
    check(ops.clamp, array, low, high)


@settings(max_examples=100, deadline=None)
@given(
    arrays(),
    st.sampled_from(["sum", "mean", "amax", "amin", "any", "all"]),
    st.sampled_from([None, 0, -1, 1, 2, (), (0,), (0, 1), (-1, 0), (0, 0)]),
    st.booleans(),
)
def test_reductions(array, name, dim, keepdim):
    check(ops.OPS[name], array, dim, keepdim)


VIEWS = [
    ("transpose", (0, 1)),
    ("transpose", (-1, 0)),
    ("unsqueeze", (0,)),
    ("unsqueeze", (-1,)),
    ("unsqueeze", (1,)),
    ("squeeze", ()),
    ("squeeze", (0,)),
    ("squeeze", ((0, 1),)),
    ("select", (0, 0)),
    ("select", (1, -1)),
    ("slice", (0, 1, None, 1)),
    ("slice", (-1, None, -1, 2)),
    ("slice", (0, 5, 9, 2)),
    ("permute", ((1, 0),)),
    ("permute", ((2, 0, 1),)),
    ("expand", ((2, 3),)),
    ("expand", ((2, -1, 3),)),
    ("expand", ((3, 2, 1, 3),)),
    ("view", ((-1,),)),
    ("view", ((2, 3),)),
    ("view", ((3, -1),)),
    ("reshape", ((-1,),)),
    ("reshape", ((3, 2),)),
    ("reshape", ((1, -1, 1),)),
    ("flatten", ()),
    ("flatten", (0, 1)),
    ("flatten", (1,)),
    ("t", ()),
    ("contiguous", ()),
    ("clone", ()),
    ("zeros_like", ()),
    ("full_like", (1,)),
    ("rand_like", ()),
]


@settings(max_examples=250, deadline=None)
@given(arrays(), st.sampled_from(VIEWS))
def test_views_and_copies(array, call):
    name, args = call
    op = ops.OPS[name]
    out = check(op, array, *args)
    if out is not None and op.kind == "view" and out.size:
        assert np.shares_memory(out, array)
        start = array.__array_interface__["data"][0]
        assert (
            out.__array_interface__["data"][0]
            == start + op.offset(meta_of(array), *args) * array.itemsize
        )


@settings(max_examples=40, deadline=None)
@given(arrays(), st.sampled_from(TYPES))
def test_to(array, type_):
    out = check(ops.to, array, meta_of(np.empty(0, type_)).dtype)
    assert (out is array) == (array.dtype == type_)


@settings(max_examples=75, deadline=None)
@given(st.data())
def test_joining(data):
    shape = data.draw(shapes)
    tensors = data.draw(st.lists(arrays(shape=shape), min_size=1, max_size=3))
    name = data.draw(st.sampled_from(["cat", "stack"]))
    check(ops.OPS[name], tensors, data.draw(st.integers(-2, 2)))


@settings(max_examples=50, deadline=None)
@given(arrays(), st.data())
def test_scatters(array, data):
    if not array.ndim or not array.shape[0]:
        return
    part = data.draw(arrays(shape=array.shape[1:]))
    check(ops.select_scatter, array, part, 0, -1)
    check(ops.slice_scatter, array, data.draw(arrays(shape=array[::2].shape)), 0, None, None, 2)


@settings(max_examples=75, deadline=None)
@given(st.data())
def test_matmul(data):
    left, right = data.draw(
        st.sampled_from(
            [
                ((3,), (3,)),
                ((2, 3), (3,)),
                ((3,), (3, 2)),
                ((2, 3), (3, 4)),
                ((2, 1, 3), (3, 4)),
                ((2, 2, 3), (1, 3, 1)),
                ((2, 3), (2, 3, 1)),
                ((3,), (2, 3, 2)),
                ((2, 2, 3), (3,)),
                ((0, 3), (3, 2)),
                ((2, 0), (0, 3)),
                ((2, 3), (4, 5)),
            ]
        )
    )
    types = [data.draw(st.sampled_from(TYPES))] if data.draw(st.booleans()) else TYPES
    check(
        ops.matmul,
        data.draw(arrays(shape=left, types=types)),
        data.draw(arrays(shape=right, types=types)),
    )


@settings(max_examples=150, deadline=None)
@given(partners(), st.sampled_from([n for n in BINARY if f"{n}_" in ops.OPS]))
def test_in_place_is_its_pure_twin(operands, name):
    target = operands[0]
    if not isinstance(target, np.ndarray):
        return
    target, op = np.array(target, order="K"), ops.OPS[f"{name}_"]
    operands = [target.copy(order="K"), *operands[1:]]
    out = check(op, *operands)
    if out is not None:
        assert out is operands[0]
        pure = op.functional.kernel(target, *operands[1:])
        with np.errstate(all="ignore"):
            want = pure.astype(target.dtype)
            if want.dtype.kind == "V":  # whose nan numpy does not know for one
                out, want = out.astype(np.float32), want.astype(np.float32)
            np.testing.assert_array_equal(out, want)
