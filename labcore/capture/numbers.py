"""Numbers of the call that become inputs of the graph, instead of constants of the variant.

In: ints and floats that were seen to vary.  Out: `NumberVariable`s over symbols, the guards under
which the variant computes the same with other numbers, and the graph's inputs.
Invariant: a decision that rests on a number leaves a guard with the user's line. Whatever needs the
number itself (a list's index, a text) takes the one seen, under a guard that it stays so; numbers
that may never be constants stop capture there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..graph import Graph
from ..guards import Guard, GuardBuilder, Mismatch, Source, kinds
from ..guards.builder import Load
from ..shapes import Expr, ShapeEnv, SymFloat, SymInt, SymNumber, bare, renamed
from .breaks import Break
from .variables import Constant, NumberVariable, TupleVariable, Variable

BITS = 63  # an integer input is one that a kernel can take


@dataclass(frozen=True)
class Varying:
    """Names of values that were other ones at other times.

    symbols: numbers that are to be inputs of the graph.  never: what must not be a constant, or
    each would be a variant of its own.
    """

    symbols: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()

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

    def wanted(self, source: Source, value: int | float) -> bool:
        """Is this number to be a symbol?"""
        fits = type(value) is float or value.bit_length() <= BITS  # type: ignore[union-attr]
        return source.name in self.varying.symbols and fits

    def input(self, source: Source, value: int | float, home: str) -> NumberVariable:
        """A new symbol for a number; only its type is guarded."""
        builder, is_float = self.builder, type(value) is float
        builder.add(kinds.number_match(source.name, home, value, BITS, builder.origin))
        symbol = self.graph.new_symbol("f" if is_float else "s")
        limit = 2**BITS - 1
        self.env.symbol(symbol, value, -limit, limit)
        number = (
            SymFloat(self.env, symbol, value)
            if is_float
            else SymInt(self.env, Expr.of(symbol))
        )
        found = NumberVariable(number, value, source, home=home)
        self.inputs[symbol] = found
        return found

    def constant(self, variable: NumberVariable) -> Constant:
        """The number as a constant, under a guard. Raises Break for what must not be one."""
        return Constant(variable.number.fixed(), home=variable.home)

    def computed(self, number: SymNumber) -> str:
        """A name for a computed number; like everything else it is computed before the graph runs,
        and before any effect."""
        name = self.builder.names.new("number")
        text = bare(renamed(number.text, self._homes))
        where = Source(renamed(repr(number), self._names), text)
        self.builder.steps.append(Load(name, text, where))
        return name

    def add_inputs(self) -> list[NumberVariable]:
        """Give the graph a placeholder for each symbol that it speaks of."""
        spoken = self.graph.symbols
        used = [(symbol, v) for symbol, v in self.inputs.items() if symbol in spoken]
        for symbol, variable in used:
            self.graph.number(symbol, f"{variable.kind} {variable.source_name}")
        return [variable for _, variable in used]

    @property
    def _homes(self) -> dict[str, str]:
        return {symbol: variable.home for symbol, variable in self.inputs.items()}

    @property
    def _names(self) -> dict[str, str]:
        return {symbol: variable.source_name for symbol, variable in self.inputs.items()}

    def _assume(self, condition: str) -> None:
        """A decision was taken: it must be the same whenever the variant runs."""
        code, words = renamed(condition, self._homes), renamed(condition, self._names)
        spoken = [v for s, v in self.inputs.items() if renamed(condition, {s: ""}) != condition]
        subject = f"({', '.join(v.home for v in spoken)},)"

        def mismatch(values: tuple[int | float, ...]) -> Mismatch:
            actual = ", ".join(f"{v.source_name} = {n!r}" for v, n in zip(spoken, values))
            return Mismatch(words, actual, f"{words} does not hold: {actual}")

        name = ", ".join(v.source_name for v in spoken)
        origin = self.builder.origin
        self.builder.add(Guard("SHAPE_ENV", name, code, subject, words, mismatch, origin))

    def _fix(self, symbols: set[str]) -> None:
        for symbol in symbols:
            self.varying.refuse(self.inputs[symbol].source_name)


def as_constant(numbers: Numbers, variable: Variable) -> Variable:
    """A symbolic number as a constant, anything else as it is."""
    return numbers.constant(variable) if isinstance(variable, NumberVariable) else variable


def lifted(value: Any) -> Variable:
    """A variable for what symbolic arithmetic gave; with numbers that were fixed it gives numbers.
    """
    if isinstance(value, SymNumber):
        return NumberVariable(value, value.hint)
    if isinstance(value, tuple):
        return TupleVariable([lifted(item) for item in value])
    if kinds.is_too_long(value):
        raise Break("operation", what=f"an integer of {value.bit_length()} bits")
    return Constant(value)
