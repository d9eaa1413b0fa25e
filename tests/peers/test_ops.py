"""Side by side with PyTorch: values, types, shapes, strides, error texts, signs of zeros."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from labcore import ops
from tests.ops import strategies
from tests.ops.test_kernel_meets_meta import BINARY, UNARY, VIEWS, attempt

# PyTorch takes no arrays of bfloat16; both halves have a file of their own.
TYPES = [type_ for type_ in strategies.TYPES if type_.itemsize != 2]


def arrays(shape=None, types=None):
    return strategies.arrays(shape=shape, types=types or TYPES)


def partners():
    return strategies.partners(types=TYPES)


torch = pytest.importorskip("torch", reason="torch is a peer: `make peers`")
ROUNDED = set(
    "exp log sin cos tanh sigmoid erf pow rsqrt mean sum exp2 expm1 log1p log2 log10 tan asin acos "
    "atan sinh cosh asinh acosh atanh atan2 atan2_".split()
)
TENSORS = {"maximum", "minimum", "atan2"}  # which take no numbers there


def theirs(value):
    """The same memory as a torch tensor."""
    if isinstance(value, np.ndarray):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.as_strided(
                torch.from_numpy(value), value.shape, [s // value.itemsize for s in value.strides]
            )
    return [theirs(v) for v in value] if isinstance(value, list) else value


def same(name, torch_call, *args, exact_strides=True):
    """Both raise the same, or both return the same."""
    op = ops.OPS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, refused = attempt(torch_call, *[theirs(a) for a in args])
    out, failed = attempt(op.kernel, *args)
    if refused is not None or failed is not None:
        assert type(failed) is type(refused)
        assert str(failed) == str(refused).splitlines()[0]
        return
    assert str(expected.dtype) == f"torch.{out.dtype}"
    assert tuple(expected.shape) == out.shape
    if exact_strides:
        assert expected.stride() == tuple(s // out.itemsize for s in out.strides)
    wanted = expected.numpy()
    if name in ROUNDED:
        np.testing.assert_allclose(
            out, wanted, rtol=1e-5 if out.dtype == np.float32 else 1e-10, atol=1e-6
        )
    else:
        np.testing.assert_array_equal(out, wanted)
        if out.dtype.kind == "f":
            real = ~np.isnan(wanted)
            np.testing.assert_array_equal(np.signbit(out)[real], np.signbit(wanted)[real])


@settings(max_examples=400, deadline=None)
@given(arrays(), st.sampled_from([n for n in UNARY if n != "_to_copy"]))
def test_unary(array, name):
    of_integers = name in ("isinf", "isfinite") and array.dtype.kind != "f"  # a constant there
    same(name, getattr(torch, name.strip("_")), array, exact_strides=not of_integers)


@settings(max_examples=300, deadline=None)
@given(partners(), st.sampled_from([n for n in BINARY if n != "_with_history"]))
def test_binary(operands, name):
    call = getattr(torch, name) if name in TENSORS else None
    assume(call is None or all(isinstance(a, np.ndarray) for a in operands))
    assume(
        name != "div" or isinstance(operands[0], np.ndarray)
    )  # PyTorch computes 2 / x as x.reciprocal() * 2
    assume(
        name != "pow" or not all(np.asarray(a).dtype.kind == "b" for a in operands)
    )  # True ** 1 is no power there
    same(name, call or by_operator(name), *operands)


def by_operator(name):
    """As a Python operator, or as a method where there is none, so that numbers may stand left."""
    import operator

    spelled = dict(
        div="truediv",
        floor_divide="floordiv",
        remainder="mod",
        bitwise_and="and_",
        bitwise_or="or_",
        bitwise_xor="xor",
    ).get(name, name)
    found = getattr(operator, spelled, None)
    if found is not None:
        return found
    return lambda a, b: getattr(torch, name)(
        torch.tensor(a) if not isinstance(a, torch.Tensor) else a,
        torch.tensor(b) if not isinstance(b, torch.Tensor) else b,
    )


@settings(max_examples=300, deadline=None)
@given(arrays(types=[np.dtype(bool), np.dtype("f4")]), partners())
def test_where(condition, operands):
    same("where", torch.where, condition, *operands)


@settings(max_examples=300, deadline=None)
@given(
    arrays(),
    st.sampled_from([0, 1, 1.5, -0.0, float("nan"), None]),
    st.sampled_from([2, 0.25, 0.0, None]),
)
def test_clamp(array, low, high):
    same("clamp", torch.clamp, array, low, high)


@settings(max_examples=300, deadline=None)
@given(
    arrays(),
    st.sampled_from(["sum", "mean", "amax", "amin", "any", "all"]),
    st.sampled_from([None, 0, -1, 1, 2, (), (0,), (0, 1), (-1, 0), (0, 0)]),
    st.booleans(),
)
def test_reductions(array, name, dim, keepdim):
    if dim is None and name in ("amax", "amin"):
        dim = ()
    call = getattr(torch, name)
    if dim is None:
        same(name, lambda x, *_: call(x), array, None, False)
    else:
        same(name, lambda x, *_: call(x, dim=dim, keepdim=keepdim), array, dim, keepdim)


@settings(max_examples=300, deadline=None)
@given(arrays(), st.sampled_from(VIEWS))
def test_views_and_copies(array, call):
    name, args = call
    assume(
        name != "rand_like"
        and not (-1 in args[0] and array.ndim < 2 if name == "expand" else False)
    )
    if name == "slice":
        same(name, torch.ops.aten.slice, array, *args)
    elif hasattr(torch, name):
        same(name, getattr(torch, name), array, *args)
    else:
        same(name, getattr(torch.Tensor, name), array, *args)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_joining(data):
    shape = data.draw(st.sampled_from([(2,), (2, 3), (1, 2), (), (0,), (0, 2)]))
    tensors = data.draw(st.lists(arrays(shape=shape), min_size=1, max_size=3))
    if data.draw(st.integers(0, 3)) == 0:
        tensors.append(data.draw(arrays()))
    name = data.draw(st.sampled_from(["cat", "stack"]))
    same(name, getattr(torch, name), tensors, data.draw(st.integers(-3, 3)), exact_strides=False)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_matmul(data):
    shapes = st.sampled_from(
        [(3,), (2,), (2, 3), (3, 2), (3, 3), (1, 3), (2, 3, 2), (2, 2, 3), (1, 3, 2), (3, 3, 2), ()]
    )
    types = [data.draw(st.sampled_from([np.dtype(t) for t in ("f4", "f8", "i8", "?")]))]
    left, right = (
        data.draw(arrays(shape=data.draw(shapes), types=types)),
        data.draw(arrays(shape=data.draw(shapes), types=types)),
    )
    left, right = (
        np.array(left, order="C"),
        np.array(right, order="C"),
    )  # the texts depend on who does the work
    assume(np.isfinite(left).all() and np.isfinite(right).all())
    same("matmul", torch.matmul, left, right, exact_strides=False)


@settings(max_examples=300, deadline=None)
@given(arrays(), st.data())
def test_scatters(array, data):
    if not array.ndim or not array.shape[0]:
        return
    part = data.draw(arrays(shape=array.shape[1:]))
    same("select_scatter", torch.select_scatter, array, part, 0, -1)
    same(
        "slice_scatter",
        torch.slice_scatter,
        array,
        data.draw(arrays(shape=array[::2].shape)),
        0,
        None,
        None,
        2,
    )


@settings(max_examples=300, deadline=None)
@given(partners(), st.sampled_from([n for n in BINARY if f"{n}_" in ops.OPS] + ["copy"]))
def test_in_place(operands, name):
    target, other = operands
    assume(
        isinstance(target, np.ndarray)
        and (isinstance(other, np.ndarray) or not name.startswith(("copy", "log")))
    )
    assume(name not in TENSORS or isinstance(other, np.ndarray))
    assume(not name.startswith("bitwise") or all(np.asarray(a).dtype.kind != "f" for a in operands))
    ours, copy = [
        np.lib.stride_tricks.as_strided(m := np.array(target, order="K"), m.shape, m.strides)
        for _ in range(2)
    ]
    same(f"{name}_", lambda _, other: getattr(theirs(copy), f"{name}_")(other), ours, other)


def test_arange():
    for args in [
        (5,),
        (5.0,),
        (1, 4),
        (0, 1, 0.1),
        (0, 1, 0.3),
        (5, 0, -2),
        (5, 0, -1.5),
        (3, 3),
        (0, 1, 0),
        (1, 0),
        (float("inf"),),
        (-2,),
    ]:
        same("arange", torch.arange, *args)
