"""Polynomials with integer coefficients: sizes, strides, and the offsets of a loop.

In: numbers and names.  Out: `Expr`, in a canonical form, so two are the same exactly when they
compare equal.
A name is a size symbol (s0), a loop variable (i0), or an atom: Python text in parentheses for what
is no polynomial, such as "((s0 + 1) // 2)".
Invariant: the printed form is Python, and means the same there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

Term = tuple[tuple[str, ...], int]


@dataclass(frozen=True)
class Expr:
    """A polynomial with integer coefficients: ((("N", "i0"), 1), (("i1",), 1)) is N*i0 + i1."""

    terms: tuple[Term, ...] = ()

    @staticmethod
    def of(value: Any) -> Expr:
        """An Expr, a symbol's name, an integer, or a SymInt, which has its own `expr`."""
        if type(value) is Expr:
            return value
        if type(value) is int:
            return _number(value)
        if isinstance(value, str):
            return _symbol(value)
        own = getattr(value, "expr", None)
        return _number(int(value)) if own is None else own

    @staticmethod
    def _make(terms: dict[tuple[str, ...], int]) -> Expr:
        return Expr(tuple(sorted((m, c) for m, c in terms.items() if c)))

    def __add__(self, other: Expr | int | str) -> Expr:
        more = Expr.of(other)
        if not self.terms or not more.terms:
            return self if self.terms else more
        total = dict(self.terms)
        for monomial, factor in more.terms:
            total[monomial] = total.get(monomial, 0) + factor
        return Expr._make(total)

    def __mul__(self, other: Expr | int | str) -> Expr:
        more = Expr.of(other)
        if len(more.terms) == 1 and not more.terms[0][0]:  # a number changes no order
            by = more.terms[0][1]
            return self if by == 1 else Expr(tuple([(m, c * by) for m, c in self.terms]))
        total: dict[tuple[str, ...], int] = {}
        for m, c in self.terms:
            for n, k in more.terms:
                monomial = tuple(sorted(m + n))
                total[monomial] = total.get(monomial, 0) + c * k
        return Expr._make(total)

    __radd__, __rmul__ = __add__, __mul__

    def __sub__(self, other: Expr | int | str) -> Expr:
        return self + Expr.of(other) * -1

    def __rsub__(self, other: Expr | int | str) -> Expr:
        return Expr.of(other) - self

    def subs(self, env: Mapping[str, Expr | int]) -> Expr:
        """The polynomial with some symbols replaced."""
        if not any(symbol in env for monomial, _ in self.terms for symbol in monomial):
            return self
        out = Expr()
        for monomial, factor in self.terms:
            term = Expr.of(factor)
            for symbol in monomial:
                term = term * Expr.of(env.get(symbol, symbol))
            out = out + term
        return out

    def value(self, env: Mapping[str, int]) -> int:
        """The number it is when every symbol has one."""
        return sum(factor * prod(env[s] for s in monomial) for monomial, factor in self.terms)

    def divided(self, other: Expr) -> Expr | None:
        """The exact quotient by a number or a product of symbols, where there is one."""
        if len(other.terms) != 1:
            return None
        (symbols, factor), found = other.terms[0], {}
        for monomial, coefficient in self.terms:
            rest = list(monomial)
            for symbol in symbols:
                if symbol not in rest:
                    return None
                rest.remove(symbol)
            if coefficient % factor:
                return None
            found[tuple(rest)] = coefficient // factor
        return Expr._make(found)

    def coeff(self, var: str) -> Expr:
        """The factor of a variable that occurs linearly: coeff(i0) of N*i0 + i1 is N."""
        return Expr._make({tuple(s for s in m if s != var): c for m, c in self.terms if var in m})

    @property
    def symbols(self) -> set[str]:
        return {s for m, _ in self.terms for s in m}

    @property
    def const(self) -> int | None:
        """The value when no symbol is left, else None."""
        if not self.terms:
            return 0
        (symbols, factor), *others = self.terms
        return None if symbols or others else factor

    def __hash__(self) -> int:
        return hash(self.terms)

    def __int__(self) -> int:
        if self.const is None:
            raise ValueError(f"{self} is not a number: it depends on {sorted(self.symbols)}")
        return self.const

    def __str__(self) -> str:
        text = " + ".join(_monomial(m, c) for m, c in sorted(self.terms, key=_reading_order))
        return text.replace("+ -", "- ") or "0"


@lru_cache(1024)
def _number(value: int) -> Expr:
    return Expr((((), value),) if value else ())


@lru_cache(1024)
def _symbol(name: str) -> Expr:
    return Expr((((name,), 1),))


def _monomial(symbols: tuple[str, ...], factor: int) -> str:
    ordered = sorted(
        symbols, key=lambda s: (is_index(s), s)
    )  # sizes first, so a row reads N*i0 + i1
    if ordered and abs(factor) == 1:
        return ("-" if factor < 0 else "") + "*".join(ordered)
    return "*".join([str(factor), *ordered])


def _reading_order(term: Term) -> tuple:
    symbols = term[0]
    return not symbols, sorted(s for s in symbols if is_index(s)) or ["~"], symbols


def is_index(symbol: str) -> bool:
    return symbol[0] == "i" and symbol[1:].isdigit()
