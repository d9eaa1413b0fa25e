"""Numbers of the call that become inputs of the graph, instead of constants of the variant.

In: ints and floats that were seen to vary.  Out: `NumberVariable`s over symbols, the guards under
which the variant computes the same with other numbers, and the graph's inputs.
Invariant: a decision that rests on a number leaves a guard with the user's line. Whatever needs the
number itself (a list's index, a text) takes the one seen, under a guard that it stays so; numbers
that may never be constants stop capture there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ..graph import Graph
from ..guards import Guard, GuardBuilder, Mismatch, Source, kinds
from ..guards.builder import Load
from ..shapes import Expr, ShapeEnv, SymFloat, SymInt, SymNumber, renamed
from ..tensor.size import Size
from .breaks import Break
from .marked import Marked, Violation
from .variables import Constant, NumberVariable, TupleVariable, Variable

BITS = 63  # an integer input is one that a kernel can take


@dataclass(frozen=True)
class Varying:
    """Names of values that were other ones at other times.

    symbols: numbers that are to be inputs of the graph.  never: what must not be a constant, or
    each would be a variant of its own.  everything: all numbers and sizes are to be inputs.
    """

    symbols: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    everything: bool = False

    def also(self, names: Iterable[str]) -> Varying:
        """The same, with more symbols."""
        return replace(self, symbols=self.symbols.union(names))

    def refuse(self, name: str) -> None:
        """Raises Break for what must not be a constant."""
        if name in self.never:
            raise Break("varying-number", name=name)


NOTHING_VARIES = Varying()


class Numbers:
    """`graph` is asked for the symbols' names."""

    def __init__(self, builder: GuardBuilder, varying: Varying, graph: Graph) -> None:
        self.builder, self.varying, self.graph = builder, varying, graph
        self.env = ShapeEnv(self._assume, self._fix)
        self.inputs: dict[str, NumberVariable] = {}  # by symbol
        self.sizes: dict[int, SymInt] = {}  # by the size that was seen
        self.marked = Marked()

    def wanted(self, source: Source, value: int | float) -> bool:
        """Is this number to be a symbol?"""
        if isinstance(value, int) and value.bit_length() > BITS:
            return False
        return self.varying.everything or source.name in self.varying.symbols

    def input(self, source: Source, value: int | float, home: str) -> NumberVariable:
        """A new symbol for a number; only its type is guarded."""
        origin = self.builder.origin
        self.builder.add(kinds.number_match(source.name, home, value, BITS, origin))
        return self._new(source, value, home, -(2**BITS) + 1, None)

    def _new(
        self, source: Source, value: int | float, home: str, least: int, most: int | None
    ) -> NumberVariable:
        symbol = self.graph.new_symbol("f" if isinstance(value, float) else "s")
        self.env.symbol(symbol, value, least, 2**BITS - 1 if most is None else most)
        number: SymNumber = SymInt(self.env, Expr.of(symbol))
        if isinstance(value, float):
            number = SymFloat(self.env, symbol)
        self.inputs[symbol] = found = NumberVariable(number, value, source, home=home)
        return found

    def size(
        self, source: Source, value: int, least: int, most: int | None, shared: bool
    ) -> SymInt:
        """The symbol of a size or a stride, between these two; where it may be shared, the one of
        an equal size, which it has to stay equal to."""
        home = self.builder.load(source)
        known = self.sizes.get(value) if shared else None
        if known is not None:
            self._stays_equal(source, home, known)
            return known
        number = self._new(source, value, home, least, most).number
        assert isinstance(number, SymInt)
        if shared:
            self.sizes[value] = number
        return number

    def _stays_equal(self, source: Source, home: str, known: SymInt) -> None:
        code = f"{home} == {self.in_check(known)}"
        if home == self.in_check(known):
            return
        words = f"{source.name} == {self.in_words(known)}"
        reason = f"{words} does not hold"
        origin = self.builder.origin
        self.builder.add(
            kinds.condition("SHAPE_ENV", source.name, code, home, words, reason, origin)
        )

    def in_check(self, number: SymNumber | int) -> str:
        """Python for a number, in the names of the check."""
        return self._code(str(number))

    def _code(self, text: str) -> str:
        module = self.builder.constant(math, "math") if "math." in text else ""
        return renamed(text, self._homes).replace("math.", f"{module}.")

    def in_words(self, number: SymNumber | int) -> str:
        """The same in the user's names."""
        return renamed(str(number), self._names)

    def constant(self, variable: NumberVariable) -> Constant:
        """The number as a constant, under a guard. Raises Break for what must not be one."""
        return Constant(variable.number.fixed(), home=variable.home)

    def computed(self, number: SymNumber) -> str:
        """A name for a computed number; like everything else it is computed before the graph runs,
        and before any effect."""
        name = self.builder.names.new("number")
        text = self.in_check(number)
        where = Source(self.in_words(number), text)
        self.builder.steps.append(Load(name, text, where))
        return name

    def add_inputs(self) -> list[NumberVariable]:
        """Give the graph a placeholder for each symbol that it speaks of."""
        spoken = self.graph.symbols
        used = [(symbol, v) for symbol, v in self.inputs.items() if symbol in spoken]
        for symbol, variable in used:
            self.graph.number(symbol, f"{variable.kind} {variable.source_name}")
        return [variable for _, variable in used]

    def violations(self) -> list[Violation]:
        """What contradicts the marks of sizes."""
        return list(self.marked.violations(self.env, self._names))

    @property
    def _homes(self) -> dict[str, str]:
        return {symbol: variable.home for symbol, variable in self.inputs.items()}

    @property
    def _names(self) -> dict[str, str]:
        return {symbol: variable.source_name for symbol, variable in self.inputs.items()}

    def _assume(self, condition: str) -> None:
        """A decision was taken: it must be the same whenever the variant runs."""
        code, words = self._code(condition), renamed(condition, self._names)
        spoken = [v for s, v in self.inputs.items() if renamed(condition, {s: ""}) != condition]
        subject = f"({', '.join(v.home for v in spoken)},)"

        origin = self.builder.origin

        def mismatch(values: tuple[int | float, ...]) -> Mismatch:
            actual = ", ".join(f"{v.source_name} = {n!r}" for v, n in zip(spoken, values))
            return Mismatch(words, actual, f"{words} does not hold: {actual}")

        self.marked.assume(condition, origin)
        name = ", ".join(v.source_name for v in spoken)
        self.builder.add(Guard("SHAPE_ENV", name, code, subject, words, mismatch, origin))

    def _fix(self, symbols: set[str]) -> None:
        for symbol in symbols:
            self.varying.refuse(self.inputs[symbol].source_name)


def size_of(items: list[Variable]) -> Variable:
    """A torch.Size of these sizes, which are numbers."""
    seen = Size(item.value for item in items)  # type: ignore[attr-defined]
    if all(isinstance(item, Constant) for item in items):
        return Constant(seen)
    return TupleVariable(items, seen, cls=Size)


def as_constant(numbers: Numbers, variable: Variable) -> Variable:
    """A symbolic number as a constant, anything else as it is."""
    return numbers.constant(variable) if isinstance(variable, NumberVariable) else variable


def lifted(value: Any) -> Variable:
    """A variable for a number, symbolic or not, or for a tuple or a torch.Size of such."""
    if isinstance(value, SymNumber):
        return NumberVariable(value, value.hint)
    if isinstance(value, tuple):
        items = [lifted(item) for item in value]
        return size_of(items) if type(value) is Size else TupleVariable(items)
    if kinds.is_too_long(value):
        raise Break("operation", what=f"an integer of {value.bit_length()} bits")
    return Constant(value)
