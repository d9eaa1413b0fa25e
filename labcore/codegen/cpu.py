"""A nest of loops, printed as a CPU kernel: Python text that numba compiles and Python can run.

In: a `Nest`.  Out: a `Kernel`: its text, its parameters, its scratch.
A parameter is a pointer to a storage's first element, or a number: a symbolic size, or what else is
the same in all turns, computed by the wrapper. An offset is a polynomial of the loop variables.
A flat chain is one loop; rows are an outer loop with inner passes whose row stays in L1.  What does
not vary along the inner loop is printed before it.
Invariants: one statement a line, each with the user's line beside it; no name is both a parameter
and a word of the language. Inductor prints C++ with explicit vector types and OpenMP; here LLVM
vectorises, one thread runs.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from .. import dtypes
from ..fusion.deps import Node
from ..fusion.handlers import Name, Printer
from ..fusion.ir import LAST, Asked, Expr, is_index, is_place, ops, using
from ..fusion.nest import Nest, Pass
from ..fusion.primitives import SCANS, accumulator, addition, identity
from ..graph import Node as GraphNode, signature
from ..shapes import SymFloat, SymNumber
from . import kernel_math, spelling

RESERVED = {"range", "bool", "abs", "not", *(n for n in vars(kernel_math) if not n.startswith("_"))}
NAME_LENGTH = 60
NOTE_LENGTH = 48


class Note(str):
    """The user's line that a statement comes from, as it is printed; `node` is the graph node,
    `asked` the question of which loop body."""

    node: str = ""
    asked: Asked = ("", LAST)


Line = tuple[str, str]  # code, and its Note; "" for what is no statement


@dataclass(frozen=True)
class Parameter:
    """What a kernel takes: a pointer to a storage, or to `scratch` elements that the wrapper lends;
    or a number, and `storage` is the Python for it."""

    name: str
    dtype: dtypes.dtype
    storage: str
    scratch: Expr | None = None
    number: bool = False

    @property
    def annotation(self) -> str:
        return self.dtype.name if self.number else f"{self.dtype.name}*"


@dataclass(frozen=True)
class Kernel:
    """A printed kernel: the text of one function. `notes` has, for each of its lines, what the
    line comes from."""

    name: str
    source: str
    parameters: tuple[Parameter, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.source


def print_kernel(nest: Nest, number: int = 0) -> Kernel:
    """The kernel of a nest, numbered within its program."""
    return _CpuPrinter(nest).print(kernel_name(nest, number))


def kernel_name(nest: Nest, number: int) -> str:
    """`numba_fused_add_mul_relu_0`: the operators, sorted as in PyTorch; cut when long."""
    words = sorted({node.target_name for n in nest.nodes if n.loops for node in n.loops.origin})
    name = "numba_fused"
    for word in words:
        if len(name) + len(word) > NAME_LENGTH:
            break
        name += f"_{word.strip('_')}"
    return f"{name}_{number}"


def unique_name(wanted: str, taken: Iterable[str]) -> str:
    """The name itself, with an underscore when it would hide a word of the text or another name."""
    while wanted in taken or keyword.iskeyword(wanted) or re.fullmatch(r"(tmp|i)\d+", wanted):
        wanted += "_"
    return wanted


@dataclass
class _Section:
    """The statements of one pass: what runs before its inner loop, inside it, and after it."""

    before: list[Line] = field(default_factory=list)
    inside: list[Line] = field(default_factory=list)
    after: list[Line] = field(default_factory=list)


class _CpuPrinter(Printer):
    def __init__(self, nest: Nest) -> None:
        super().__init__(nest.buffers_by_name, [v for v, _ in nest.inner_loops])
        self.nest = nest
        self.section = _Section()
        self.part = ""
        self.names: dict[str, str] = {}  # storages and locals -> what they are called in the text
        self.parameters = {
            s: Parameter(self._name(s), self.buffers[s].dtype, s) for s in nest.arguments
        }

    def _name(self, wanted: str) -> str:
        """A name of its own for a storage, a row of scratch or an accumulator."""
        if wanted not in self.names:
            name = unique_name(wanted, {*RESERVED, *self.names.values()})
            self.names[wanted] = name
        return self.names[wanted]

    # ---- what the loop bodies say ----

    def put(self, varies: bool, text: str) -> None:
        (self.section.inside if varies else self.section.before).append((text, _note()))

    def spell(self, name: str, args: tuple[Name, ...], dtype: dtypes.dtype) -> str:
        return spelling.spell(name, args, args[-1].dtype)

    def spell_cast(self, value: Name, dtype: dtypes.dtype) -> str:
        return spelling.cast(value, value.dtype, dtype)

    def constant(self, value: object, dtype: dtypes.dtype) -> Name:
        if isinstance(value, SymNumber):
            return self.number(value, dtype)
        return Name(spelling.constant(value, dtype), dtype)

    def spell_number(self, value: SymNumber, dtype: dtypes.dtype) -> str:
        kind = dtypes.float64 if isinstance(value, SymFloat) else dtypes.int64
        given = self._number(value.text, kind)
        return spelling.cast(given, kind, dtype) if dtype is not kind else given

    def _number(self, text: str, kind: dtypes.dtype) -> str:
        """The parameter for a number that the wrapper computes."""
        if text not in self.parameters:
            wanted = text if text.isidentifier() else f"number{len(self.parameters)}"
            self.parameters[text] = Parameter(self._name(wanted), kind, text, number=True)
        return self.parameters[text].name

    def spell_offset(self, expr: Expr) -> str:
        """An offset or a size in the names of the kernel."""
        symbols = sorted(s for s in expr.symbols if not is_index(s) and not is_place(s))
        given = {symbol: self._number(symbol, dtypes.int64) for symbol in symbols}
        given |= {place: name for place, name in self.places.items() if place in expr.symbols}
        return str(expr.subs({s: Expr.of(str(name)) for s, name in given.items()}))

    def spell_index(self, expr: Expr, dtype: dtypes.dtype) -> str:
        return f"{dtype.name}({self.spell_offset(expr)})"

    def read(self, buffer: str, at: Expr) -> str:
        cell = self._cell(buffer, at)
        return f"bool({cell})" if self.buffers[buffer].dtype is dtypes.bool else cell

    def store(self, buffer: str, at: Expr, value: Name) -> None:
        if self.nest.homes[buffer] in ("memory", "row"):
            self.put(self.part != "row", f"{self._cell(buffer, at)} = {value}")
        self.held[buffer, at] = value

    def scan(self, buffer: str, at: Expr, kind: str, value: Name) -> None:
        wide = accumulator(kind, value.dtype)
        more, name, dtype = self.to_dtype(value, wide), SCANS[kind], value.dtype
        if self.part == "rowscan":
            start, cell = self.section.before, self._name(f"{buffer}_acc")
            start.append((f"{cell} = {spelling.constant(identity(kind, wide), wide)}", _note()))
        else:
            cell = self._total_cell(buffer, wide)
        total = self._local(spelling.spell(name, [cell, more], wide), wide)
        self.put(True, f"{cell} = {total}")
        if dtype is not wide:
            total = self._local(spelling.cast(total, wide, dtype), dtype)
        self.store(buffer, at, total)

    def _local(self, text: str, dtype: dtypes.dtype) -> Name:
        """A new variable of the inner loop."""
        name = Name(f"{self.prefix}{self.count}", dtype)
        self.count += 1
        self.varying.add(name)
        self.put(True, f"{name} = {text}")
        return name

    def scatter(self, buffer: str, at: Expr, value: Name, add: bool) -> None:
        cell = self._cell(buffer, at)
        if add:
            old = f"bool({cell})" if value.dtype is dtypes.bool else cell
            text = spelling.spell(addition(value.dtype), [old, value], value.dtype)
        else:
            text = value
        self.put(self.part == "each", f"{cell} = {text}")

    def reduce(self, buffer: str, at: Expr, kind: str, value: Name) -> None:
        total_type = accumulator(kind, value.dtype)
        more = self.to_dtype(value, total_type)
        if self.part == "rowred":
            total = self._name(f"{buffer}_acc")
            self.section.before.append(
                (f"{total} = {spelling.constant(identity(kind, total_type), total_type)}", _note())
            )
            self.put(True, f"{total} = {spelling.combine(kind, total, more, total_type)}")
            self._finish_row(buffer, at, Name(total, total_type), value.dtype)
        else:
            cell = self._column_cell(buffer, at, kind)
            old = f"bool({cell})" if value.dtype is dtypes.bool else cell
            self.put(True, f"{cell} = {spelling.combine(kind, old, more, total_type)}")

    # ---- where values live ----

    def _cell(self, buffer: str, at: Expr) -> str:
        """An element: of a storage, of the output row that is borrowed, or of a row of scratch."""
        if self.nest.homes.get(buffer) != "row":
            return f"{self.names[self.nest.storage(buffer)]}[{self.spell_offset(at)}]"
        if buffer in self.nest.lends:
            host = self.names[self.nest.storage(self.nest.lends[buffer])]
            return f"{host}[{self.spell_offset(at)}]"
        row = self._scratch(f"{buffer}_row", self.buffers[buffer].dtype)
        return f"{row}[{self.spell_offset(self.nest.column)}]"

    def _scratch(self, name: str, dtype: dtypes.dtype) -> str:
        """A row as long as the inner loops, lent by the wrapper."""
        if name not in self.parameters:
            self.parameters[name] = Parameter(self._name(name), dtype, name, self.nest.columns)
        return self.parameters[name].name

    def _column_cell(self, buffer: str, at: Expr, kind: str) -> str:
        """Where a column adds up: in the output, or in scratch when it adds up in a wider type."""
        dtype = self.buffers[buffer].dtype
        total_type = accumulator(kind, dtype)
        if total_type is dtype:
            return f"{self.names[self.nest.storage(buffer)]}[{self.spell_offset(at)}]"
        return self._total_cell(buffer, total_type)

    def _total_cell(self, buffer: str, dtype: dtypes.dtype) -> str:
        totals = self._scratch(f"{buffer}_total", dtype)
        return f"{totals}[{self.spell_offset(self.nest.column)}]"

    def _finish_row(self, buffer: str, at: Expr, total: Name, dtype: dtypes.dtype) -> None:
        """After the inner loop: the sum in the result's type, stored if it leaves the nest."""
        done = total
        if total.dtype is not dtype:
            done = Name(f"{self.prefix}{self.count}", dtype)
            self.count += 1
            self.section.after.append(
                (f"{done} = {spelling.cast(total, total.dtype, dtype)}", _note())
            )
        if self.nest.homes[buffer] == "memory":
            self.section.after.append((f"{self._cell(buffer, at)} = {done}", _note()))
        self.finished[buffer, at] = done

    # ---- the text ----

    def print(self, name: str) -> Kernel:
        with using(self):
            passes = [line for part in self.nest.passes for line in self._pass(part)]
        batch = [
            *self._start_columns(),
            *self._start_scans(),
            *self._loops(self.nest.row_loops, passes),
            *self._end_columns(),
        ]
        lines = self._loops(self.nest.batch_loops, batch)
        parameters = tuple(self.parameters.values())
        head = signature(name, [f'{p.name}: "{p.annotation}"' for p in parameters])
        lines = _indented(lines or [("pass", "")], 1)
        notes = ["" for _ in head.splitlines()] + [note for _, note in lines]
        return Kernel(name, head + "\n" + _aligned(lines), parameters, tuple(notes))

    def _pass(self, part: Pass) -> list[Line]:
        self.section = section = _Section()
        self.finished: dict[tuple[str, Expr], Name] = {}
        for nodes in (part.before, part.inside):
            for node in nodes:
                self.part = self.nest.parts[node]
                self.nest.run(node)
        self.next_pass()
        self.held.update(self.finished)
        loops = self._loops(self.nest.inner_loops, section.inside)
        return [*section.before, *loops, *section.after]

    def _loops(self, loops: list[tuple[str, Expr]], body: list[Line]) -> list[Line]:
        """The body inside `for` statements, outermost first."""
        if not body:
            return []
        for variable, size in reversed(loops):
            head = f"for {variable} in range({self.spell_offset(size)}):"
            body = [(head, ""), *_indented(body, 1)]
        return body

    def _columns(self) -> list[tuple[str, Expr, str, Note]]:
        """(buffer, offset, kind, note) of the reductions that end with the nest."""
        found = []
        for node in self.nest.nodes:
            if node.loops and self.nest.parts[node] == "colred":
                (at,) = node.stores[node.name]
                found.append(
                    (node.name, at.subs(self.nest.rename), node.loops.kind, _note_of(node))
                )
        return found

    def _start_scans(self) -> list[Line]:
        """The totals that scans of columns begin with."""
        lines = []
        for node in self.nest.nodes:
            if self.nest.parts[node] == "colscan":
                kind = node.loops.kind
                wide = accumulator(kind, node.out.dtype)
                start = spelling.constant(identity(kind, wide), wide)
                text = f"{self._total_cell(node.name, wide)} = {start}"
                lines += self._loops(self.nest.inner_loops, [(text, _note_of(node))])
        return lines

    def _start_columns(self) -> list[Line]:
        lines = []
        for buffer, at, kind, note in self._columns():
            total_type = accumulator(kind, self.buffers[buffer].dtype)
            zero = spelling.constant(identity(kind, total_type), total_type)
            lines += self._loops(
                self.nest.inner_loops, [(f"{self._column_cell(buffer, at, kind)} = {zero}", note)]
            )
        return lines

    def _end_columns(self) -> list[Line]:
        lines = []
        for buffer, at, kind, note in self._columns():
            dtype = self.buffers[buffer].dtype
            total_type = accumulator(kind, dtype)
            if total_type is not dtype:
                total = spelling.cast(self._column_cell(buffer, at, kind), total_type, dtype)
                lines += self._loops(
                    self.nest.inner_loops, [(f"{self._cell(buffer, at)} = {total}", note)]
                )
        return lines


def _indented(lines: list[Line], levels: int) -> list[Line]:
    return [("    " * levels + code, note) for code, note in lines]


def _aligned(lines: list[Line]) -> str:
    """The notes in one column, right of the longest statement of ordinary length."""
    width = max([len(code) for code, note in lines if note and len(code) <= 64], default=0)
    return "".join((f"{code:<{width}}  # {note}" if note else code) + "\n" for code, note in lines)


def _note() -> Note:
    """What the statement being printed comes from."""
    return _noted(ops.node, ops.asked)


def _note_of(node: Node) -> Note:
    """What a reduction begins or ends with comes from where it is written."""
    return _noted(node.loops.origin[-1], (node.name, LAST))


def _noted(node: GraphNode | None, asked: Asked) -> Note:
    """`block.py:3  x + bias`, or nothing where the user's place is unknown."""
    text = ""
    if node is not None and node.origin is not None:
        code = " ".join(node.origin.code.split())
        if len(code) > NOTE_LENGTH:
            code = code[: NOTE_LENGTH - 3] + "..."
        text = f"{node.origin.file_name}:{node.origin.line}  {code}".rstrip()
    note = Note(text)
    note.node, note.asked = node.name if node else "", asked
    return note
