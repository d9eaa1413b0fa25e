"""Index expressions: equal meaning, equal object."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from labcore import dtypes
from labcore.fusion.ir import Buffer, Expr, index, product

SYMBOLS = ("i0", "i1", "N")
numbers = st.integers(-3, 3)
leaves = st.one_of(numbers.map(Expr.of), st.sampled_from(SYMBOLS).map(Expr.of))
polynomials = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: p[0] + p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] * p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] - p[1]),
    ),
    max_leaves=6,
)
places = st.fixed_dictionaries({s: numbers for s in SYMBOLS})


@given(polynomials, polynomials, places)
def test_arithmetic_is_that_of_the_numbers(a, b, env):
    assert (a + b).value(env) == a.value(env) + b.value(env)
    assert (a * b).value(env) == a.value(env) * b.value(env)
    assert (a - b).value(env) == a.value(env) - b.value(env)
    assert int(a.subs(env)) == a.value(env)


@given(polynomials, polynomials, polynomials)
def test_the_form_is_canonical(a, b, c):
    assert a + b == b + a and a * b == b * a
    assert a * (b + c) == a * b + a * c
    assert a - a == Expr() and hash(a + b) == hash(b + a)


@given(polynomials, polynomials, places)
def test_substitution_commutes_with_evaluation(a, b, env):
    assert a.subs({"i0": b}).value(env) == a.value({**env, "i0": b.value(env)})


def test_reads_like_an_offset():
    n = Expr.of("N")
    assert str(n * index(0) + index(1)) == "N*i0 + i1"
    assert str(index(1) + index(0) * 7 + 3) == "7*i0 + i1 + 3"
    assert str(index(0) - 1) == "i0 - 1"
    assert str(Expr()) == "0"
    assert (n * index(0) + index(1)).coeff("i0") == n
    with pytest.raises(ValueError, match="depends on"):
        int(n)


def test_a_buffer_knows_its_span():
    plain = Buffer.new("a", (2, 3), dtypes.float32)
    assert str(plain.at([index(0), index(1)])) == "3*i0 + i1" and int(plain.span) == 6
    gaps = Buffer.new("b", (2, 3), dtypes.float32, strides=(10, 2))
    assert int(gaps.span) == 15 and int(gaps.numel) == 6
    assert int(Buffer.new("c", (0, 3), dtypes.float32).span) == 0
    assert str(product(["N", 2])) == "2*N"
