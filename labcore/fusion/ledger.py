"""The access ledger: how often a schedule touches memory, counted three ways that must agree.

    ledger            the loop IR under the counting handler; polynomials where sizes are symbols
    count_by_running  an instrumented run in pure Python over counting lists
    count_in_source   the text of printed kernels: subscripts times the turns of their loops

A logical access is one element read or written once. Five tables, each by buffer:
    loads, stores   between the nest and memory: the ledger proper
    again           loads that a later pass of the same nest repeats (near by, in L1)
    rows            a row that one pass leaves for a later one of the same nest
    folds           a column result being accumulated (a load and a store each turn), the totals of
                    a scan of columns, and what is read to be added to at a place
Invariant: `executed` (all five) is what runs; `accesses` (loads + stores) is what students count:
7N apart, 3N fused. Extern steps count nothing: they move the same data fused or not.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import dtypes
from ..graph import Graph
from .handlers import Quiet
from .interpret import Run, run
from .ir import Buffer, Expr, using
from .lowering import lower
from .nest import Nest
from .parts import ENDS
from .scheduler import Schedule, schedule

TABLES = ("loads", "stores", "again", "rows", "folds")
Table = dict[str, Expr]  # buffer -> how many accesses


@dataclass
class Ledger:
    """Accesses by table and buffer; `itemsize` by buffer turns them into bytes."""

    loads: Table = field(default_factory=dict)
    stores: Table = field(default_factory=dict)
    again: Table = field(default_factory=dict)
    rows: Table = field(default_factory=dict)
    folds: Table = field(default_factory=dict)
    itemsize: dict[str, int] = field(default_factory=dict)

    @property
    def accesses(self) -> Expr:
        """Loads and stores."""
        return _total(self.loads) + _total(self.stores)

    @property
    def executed(self) -> Expr:
        return sum((_total(getattr(self, t)) for t in TABLES), Expr())

    @property
    def bytes(self) -> Expr:
        """The bytes of `accesses`."""
        tables = (self.loads, self.stores)
        return sum((n * self.itemsize[b] for table in tables for b, n in table.items()), Expr())

    def add(self, tables: Mapping[str, Mapping[str, Expr | int]]) -> None:
        for name, table in tables.items():
            mine = getattr(self, name)
            for buffer, times in table.items():
                mine[buffer] = mine.get(buffer, Expr()) + times

    def __str__(self) -> str:
        lines = [f"{self.accesses} accesses, {self.bytes} bytes"]
        for name in TABLES:
            table = getattr(self, name)
            if table:
                lines.append(f"  {name}: " + ", ".join(f"{b} {n}" for b, n in table.items()))
        return "\n".join(lines)


def _total(table: Table) -> Expr:
    return sum(table.values(), Expr())


class Count(Quiet):
    """The access ledger of one nest, by buffer; values are whether they vary along the inner loop.

    What the nest has in hand costs nothing, nor does a store of a buffer that never leaves it; what
    does not vary along the inner loop is read before it. See `ledger.py` for what the five tables
    mean.
    """

    def __init__(self, nest: Nest) -> None:
        self.nest, self.part = nest, "each"
        self.loads: Table = {}
        self.stores: Table = {}
        self.again: Table = {}
        self.rows: Table = {}
        self.folds: Table = {}
        self.in_hand: dict[tuple[str, Expr], bool] = {}
        self.moving: set[str] = set()  # places that change along the inner loop
        self.met: set[tuple[str, Expr]] = set()

    def op(self, name: str, *args: bool) -> bool:
        return any(args)

    def constant(self, value: Any, dtype: dtypes.dtype) -> bool:
        return False

    def to_dtype(self, value: bool, dtype: dtypes.dtype) -> bool:
        return value

    def index(self, expr: Expr, dtype: dtypes.dtype) -> bool:
        return self.nest.varies(expr)

    def place(self, name: str, value: bool, size: Expr) -> Expr:
        if value:
            self.moving.add(name)
        return Expr.of(name)

    def load(self, buffer: str, at: Expr) -> bool:
        if (buffer, at) not in self.in_hand:
            varies = self.nest.varies(at) or not self.moving.isdisjoint(at.symbols)
            table = self.again if (buffer, at) in self.met else self.loads
            if self.nest.homes.get(buffer) == "row":
                table = self.rows
            if self.nest.buffers_by_name[buffer].numel.const != 0:
                self._add(table, buffer, self.nest.turns(self.part, varies))
            self._meet(buffer, at, varies)
        return self.in_hand[buffer, at]

    def store(self, buffer: str, at: Expr, value: bool) -> None:
        home = self.nest.homes[buffer]
        if home in ("memory", "row"):
            turns = self.nest.turns(self.part, self.part not in ("row", "last"))
            self._add(self.stores if home == "memory" else self.rows, buffer, turns)
        self._meet(buffer, at, value)

    def reduce(self, buffer: str, at: Expr, kind: str, value: bool) -> None:
        in_memory = self.nest.homes[buffer] == "memory"
        if self.part == "colred":
            self._add_column(buffer, in_memory)
        elif in_memory:
            self._add(self.stores, buffer, self.nest.rows if self.part == "rowred" else Expr.of(1))
        if self.part != "fold":
            self._meet(buffer, at, False)

    def _add_column(self, buffer: str, in_memory: bool) -> None:
        """Scratch is set at first and read at last; memory is set, and read if there is work on it
        then."""
        node = self.nest.group.made[buffer]
        if in_memory:
            self._add(self.stores, buffer, node.out.numel)
        more = 2 if self.nest.adds_up_apart(node) else int(self.nest.read_at_end(node))
        turns = self.nest.rows * self.nest.columns * 2
        self._add(self.folds, buffer, turns + node.out.numel * more)

    def scan(self, buffer: str, at: Expr, kind: str, value: bool) -> None:
        if self.part == "colscan":
            self._add(self.folds, buffer, self.nest.batches * self.nest.columns)
            self._add(self.folds, buffer, self.nest.rows * self.nest.columns * 2)
        self.store(buffer, at, True)

    def scatter(self, buffer: str, at: Expr, value: bool, add: bool) -> None:
        turns = self.nest.rows * self.nest.columns
        self._add(self.stores, buffer, turns)
        if add:
            self._add(self.folds, buffer, turns)

    def next_pass(self) -> None:
        """What varied along the inner loop is no longer in hand."""
        self.in_hand = {access: varies for access, varies in self.in_hand.items() if not varies}

    def _add(self, table: Table, buffer: str, turns: Expr) -> None:
        table[buffer] = table.get(buffer, Expr()) + turns

    def _meet(self, buffer: str, at: Expr, varies: bool) -> None:
        self.in_hand[buffer, at] = varies
        self.met.add((buffer, at))


def ledger(schedule: Schedule) -> Ledger:
    """Count a schedule by its loop IR."""
    total = _empty(schedule.program.buffers.values())
    for nest in schedule.nests:
        count = count_nest(nest)
        total.add({name: getattr(count, name) for name in TABLES})
    return total


def count_nest(nest: Nest) -> Count:
    count = Count(nest)
    with using(count):
        for step in nest.passes:
            for node in (*step.before, *step.inside):
                count.part = nest.parts[node]
                nest.run(node)
            count.next_pass()
        for part in ENDS:
            count.in_hand = nest.completed
            for node in nest.ends:
                count.part = nest.parts[node]
                if count.part == part:
                    nest.run(node)
    return count


def count_by_running(schedule: Schedule, inputs: Sequence[Any],
                     constants: Mapping[str, Any] | None = None) -> tuple[Ledger, Run]:
    """Count by running on real data; also gives the run, with its outputs and memory."""
    ran = run(schedule, inputs, constants)
    total = _empty(schedule.program.buffers.values())
    for counts in ran.counts:
        total.add(counts)
    return total, ran


def _empty(buffers: Iterable[Buffer]) -> Ledger:
    return Ledger(itemsize={b.name: b.dtype.itemsize for b in buffers})


def before_and_after(graph: Graph, fused: Schedule) -> tuple[Ledger, Ledger]:
    """The ledger of one loop an operator, and of the schedule."""
    return ledger(separate(graph)), ledger(fused)


def separate(graph: Graph) -> Schedule:
    """Every operator as a loop of its own: what eager mode does."""
    return schedule(lower(graph, fuse=False), fuse=False)
