"""Symbolic numbers compute as Python's do; what they were asked holds for whoever satisfies it."""

from __future__ import annotations

import math
import operator
from functools import partial
from typing import Any

import pytest
from hypothesis import given, strategies as st

from labcore.shapes import (
    Expr,
    ShapeEnv,
    SymFloat,
    SymInt,
    Undecided,
    bitwise,
    inverted,
    largest,
    left_shift,
    right_shift,
    smallest,
    to_float,
    to_int,
)
from labcore.shapes.env import sentence

BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    divmod, operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge, max, min,
    operator.and_, operator.or_, operator.xor,
]  # fmt: skip


def doubled_thrice(number: Any) -> Any:
    return number << 3


def halved_twice(number: Any) -> Any:
    return number >> 2


UNARY = [
    operator.neg, abs, round, to_int, to_float, math.floor, math.ceil, bool, operator.invert,
    doubled_thrice, halved_twice,
]  # fmt: skip
# Python's functions that are no methods of a symbolic number.
MEANINGS: dict[Any, Any] = {
    max: largest,
    min: smallest,
    operator.and_: partial(bitwise, "&", operator.and_),
    operator.or_: partial(bitwise, "|", operator.or_),
    operator.xor: partial(bitwise, "^", operator.xor),
    operator.invert: inverted,
    doubled_thrice: lambda number: left_shift(number, 3),
    halved_twice: lambda number: right_shift(number, 2),
}
ints = st.integers(-30, 30)
floats = st.floats(allow_nan=True, width=32) | st.sampled_from([0.0, -0.0, 0.5, 2.0, -3.0])


class Symbols:
    """An environment with what it assumed."""

    def __init__(self, *values: int | float) -> None:
        self.assumed: list[str] = []
        self.env = ShapeEnv(self.assumed.append)
        self.values: dict[str, Any] = {}
        self.numbers: list[Any] = [self.number(n, value) for n, value in enumerate(values)]

    def number(self, place: int, value: int | float) -> SymInt | SymFloat:
        name = f"{'f' if type(value) is float else 's'}{place}"
        self.values[name] = value
        self.env.symbol(name, value)
        if isinstance(value, float):
            return SymFloat(self.env, name)
        return SymInt(self.env, Expr.of(name))

    def hold(self, *values: int | float) -> bool:
        """Do the assumptions hold for other numbers of the same types?"""
        named = dict(zip(self.values, values))
        return all(eval(text, {}, named) for text in self.assumed)


def result(function: Any, *operands: Any) -> Any:
    try:
        return function(*operands)
    except Exception as error:
        return type(error)


def evaluated(value: Any, values: dict[str, Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(evaluated(item, values) for item in value)
    return value.evaluate(values) if isinstance(value, (SymInt, SymFloat)) else value


def bits(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(bits, value))
    return type(value), value.hex() if isinstance(value, float) else value


def program(symbolic: list[Any], steps: list[Any]) -> list[Any]:
    """Results of a chain of functions, each of results before it."""
    found = list(symbolic)
    for function, a, b in steps:
        operands = [found[a % len(found)]]
        if function in BINARY:
            operands.append(found[b % len(found)])
        if any(isinstance(o, (type, tuple)) for o in operands):
            continue
        if any(isinstance(o, (SymInt, SymFloat)) for o in operands):
            function = MEANINGS.get(function, function)
        found.append(result(function, *operands))
    return found


steps = st.lists(
    st.tuples(st.sampled_from([*BINARY, *UNARY]), st.integers(0, 9), st.integers(0, 9)),
    max_size=6,
)
numbers = st.lists(ints | floats, min_size=1, max_size=3)


@given(numbers, numbers, steps)
def test_as_python(seen: list[Any], others: list[Any], chain: list[Any]) -> None:
    """Bit for bit for the numbers seen; and for others of their types that satisfy what was
    assumed, the expressions are what Python makes of those."""
    symbols = Symbols(*seen)
    found = program(symbols.numbers, chain)
    assert symbols.hold(*seen)
    assert [bits(evaluated(v, symbols.values)) for v in found] == [
        bits(v) for v in program(seen, chain)
    ]
    others = [type(a)(b) for a, b in zip(seen, others) if b == b and abs(b) < 1e30]
    if len(others) == len(seen) and symbols.hold(*others):
        named = dict(zip(symbols.values, others))
        assert [bits(evaluated(v, named)) for v in found] == [
            bits(v) for v in program(others, chain)
        ]


@pytest.mark.parametrize(("base", "power"), [(3, 2), (2, -1), (2.5, 3), (-2.0, 3), (-8.0, 0.5)])
def test_powers(base: Any, power: Any) -> None:
    for given_ in ((base, None), (None, power), (base, power)):
        symbols = Symbols(*[v for v in given_ if v is not None])
        rest = iter(symbols.numbers)
        a, b = (fixed if v is None else next(rest) for v, fixed in zip(given_, (base, power)))
        assert bits(evaluated(a**b, symbols.values)) == bits(base**power)


def test_ints_have_one_form() -> None:
    (n, m) = Symbols(5, 3).numbers
    assert str(n + m - n) == "s1"
    assert str(2 * (n + 1) - 2) == "2*s0"
    assert n - n == 0 and type(n - n) is int
    assert str(4 * n * m // (2 * m)) == "2*s0" and (n * m) % m == 0
    assert str((n + 1) // 2) == "(s0 + 1) // 2"
    assert [str(v) for v in (m - n, -n, 3 - 2 * n)] == ["-s0 + s1", "-s0", "-2*s0 + 3"]
    assert str(-n // 2) == "(-s0) // 2" and str(2.0**-n) == "2.0 ** (-s0)"


def test_what_follows_is_not_assumed() -> None:
    symbols = Symbols(7, 3)
    n, m = symbols.numbers
    assert n > 5 and n >= 6 and n != 5 and n + 1 > 6
    assert not n == m and not m == n
    assert n == 7 and n * 2 == 14
    assert symbols.assumed == ["s0 > 5", "s0 != s1", "s0 == 7"]


def test_what_a_function_gives_is_in_its_bounds() -> None:
    symbols = Symbols(7, 3)
    n, m = symbols.numbers
    least, most = smallest(n, m), largest(n, m)
    assert least <= n and least <= m and most >= n and most + 1 > m and least <= n + 2
    half = n // 2
    assert 2 * half <= n and 2 * half > n - 2 and n % 2 < 2
    assert symbols.assumed == []
    assert n >= m and n - m >= 0 and n - m > -1 and not n + 1 < m
    assert symbols.assumed == ["s0 >= s1"]


def test_equal_symbols_become_one() -> None:
    n, m = Symbols(4, 4).numbers
    other = m + 1
    assert n == m
    assert str(other) == str(n + 1)


def test_fixed_by_hash_and_index() -> None:
    symbols = Symbols(2, -0.0)
    n, zero = symbols.numbers
    assert [1, 2, 3][n] == 3 and {0.0: "zero"}[zero] == "zero"
    assert symbols.assumed[0] == "s0 == 2" and not symbols.hold(2, 0.0)


def test_a_division_by_zero_is_the_zeros_own() -> None:
    symbols = Symbols(4, 0)
    with pytest.raises(ZeroDivisionError, match="integer division or modulo"):
        symbols.numbers[0] // symbols.numbers[1]
    assert symbols.assumed == ["s1 == 0"]


def test_nothing_is_assumed_too_late() -> None:
    symbols = Symbols(4)
    (n,) = symbols.numbers
    assert n > 2
    symbols.env.frozen = True
    assert n > 1
    with pytest.raises(Undecided, match="s0 < 10"):
        assert n < 10


@pytest.mark.parametrize(
    ("expr", "sign", "text"),
    [
        (Expr.of("s0") - 10, "<", "s0 < 10"),
        (Expr.of(10) - Expr.of("s0"), "<", "s0 > 10"),
        (Expr.of("s0") - Expr.of("s1") * 2, ">=", "s0 >= 2*s1"),
        (Expr.of("s0") * -1, "==", "s0 == 0"),
    ],
)
def test_conditions_read_well(expr: Expr, sign: str, text: str) -> None:
    assert sentence(expr, sign) == text


def test_what_is_fixed_is_compared_as_the_number_it_is():
    symbols = Symbols(1)
    (number,) = symbols.numbers
    assert number.fixed() == 1
    for other in range(-3, 4):
        assert (number == other) is (1 == other)
        assert (number < other) is (1 < other)
    assert symbols.assumed == ["s0 == 1"]
