"""The schedule run in pure Python over flat lists: the oracle of every printer.

It needs no numba, and numpy only at the edges.

In: a `Schedule` and its inputs.  Out: the outputs, and what was read and written while they were
made.
Invariant: it does what a printed kernel does: a value that is in hand is not read again, a value
that never leaves a nest is not written, what does not vary along the inner loop is read before it;
float32 is rounded after every step, a half where it is made, and sums, which add up in a wider
type, once they are complete.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .. import dtypes
from ..shapes import SymNumber, Values
from .cells import Memory, Number, plain, rounded
from .deps import Node
from .handlers import Handler, Reads
from .ir import Buffer, Expr, using
from .nest import Nest
from .parts import OVER_ROWS
from .primitives import (
    PRIMITIVES,
    SCANS,
    accumulator,
    addition,
    begun,
    finished,
    identity,
    taken_in,
)
from .program import Extern, Operand
from .scheduler import Schedule

Loop = tuple[str, Expr]  # a variable, and how many turns


class Interpreter(Handler):
    """Runs one nest's bodies; `env` has the loop variables of this turn, `memory` the storages.

    Besides running them it notes every access in the tables of `ledger.py`, at the moment it
    happens.
    """

    def __init__(
        self, nest: Nest, memory: Mapping[str, Memory], numbers: Mapping[str, Any] | None = None
    ) -> None:
        self.nest, self.memory = nest, memory
        self.env: dict[str, Any] = Values(numbers or {})
        self.in_hand: dict[tuple[str, Expr], Number] = {}
        self.folded: dict[str, Any] = {}  # what the rows so far add up to
        self.totals: dict[tuple, Any] = {}  # of scans: by buffer, for columns also by their loops
        self.moving: set[str] = set()  # places that change along the inner loop
        self.row: dict[str, dict[int, Any]] = {}  # what one pass leaves for a later one
        self.part, self.pass_number = "each", 0
        self.met: dict[tuple[str, Expr], int] = {}
        self.counts: dict[str, dict[str, int]] = {
            t: {} for t in ("loads", "stores", "again", "rows", "folds")
        }

    def op(self, name: str, *args: Number) -> Number:
        primitive = PRIMITIVES[name]
        dtype = primitive.dtype(*(a.dtype for a in args))
        return Number(
            rounded(primitive.fn(*(a.value for a in args)), dtype),
            dtype,
            any(a.varies for a in args),
        )

    def constant(self, value: Any, dtype: dtypes.dtype) -> Number:
        if isinstance(value, SymNumber):
            value = value.evaluate(self.env)
        return Number(rounded(value, dtype), dtype, False)

    def to_dtype(self, value: Number, dtype: dtypes.dtype) -> Number:
        return Number(rounded(value.value, dtype), dtype, value.varies)

    def index(self, expr: Expr, dtype: dtypes.dtype) -> Number:
        return Number(rounded(expr.value(self.env), dtype), dtype, self.nest.varies(expr))

    def place(self, name: str, value: Number, size: Expr) -> Expr:
        if not 0 <= value.value < size.value(self.env):
            raise IndexError(f"index {value.value} is out of range: the size is {size}")
        self.env[name] = value.value
        if value.varies:
            self.moving.add(name)
        return Expr.of(name)

    def load(self, buffer: str, at: Expr) -> Number:
        if (buffer, at) not in self.in_hand:
            dtype = self.nest.buffers_by_name[buffer].dtype
            varies = self.nest.varies(at) or not self.moving.isdisjoint(at.symbols)
            self.in_hand[buffer, at] = Number(self._read(buffer, at), dtype, varies)
        return self.in_hand[buffer, at]

    def _read(self, buffer: str, at: Expr) -> Any:
        place = at.value(self.env)
        if self.nest.homes.get(buffer) == "row":
            self._count("rows", buffer)
            return self.row[buffer][place]
        first = self.met.setdefault((buffer, at), self.pass_number)
        self._count("loads" if first == self.pass_number else "again", buffer)
        return self.memory[self.nest.storage(buffer)][place]

    def store(self, buffer: str, at: Expr, value: Number) -> None:
        home = self.nest.homes[buffer]
        if home == "row":
            self._count("rows", buffer)
            self.row.setdefault(buffer, {})[at.value(self.env)] = value.value
        elif home == "memory":
            self._write(buffer, at, value.value)
        self.in_hand[buffer, at] = value
        self.met.setdefault((buffer, at), self.pass_number)

    def _write(self, buffer: str, at: Expr, value: Any) -> None:
        self._count("stores", buffer)
        self.memory[self.nest.storage(buffer)][at.value(self.env)] = value

    def reduce(self, buffer: str, at: Expr, kind: str, value: Number) -> None:
        """Row results accumulate in hand, column results in memory; rounded when complete."""
        if self.part == "fold":
            self.folded[buffer] = taken_in(kind, self.folded[buffer], value.value)
        elif self.part == "rowred":
            old = self.in_hand[buffer, at]
            sofar = taken_in(kind, old.value, value.value)
            self.in_hand[buffer, at] = Number(sofar, old.dtype, False)
        else:
            cells, place = self.memory[self.nest.storage(buffer)], at.value(self.env)
            cells[place] = taken_in(kind, cells[place], value.value)
            self._count("folds", buffer, 2)

    def scan(self, buffer: str, at: Expr, kind: str, value: Number) -> None:
        dtype, key = self.nest.buffers_by_name[buffer].dtype, (buffer,)
        if self.part == "colscan":
            loops = (*self.nest.batch_loops, *self.nest.inner_loops)
            key = (buffer, *[self.env[var] for var, _ in loops])
            self._count("folds", buffer, 2)
        wide = accumulator(kind, dtype)
        before = self.totals.get(key, identity(kind, wide))
        total = rounded(PRIMITIVES[SCANS[kind]].fn(before, value.value), wide)
        self.totals[key] = total
        self.store(buffer, at, Number(rounded(total, dtype), dtype, True))

    def scatter(self, buffer: str, at: Expr, value: Number, add: bool) -> None:
        dtype = self.nest.buffers_by_name[buffer].dtype
        if add:
            self._count("folds", buffer)
            old = self.memory[self.nest.storage(buffer)][at.value(self.env)]
            value = self.op(addition(dtype), Number(old, dtype, True), value)
        self._write(buffer, at, value.value)

    def _count(self, table: str, buffer: str, times: int = 1) -> None:
        self.counts[table][buffer] = self.counts[table].get(buffer, 0) + times

    # ---- the loops ----

    def run(self) -> None:
        """Every turn of every loop of the nest."""
        for node in self.nest.nodes:
            if self.nest.parts[node] == "colscan":
                totals = self.nest.batches * self.nest.columns
                self._count("folds", node.name, totals.value(self.env))
        over_rows = [n for n in self.nest.nodes if self.nest.parts[n] in OVER_ROWS]
        for node in over_rows:
            self._clear(node)
        with using(self):
            self._loop(self.nest.outer_loops, self._turn_of_row)
            for node in over_rows:
                self._complete(node)
            self._end("column", self.nest.batch_loops, self.nest.inner_loops)
            self._end("last", [], [])

    def _clear(self, node: Node) -> None:
        """A result of all rows starts; a column, where it adds up."""
        kind, dtype = node.loops.kind, node.out.dtype
        self.folded[node.name] = start = begun(kind, dtype)
        if self.nest.parts[node] == "fold":
            return
        cells = self.memory[self.nest.storage(node.name)]
        for k in range(len(cells)):
            cells[k] = start
        if self.nest.homes[node.name] == "memory":
            self._count("stores", node.name, len(cells))
        more = 2 if self.nest.adds_up_apart(node) else int(self.nest.read_at_end(node))
        self._count("folds", node.name, more * len(cells))

    def _complete(self, node: Node) -> None:
        """After the last row."""
        dtype = node.out.dtype
        if self.nest.parts[node] == "fold":
            total = finished(node.loops.kind, self.folded[node.name])
            self.folded[node.name] = rounded(total, dtype)
            if self.nest.homes[node.name] == "memory":
                self._write(node.name, self._offset(node), self.folded[node.name])
            return
        cells = self.memory[self.nest.storage(node.name)]
        for k, value in enumerate(list(cells)):
            cells.quietly(k, rounded(value, dtype))

    def _end(self, part: str, outer: Sequence[Loop], inner: Sequence[Loop]) -> None:
        """What is computed of complete results: over their columns, or once."""
        nodes = [n for n in self.nest.ends if self.nest.parts[n] == part]
        made = "colred" if part == "column" else "fold"
        done = [(n, self._offset(n)) for n in self.nest.nodes if self.nest.parts[n] == made]
        self.pass_number += 1

        def turn() -> None:
            for node, at in done:
                self._hold(node, at, self._result(node, at), part == "column")
            self._turn(nodes)

        def batch() -> None:
            self.in_hand = {}
            self._loop(inner, turn)

        if nodes:
            self._loop(outer, batch)

    def _result(self, node: Node, at: Expr) -> Any:
        if self.nest.parts[node] == "fold":
            return self.folded[node.name]
        return list.__getitem__(self.memory[self.nest.storage(node.name)], at.value(self.env))

    def _loop(self, loops: Sequence[Loop], turn: Callable[[], None]) -> None:
        if not loops:
            return turn()
        (var, size), *rest = loops
        for k in range(size.value(self.env)):
            self.env[var] = k
            self._loop(rest, turn)

    def _turn_of_row(self) -> None:
        self.in_hand = {}
        for number, step in enumerate(self.nest.passes):
            self.pass_number = number
            for node in step.before:
                self.part = self.nest.parts[node]
                self.nest.run(node)
            for node in step.inside:
                if self.nest.parts[node] == "rowscan":
                    self.totals.pop((node.name,), None)
            opened = [(n, self._offset(n)) for n in step.inside if self.nest.parts[n] == "rowred"]
            for node, at in opened:
                self._hold(node, at, begun(node.loops.kind, node.out.dtype))
            if step.inside and self.nest.columns.value(self.env) == 0:
                self._read_before(step.inside)
            elif step.inside:
                self._loop(self.nest.inner_loops, partial(self._turn, step.inside))
            for node, at in opened:
                total = finished(node.loops.kind, self.in_hand[node.name, at].value)
                total = rounded(total, node.out.dtype)
                self._hold(node, at, total)
                if self.nest.homes[node.name] == "memory":
                    self._write(node.name, at, total)

    def _read_before(self, nodes: Sequence[Node]) -> None:
        """What does not vary along a loop is read before it, also where it has no turns; of a
        buffer without elements there is nothing to read."""
        with using(Reads()) as reads:
            for node in nodes:
                self.nest.run(node)
        for buffer, at in reads.loads:
            fixed = not self.nest.varies(at) and reads.places.keys().isdisjoint(at.symbols)
            if fixed and self.nest.buffers_by_name[buffer].numel.value(self.env):
                self.load(buffer, at)

    def _hold(self, node: Node, at: Expr, value: Any, varies: bool = False) -> None:
        self.in_hand[node.name, at] = Number(value, node.out.dtype, varies)

    def _turn(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            self.part = self.nest.parts[node]
            self.nest.run(node)
        self.in_hand = {k: v for k, v in self.in_hand.items() if not v.varies}

    def _offset(self, node: Node) -> Expr:
        """Where a reduction stores its result, over the merged variables."""
        with using(Reads()) as reads:
            self.nest.run(node)
        return reads.stores[-1][1]


# ---- whole schedules -----------------------------------------------------------------------------


@dataclass
class Run:
    """The outputs as arrays, every storage, the accesses of each nest by table and buffer."""

    outputs: list[Any]
    memory: dict[str, Memory]
    counts: list[dict[str, dict[str, int]]]


def run(
    schedule: Schedule,
    inputs: Sequence[Any],
    constants: Mapping[str, Any] | None = None,
    interpreter: Callable[..., Interpreter] = Interpreter,
) -> Run:
    """Run a schedule on numbers and arrays (or tensors) in the order of the graph's placeholders.

    `constants` are the graph module's attributes, when the graph has get_attr nodes; each nest is
    run by an `interpreter` of its own.
    """
    program = schedule.program
    count = len(program.numbers)
    numbers = Values(zip(program.numbers, inputs[:count], strict=True))
    given = {b.name: value for b, value in zip(program.inputs, inputs[count:], strict=True)}
    given.update({name: (constants or {})[key] for name, key in program.constants.items()})
    memory = {
        b.name: Memory(_cells(b, given.get(b.name), numbers))
        for b in schedule.buffers.values()
        if b.storage == b.name
    }
    counts = []
    for step in schedule.steps:
        if isinstance(step, Nest):
            running = interpreter(step, memory, numbers)
            running.run()
            counts.append(running.counts)
        else:
            _call(step, schedule.buffers, memory, numbers)
    outputs = [
        array(schedule.buffers[b.name], memory, numbers) if isinstance(b, Buffer) else b
        for b in program.outputs
    ]
    return Run(outputs, memory, counts)


def _cells(buffer: Buffer, value: Any, numbers: Mapping[str, Any]) -> list[Any]:
    """A storage's elements in memory order; one that nobody has written is full of nan (or 0)."""
    span = buffer.span.value(numbers)
    blank = np.full(span, np.nan if buffer.dtype.is_floating_point else 0, buffer.dtype.numpy)
    shape, strides = _numbers(buffer.shape, numbers), _numbers(buffer.strides, numbers)
    if value is not None:
        found = np.asarray(getattr(value, "array", value))
        if found.shape != shape or found.dtype != buffer.dtype.numpy:
            raise ValueError(f"input {buffer} got {found.dtype}{list(found.shape)}")
        _strided(blank, shape, strides)[...] = found
    return plain(blank).tolist()


def _numbers(values: Sequence[Any], numbers: Mapping[str, Any]) -> tuple[int, ...]:
    """Sizes or strides for these values of the symbols."""
    return tuple(Expr.of(value).value(numbers) for value in values)


def array(
    buffer: Buffer, memory: Mapping[str, Memory], numbers: Mapping[str, Any] | None = None
) -> np.ndarray:
    """A buffer's elements as an array with its strides."""
    cells = np.array(list(memory[buffer.storage]), buffer.dtype.numpy)
    given = numbers or {}
    return _strided(cells, _numbers(buffer.shape, given), _numbers(buffer.strides, given))


def _strided(
    cells: np.ndarray, shape: Sequence[Any], strides: Sequence[Any], offset: int = 0
) -> np.ndarray:
    steps = [s * cells.itemsize for s in strides]
    return np.lib.stride_tricks.as_strided(cells[offset:], shape, steps)


def _call(
    step: Extern,
    buffers: Mapping[str, Buffer],
    memory: Mapping[str, Memory],
    numbers: Mapping[str, Any],
) -> None:
    """An extern step: the operator's eager kernel on arrays made of the cells."""
    def tensor(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)([tensor(v) for v in value])
        if isinstance(value, SymNumber):
            return value.evaluate(numbers)
        if not isinstance(value, Operand):
            return value
        storage = buffers[value.buffer.name].storage
        cells = np.array(list(memory[storage]), value.buffer.dtype.numpy)
        shape, strides = _numbers(value.shape, numbers), _numbers(value.strides, numbers)
        return _strided(cells, shape, strides, Expr.of(value.offset).value(numbers))

    result = step.op.kernel(*tensor(step.args), **{k: tensor(v) for k, v in step.kwargs.items()})
    out = step.out
    cells = np.empty(out.span.value(numbers), out.dtype.numpy)
    _strided(cells, _numbers(out.shape, numbers), _numbers(out.strides, numbers))[...] = result
    for place, value in enumerate(plain(cells).tolist()):
        memory[step.out.storage].quietly(place, value)
