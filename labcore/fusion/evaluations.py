"""How often a schedule evaluates what is dear: exp, tanh, roots ...

In: a `Schedule`.  Out: {primitive: times}, polynomials where sizes are symbols.
Invariant: counted as kernels are printed: a value that is in hand is not computed again, and what
does not vary along the inner loop is computed before it. Accesses alone do not tell which of two
schedules is faster; a gate over n rows saves 2n of them and takes n times as many tanh.
"""
from __future__ import annotations

from .handlers import Name, Printer
from .ir import Expr, using
from .nest import Nest
from .parts import ENDS
from .primitives import PRIMITIVES, SUMEXP
from .scheduler import Schedule


def evaluations(schedule: Schedule) -> dict[str, Expr]:
    """The evaluations of all nests together; calls of operators count nothing."""
    found: dict[str, Expr] = {}
    for nest in schedule.nests:
        for name, times in _Counting(nest).evaluate().items():
            found[name] = found.get(name, Expr()) + times
    return found


class _Counting(Printer):
    """Prints nothing, and counts what it would print."""

    def __init__(self, nest: Nest) -> None:
        super().__init__(nest.buffers_by_name, [v for v, _ in nest.inner_loops])
        self.nest, self.part = nest, "each"
        self.stored_at = Expr()
        self.found: dict[str, Expr] = {}

    def evaluate(self) -> dict[str, Expr]:
        with using(self):
            for step in self.nest.passes:
                reduced: list[tuple[str, Expr]] = []
                for node in (*step.before, *step.inside):
                    self.part = self.nest.parts[node]
                    self.nest.run(node)
                    if self.part == "rowred":
                        reduced.append((node.name, self.stored_at))
                self.next_pass()
                for buffer, at in reduced:  # complete, and the same all along the row
                    self.held[buffer, at] = Name(buffer, self.buffers[buffer].dtype)
            for part in ENDS:
                self._end(part)
        return self.found

    def _end(self, part: str) -> None:
        """What is computed once the last row is done."""
        self.begin_end(self.nest.completed)
        for node in self.nest.ends:
            self.part = self.nest.parts[node]
            if self.part == part:
                self.nest.run(node)

    def op(self, name: str, *args: Name) -> Name:
        known = len(self.memo)
        made = super().op(name, *args)
        if PRIMITIVES[name].heavy and len(self.memo) > known:
            self._evaluated(name, made in self.varying)
        return made

    def _evaluated(self, name: str, varies: bool) -> None:
        self.found[name] = self.found.get(name, Expr()) + self.nest.turns(self.part, varies)

    def put(self, varies: bool, text: str) -> None:
        pass

    def store(self, buffer: str, at: Expr, value: Name) -> None:
        self.held[buffer, at] = value

    def reduce(self, buffer: str, at: Expr, kind: str, value: Name) -> None:
        self.stored_at = at
        if kind == SUMEXP:
            self._evaluated("exp", self.part != "fold")

    def scan(self, buffer: str, at: Expr, kind: str, value: Name) -> None:
        total = Name(f"{self.prefix}{self.count}", self.buffers[buffer].dtype)
        self.count += 1
        self.varying.add(total)
        self.held[buffer, at] = total

    def scatter(self, buffer: str, at: Expr, value: Name, add: bool) -> None:
        pass

    def check(self, value: Name, size: Expr) -> None:
        pass
