"""What is known of the symbols of one capture: the values seen, ranges, and what was assumed.

In: symbols with the values they had, and questions about them.  Out: answers that are true for
those values; each that does not follow from what is known already is reported to `assume`, as a
Python condition over the symbols.
Invariant: numbers that satisfy all assumptions would have given the same answers.
PyTorch's ShapeEnv reasons with sympy; here a range for each symbol, equalities, and sums of symbols
that are known not to be negative.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from .expr import Expr

FAR = 2**512  # further than any number a range is needed for
SYMBOL = re.compile(r"\b[sf]\d+\b")
Range = tuple[int, int]


class Undecided(Exception):
    """A question that the assumptions do not answer, asked after they were printed."""


class Values(dict[str, Any]):
    """Values of symbols; those of atoms follow."""

    def __missing__(self, atom: str) -> Any:
        if atom.isidentifier():  # `max`, which Python knows
            raise KeyError(atom)
        return eval(atom, {"math": math}, self)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """A condition or an expression, its symbols called otherwise."""
    return SYMBOL.sub(lambda found: names.get(found[0], found[0]), text)


def condition(texts: Sequence[str]) -> Callable[[Mapping[str, Any]], bool]:
    """Assumptions as a question about values of the symbols."""
    code = compile(" and ".join(f"({text})" for text in texts) or "True", "<conditions>", "eval")
    return lambda values: bool(eval(code, {"math": math}, dict(values)))


class ShapeEnv:
    """`assume(condition)` is told each new assumption; `fixing(symbols)` that symbols are about to
    be taken for their values, and may refuse by raising."""

    def __init__(
        self, assume: Callable[[str], None], fixing: Callable[[set[str]], None] | None = None
    ) -> None:
        self.assume, self.fixing = assume, fixing
        self.values = Values()  # of symbols and atoms, as they were seen
        self.ranges: dict[str, Range] = {}
        self.equal: dict[str, Expr] = {}
        self.facts: dict[Expr, None] = {}  # what is at least 0, of several symbols
        self.answers: dict[Any, bool] = {}
        self.frozen = False

    def symbol(self, name: str, value: int | float, low: int = -FAR, high: int = FAR) -> None:
        """A new symbol. `low` and `high` are guarded by whoever makes it."""
        self.values[name] = value
        if type(value) is int:
            self.ranges[name] = (low, high)

    @contextmanager
    def supposing(self, values: Mapping[str, Any]) -> Iterator[list[str]]:
        """Inside, the symbols have these values, and what follows from nothing that is known is
        assumed for them: the list gets those conditions. Afterwards all is as it was before."""
        before = dict(vars(self))
        assumed: list[str] = []
        known = {s: e.value(values) for s, e in self.equal.items() if e.symbols <= set(values)}
        self.values, self.assume, self.fixing = Values(known | dict(values)), assumed.append, None
        self.ranges, self.equal = dict(self.ranges), dict(self.equal)
        self.facts = dict(self.facts)
        self.answers, self.frozen = dict(self.answers), False
        try:
            yield assumed
        finally:
            vars(self).update(before)

    @contextmanager
    def noting(self) -> Iterator[list[str]]:
        """The list gets what is assumed inside, for who has to assume it once more."""
        noted: list[str] = []
        told = self.assume

        def assume(condition: str) -> None:
            noted.append(condition)
            told(condition)

        self.assume = assume
        try:
            yield noted
        finally:
            self.assume = told

    # ---- questions ----

    def holds(self, text: str, hint: bool) -> bool:
        """A condition on floats, which was `hint` for the values seen."""
        if text not in self.answers:
            self._record(text, hint, text if hint else f"not {text}")
        return self.answers[text]

    def is_negative(self, expr: Expr) -> bool:
        """expr < 0."""
        expr = self.simplified(expr)
        low, high = self.bounds(expr)
        if high < 0 or low >= 0:
            return high < 0
        if ("<", expr) not in self.answers:
            hint = expr.value(self.values) < 0
            self._record(("<", expr), hint, sentence(expr, "<" if hint else ">="))
            self._learn(expr if hint else expr * -1, -1 if hint else 0)
        return self.answers["<", expr]

    def is_zero(self, expr: Expr) -> bool:
        """expr == 0."""
        expr = self.simplified(expr)
        if next((factor for monomial, factor in expr.terms if monomial), 1) < 0:
            expr = expr * -1
        low, high = self.bounds(expr)
        if low > 0 or high < 0 or low == high:
            return low == high == 0
        if ("==", expr) not in self.answers:
            hint = expr.value(self.values) == 0
            self._record(("==", expr), hint, sentence(expr, "==" if hint else "!="))
            if hint:
                self._learn(expr, 0)
                self._learn(expr * -1, 0)
                self._identify(expr)
        return self.answers["==", expr]

    def _record(self, question: Any, answer: bool, assumption: str) -> None:
        if self.frozen:
            raise Undecided(f"{assumption!r} was not assumed, and the variant is made already")
        self.assume(assumption)
        self.answers[question] = answer

    # ---- what is known ----

    def simplified(self, expr: Expr) -> Expr:
        """With what is equal to something simpler replaced by it."""
        while self.equal and not self.equal.keys().isdisjoint(expr.symbols):
            expr = expr.subs(self.equal)
        return expr

    def known_of(self, symbols: set[str]) -> list[str]:
        """All that an answer about these symbols may rest on, in words."""
        said = [f"{name} in {ends}" for name, ends in self.ranges.items()]
        said += [f"{name} == {expr}" for name, expr in self.equal.items()]
        said += [f"{fact} >= 0" for fact in self.facts]
        for question, answer in self.answers.items():
            words = question if isinstance(question, str) else " ".join(map(str, question))
            said.append(f"{words}: {answer}")
        about: list[str] = []
        reached: set[str] = set()
        while symbols != reached:
            reached = symbols
            about = [text for text in said if not reached.isdisjoint(SYMBOL.findall(text))]
            symbols = reached.union(*map(SYMBOL.findall, about))
        return about

    def is_constant(self, symbol: str) -> bool:
        """Do the assumptions leave it no other value?"""
        low, high = self.bounds(self.simplified(Expr.of(symbol)))
        return low == high

    def know(self, expr: Expr) -> None:
        """expr >= 0 follows from what is assumed."""
        self.facts.setdefault(self.simplified(expr))

    def bounds(self, expr: Expr) -> Range:
        """The lowest and the highest value it can have, as far as one fact tells."""
        low, high = self._interval(expr)
        for fact in self.facts:
            if not fact.symbols.isdisjoint(expr.symbols):
                low = max(low, self._interval(expr - fact)[0])
                high = min(high, self._interval(expr + fact)[1])
        return low, high

    def _interval(self, expr: Expr) -> Range:
        """The same by the ranges of its symbols alone."""
        low = high = 0
        for monomial, factor in expr.terms:
            ends = (factor, factor)
            for symbol in monomial:
                a, b = self.ranges.get(symbol, (-FAR, FAR))
                corners = [x * y for x in ends for y in (a, b)]
                ends = (max(min(corners), -FAR), min(max(corners), FAR))
            low, high = low + ends[0], high + ends[1]
        return low, high

    def _learn(self, expr: Expr, limit: int) -> None:
        """expr <= limit: narrows the range of a lone symbol, or is a fact."""
        constant = sum(c for m, c in expr.terms if not m)
        terms = [(m, c) for m, c in expr.terms if m]
        if len(terms) != 1 or len(terms[0][0]) != 1:
            self.know(expr * -1 + limit)
            return
        ((symbol,), factor), limit = terms[0], limit - constant
        low, high = self.ranges.get(symbol, (-FAR, FAR))
        if factor > 0:
            high = min(high, limit // factor)
        else:
            low = max(low, -(limit // -factor))
        self.ranges[symbol] = (low, high)

    def _identify(self, expr: Expr) -> None:
        """expr == 0: a symbol that occurs once, by itself, is what the rest says."""
        for monomial, factor in reversed(expr.terms):
            symbol = monomial[0] if len(monomial) == 1 else None
            if symbol is None or abs(factor) != 1:
                continue
            rest = (expr - Expr.of(symbol) * factor) * -factor
            if symbol not in rest.symbols and not any(symbol in other for other in rest.symbols):
                self.equal[symbol] = rest
                self.facts = {self.simplified(fact): None for fact in self.facts}
                return


FLIPPED = {"<": ">", ">=": "<=", "==": "==", "!=": "!="}


def sentence(expr: Expr, sign: str) -> str:
    """`expr sign 0` as people write it: s0 - 10 < 0 is "s0 < 10"."""
    left = Expr(tuple((m, c) for m, c in expr.terms if m and c > 0))
    right = left - expr
    if not left.terms:
        number = Expr(tuple((m, c) for m, c in right.terms if not m))
        left, right, sign = right - number, number * -1, FLIPPED[sign]
    return f"{left} {sign} {right}"
