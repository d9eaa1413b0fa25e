"""Every pointwise operator, lowered and interpreted, equals its eager kernel: values, types,
strides.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from labcore import dtypes
from labcore.fusion import lower, schedule
from labcore.fusion.interpret import rounded, run
from labcore.fusion.lowering_pointwise import POINTWISE
from labcore.fusion.rules import RULES
from labcore.fusion.verify import verify_program
from labcore.graph import Graph, verify
from labcore.ops import OPS
from labcore.ops.arrays import meta_of
from labcore.ops.dispatch import interpreting
from labcore.ops.tracer import Tracer

from ..ops.strategies import NUMBERS, VALUES, arrays, partners
from .graphs import assert_same

COPIES = {"clone", "_to_copy", "copy"}
UNARY = [
    n for n, o in OPS.items() if o.kind == "pointwise" and list(o.signature.parameters) == ["input"]
]
BINARY = [
    n
    for n, o in OPS.items()
    if o.kind == "pointwise"
    and n not in COPIES
    and list(o.signature.parameters)[:2] in (["input", "other"], ["input", "exponent"])
]
REFUSED = (RuntimeError, IndexError, TypeError, NotImplementedError, ValueError, OverflowError)


def check(op, *args, **kwargs) -> None:
    """Through a graph of one call, against the kernel; what eager mode refuses is refused while
    tracing.
    """
    graph = Graph()
    arrays_ = [a for a in args if isinstance(a, np.ndarray)]
    nodes = iter([graph.placeholder(f"x{k}", meta_of(a)) for k, a in enumerate(arrays_)])
    given_ = [next(nodes) if isinstance(a, np.ndarray) else a for a in args]
    try:
        with interpreting(Tracer(graph)):
            graph.output((op(*given_, **kwargs),))
        want = op.kernel(*args, **kwargs)
    except REFUSED:
        return
    program = verify_program(lower(verify(graph)))
    got = run(schedule(program), arrays_).outputs
    assert_same(got, [want], tolerance=2e-6)
    if op.name in ("maximum", "minimum", "relu", "clamp", "where", "remainder", "neg", "abs"):
        number = want == want  # zeros have signs, the sign of a nan means nothing
        np.testing.assert_array_equal(np.signbit(got[0])[number], np.signbit(want)[number])


def finite_part(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.nan_to_num(x, posinf=9, neginf=-9))


def test_the_table_covers_every_pointwise_operator():
    missing = [
        n for n, o in OPS.items() if o.kind == "pointwise" and n not in POINTWISE and n not in RULES
    ]
    assert missing == []


def awkward(type_: dtypes.dtype) -> np.ndarray:
    values = VALUES["f" if type_.is_floating_point else type_.numpy.kind]
    return np.array(values, type_.numpy)


@pytest.mark.parametrize("name", UNARY)
def test_unary_on_awkward_values(name):
    for type_ in dtypes.ALL:
        check(OPS[name], awkward(type_))


@pytest.mark.parametrize("name", BINARY)
def test_binary_on_awkward_values(name):
    for first in dtypes.ALL:
        for second in dtypes.ALL:
            check(OPS[name], awkward(first)[:, None], awkward(second))
        for number in NUMBERS:
            check(OPS[name], awkward(first), number)


@given(st.sampled_from(UNARY), arrays())
def test_unary_in_any_layout(name, x):
    check(OPS[name], x)


@given(st.sampled_from(BINARY), partners(), st.sampled_from([1, 2, -1, 0.5]))
def test_binary_in_any_layout(name, args, alpha):
    check(OPS[name], *args, **({"alpha": alpha} if name in ("add", "sub") else {}))


@given(data=st.data())
def test_where(data):
    condition = data.draw(arrays(types=[np.dtype(bool)]))
    a, b = data.draw(partners())
    check(OPS["where"], condition, a, b)


@given(arrays(), st.sampled_from([None, -1, 0, 2, 0.5]), st.sampled_from([None, 1, 3, 1.5]))
def test_clamp(x, low, high):
    check(OPS["clamp"], x, low, high)


@given(arrays(), st.sampled_from([0.5, -0.5, 2, 3, -1, -2, 0, 1, 1.5, 2.0]))
def test_powers(x, exponent):
    check(OPS["pow"], x, exponent)


@given(data=st.data())
def test_copies(data):
    x = data.draw(arrays())
    check(OPS["clone"], x, data.draw(st.booleans()))
    finite = finite_part(x) if x.dtype.kind == "f" else x
    check(OPS["_to_copy"], finite, data.draw(st.sampled_from(dtypes.ALL)))


@given(arrays(), st.sampled_from(["sum", "mean", "amax", "amin"]), st.data())
def test_reductions(x, name, data):
    finite = finite_part(x) if x.dtype.kind == "f" and name in ("sum", "mean") else x
    dims = st.lists(st.integers(0, max(x.ndim - 1, 0)), unique=True, min_size=1).map(tuple)
    dim = data.draw(st.one_of(st.just(()), dims, st.integers(-max(x.ndim, 1), max(x.ndim, 1) - 1)))
    check(OPS[name], finite, dim, data.draw(st.booleans()))


@pytest.mark.parametrize("args", [(5,), (2, 9, 3), (0, 1, 0.25), (5, -5, -2), (0,)])
def test_arange(args):
    check(OPS["arange"], *args)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("full", ((2, 3), 1.5)),
        ("zeros", ((4,),)),
        ("ones", ((),)),
        ("full", ((2, 0), 7)),
        ("full", ((3,), True)),
    ],
)
def test_factories(name, args):
    check(OPS[name], *args)


@pytest.mark.parametrize("dtype", [dtypes.int32, dtypes.int64])
def test_a_float_that_is_no_such_integer_becomes_the_lowest(dtype):
    values = [float("nan"), float("inf"), -float("inf"), 1e20, 3e9, -3e9, 2.0**31, -2.9, 2.9]
    with np.errstate(invalid="ignore"):
        wanted = np.array(values).astype(dtype.numpy).tolist()
    assert [rounded(value, dtype) for value in values] == wanted
