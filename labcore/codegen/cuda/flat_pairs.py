"""Pointwise nests of halves, in words of two: a thread has four, which lie a block apart."""

from __future__ import annotations

from collections.abc import Iterable

from ...fusion.ir import Expr
from ...fusion.nest import Nest
from ..printer import Line, indented
from .base import Held, guarded, repeated
from .flat import FlatPrinter
from .form import Form
from .side_by_side import LOADS, PAIR, STORES, is_multiple
from .wide import WidePrinter


class PairsPrinter(FlatPrinter, WidePrinter):
    """`apart`: elements from one pair of a thread to its next."""

    thread = f"{PAIR} * cuda.threadIdx.x"

    def __init__(self, nest: Nest, form: Form) -> None:
        super().__init__(nest, form)
        self.own, self.wide, self.results = form.each, PAIR, []
        self.apart = PAIR * form.threads

    def _tile(self, count: Expr, held: list[Held], body: list[Line]) -> list[Line]:
        """A whole tile without questions, and the last one. If its elements are odd in number, one
        of them is not in a pair: then it is done half by half."""
        self.elements, self.bound = count, self.spell_offset(count)
        if is_multiple(count, PAIR):
            end = self._by_pairs(held, body)
        else:
            lines = [*map(self.loaded, held), *body, *map(self.stored, self.results)]
            end = self.one_by_one(lines)
        if count.const is not None and count.const < self.tile:
            return end
        bound, self.bound = self.bound, ""
        whole = self._by_pairs(held, body)
        if count.const is not None and count.const % self.tile == 0:
            return whole
        return [(f"if first + {self.tile - self.apart + 1} < {bound}:", ""), *indented(whole, 1),
                ("else:", ""), *indented(end, 1)]

    def _by_pairs(self, held: list[Held], body: list[Line]) -> list[Line]:
        """Load, compute, store; where there is a bound, each pair is asked for."""
        moving = [each for each in held if self.all[-1][0] in each.at.symbols]
        still = [self.loaded(each) for each in held if each not in moving]
        return [*self.moved(moving, LOADS), *self.one_by_one([*still, *body]),
                *self.moved(self.results, STORES)]

    def in_words(self, lines: Iterable[Line]) -> list[Line]:
        return self._turns(f"first + {self.apart} * k", self.own // PAIR, lines)

    def one_by_one(self, lines: Iterable[Line]) -> list[Line]:
        return self._turns(f"first + {self.apart} * (k >> 1) + (k & 1)", self.own, lines)

    def _turns(self, index: str, turns: int, lines: Iterable[Line]) -> list[Line]:
        body = list(lines)
        asked = self.bound and f"{index} < {self.bound}"
        return repeated(f"for k in range({turns}):", guarded(
            asked, [*self._at(index, self.elements), *body])) if body else []
