"""What all forms share: registers, what one thread writes for all, reductions over a block.

In: a `Nest` and its `Form`.  Out: a printer whose loop bodies are those of the CPU; a form says
which loop variables come from a thread's place on the grid, and lays the passes around the bodies.
A pass is: load what the thread owns into registers, compute, store. All loads come first, because
the compiler may not move a load above a store that could lie at the same address.
Invariants: offsets are int64; a thread reads and writes elements of its own, and what is one for a
whole row is written by one thread, after all have read what it writes over.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ... import dtypes
from ...fusion.deps import Node
from ...fusion.handlers import Name, Reads
from ...fusion.ir import Expr, is_place, using
from ...fusion.nest import Nest, Pass
from ...fusion.primitives import SUMEXP, accumulator, identity, lowest
from .. import spelling
from ..cpu import CpuPrinter, Section
from ..numba_ir import IN_MEMORY
from ..printer import (
    RESERVED,
    Line,
    Note,
    indented,
    note_now,
    note_of,
)
from ..sharing import ALONE
from .device import FUNCTIONS, WARP
from .form import Form
from .kernel import GridKernel
from .side_by_side import STORES, WORDS as SEVERAL

WORDS = {*FUNCTIONS, "cuda", "uint8", "uint16", "uint32", "int32", "min", "tid", "tx", "ty", "row",
         "col", "top", "left", "first", "tile", "batch", "share", "result", "other", "a", "c", "k",
         "q", "s", "v", *SEVERAL, "ahead"}


class _Asking(Reads):
    """Which question first asks for each load."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[tuple[str, Expr], Note] = {}

    def load(self, buffer: str, at: Expr) -> None:
        super().load(buffer, at)
        self.asked.setdefault((buffer, at), note_now())


@dataclass(frozen=True)
class Held:
    """Elements of a buffer at an offset, in registers; `note` is the question that they answer."""

    buffer: str
    at: Expr
    array: str
    note: Note


class GridPrinter(CpuPrinter):
    """`registers`: which array holds an element of a buffer, by the buffer and the offset;
    `brief` are those arrays that hold something for a pass only."""

    reserved = RESERVED | WORDS

    def __init__(self, nest: Nest, form: Form, moving: Iterable[str]) -> None:
        super().__init__(nest)
        self.sharing = ALONE
        self.form, self.inner_vars = form, set(moving)
        self.declared: dict[str, str] = {}
        self.registers: dict[tuple[str, Expr], str] = {}
        self.left: list[Line] = []
        self.brief: set[str] = set()

    def adds_in(self, kind: str, dtype: dtypes.dtype) -> dtypes.dtype:
        """What a thread adds up in: float32 will do for few numbers, and is twice as fast to add
        and to shuffle, and sixteen times as fast to get."""
        return dtype if self.form.short else accumulator(kind, dtype)

    def _reduce_row(self, buffer: str, at: Expr, kind: str, value: Name) -> None:
        """Each thread adds up its part of a row."""
        wide = self.adds_in(kind, value.dtype)
        total = Name(self._local_name(f"{buffer}_acc"), wide)
        self.section.before += self.begin(buffer, kind, total, value.dtype)
        if kind == SUMEXP:
            self.rescale(self._top(buffer), total, value)
        else:
            more = self.to_dtype(value, wide)
            self.put(True, f"{total} = {spelling.combine(kind, total, more, wide)}")
        self._finish_row(buffer, at, total, value.dtype)

    def begin(self, buffer: str, kind: str, total: Name, dtype: dtypes.dtype) -> list[Line]:
        """A thread's total of values of a type begins."""
        wide = total.dtype
        lines: list[Line] = [
            (f"{total} = {spelling.constant(identity(kind, wide), wide)}", note_now())]
        if kind == SUMEXP:
            start = spelling.constant(lowest(dtype), dtype)
            lines.insert(0, (f"{self._top(buffer)} = {start}", note_now()))
        return lines

    def _columns(self) -> list[tuple[str, Expr, str, Note]]:
        """(buffer, offset, kind, note) of the reductions over rows."""
        return [
            (node.name, at.subs(self.nest.rename), node.loops.kind, note_of(node))
            for node in self.nest.nodes if self.nest.parts[node] == "colred"
            for at in node.stores[node.name]
        ]

    # ---- registers and shared memory ----

    def array(self, wanted: str, count: int, dtype: dtypes.dtype, where: str = "local") -> str:
        """An array of each thread's own, or of the block's; a bool is a byte in it, a half a word.
        """
        name = self._local_name(wanted)
        kind = IN_MEMORY.get(dtype.name, dtype.name)
        self.declared[name] = f"{name} = cuda.{where}.array({count}, {kind})"
        return name

    def register(self, buffer: str, at: Expr, name: str, count: int, where: str = "local") -> str:
        """An array of their own for the elements of a buffer at an offset."""
        dtype = self.buffers[buffer].dtype
        found = self.array(name, count, dtype, where)
        while found in self.registers.values():
            found = self.array(f"{found}_", count, dtype, where)
        self.registers[buffer, at] = found
        return found

    def read(self, buffer: str, at: Expr) -> str:
        if (buffer, at) not in self.registers:
            return super().read(buffer, at)
        cell = self.kept(self.registers[buffer, at])
        return f"bool({cell})" if self.buffers[buffer].dtype is dtypes.bool else cell

    def kept(self, name: str) -> str:
        """The k-th element of a thread, where an array keeps it."""
        return f"{name}[k]"

    def loads(
        self, nodes: Sequence[Node], count: int, again: bool = False,
        which: Callable[[Expr], bool] = lambda at: True,
    ) -> list[Line]:
        """Statements that load what the nodes read along the loop into registers, `count` of each,
        from those offsets `which` is true of.

        `again`: only what changes with the row, or is read again in a later pass; the rest is as
        good to load when it is needed.
        """
        return [self.loaded(held) for held in self.held_of(nodes, count, again, which)]

    def loaded(self, held: Held) -> Line:
        """The statement that fills the k-th register."""
        return f"{held.array}[k] = {self._cell(held.buffer, held.at)}", held.note

    def held_of(
        self, nodes: Sequence[Node], count: int, again: bool = False,
        which: Callable[[Expr], bool] = lambda at: True,
    ) -> list[Held]:
        """What `loads` loads, with registers of its own."""
        return [
            Held(buffer, at, self.register(buffer, at, f"{buffer}_r", count), note)
            for (buffer, at), note in self._read_by(nodes).items()
            if which(at) and not (again and not self._worth_keeping(buffer, at, nodes))
        ]

    def _read_by(
        self, nodes: Sequence[Node], along: bool = True
    ) -> dict[tuple[str, Expr], Note]:
        """The loads along the loop that no register answers yet, or those beside it, and what first
        asks for each."""
        with using(_Asking()) as reads:
            for node in nodes:
                self.nest.run(node)
        return {
            (buffer, at): note
            for (buffer, at), note in reads.asked.items()
            if self._varies(at) is along
            and not any(map(is_place, at.symbols))
            and (buffer, at) not in self.registers
            and (buffer, at) not in reads.stores
            and self.nest.homes.get(buffer, "memory") == "memory"
        }

    def _worth_keeping(self, buffer: str, at: Expr, nodes: Sequence[Node]) -> bool:
        if any(var in at.symbols for var, _ in self.nest.outer_loops):
            return True
        now = max(self.nest.when[node] for node in nodes)
        return any(buffer in n.loads and self.nest.when[n] > now for n in self.nest.nodes)

    # ---- stores ----

    def store(self, buffer: str, at: Expr, value: Name) -> None:
        home = self.nest.homes[buffer]
        if self.part == "row":
            if home == "memory":
                self.section.before += self.by_one(f"{self._cell(buffer, at)} = {value}", buffer)
        elif home == "memory":
            self.put(True, f"{self._cell(buffer, at)} = {value}")
        elif home == "row":
            self.keep(buffer, at, value)
        self.held[buffer, at] = value

    def keep(self, buffer: str, at: Expr, value: Name) -> None:
        """What a later pass reads goes to scratch."""
        self.put(True, f"{self._cell(buffer, at)} = {value}")

    def by_one(self, text: str, buffer: str) -> list[Line]:
        """A statement of one thread of the row; what it writes over, all have read before."""
        lines = [(f"if {self.is_first}:", ""), (f"    {text}", note_now())]
        return [(self.wait, ""), *lines] if self.nest.storage(buffer) != buffer else lines

    is_first = "tid == 0"

    @property
    def resident(self) -> int:
        """See `GridKernel`."""
        return 1

    @property
    def wait(self) -> str:
        return "cuda.syncthreads()" if self.form.threads > WARP else "cuda.syncwarp()"

    def _scratch_cell(self, buffer: str, at: Expr) -> str:
        """An element of the scratch of a row of its own."""
        name = self._lent(f"{buffer}_row", self.buffers[buffer].dtype,
                          self.nest.rows * self.nest.columns)
        start = f"row * {self._factor(self.nest.columns)} + " if self.nest.outer_loops else ""
        return f"{name}[{start}{self.spell_offset(self.nest.column)}]"

    def _factor(self, size: Expr) -> str:
        text = self.spell_offset(size)
        return text if text.isalnum() else f"({text})"

    # ---- reductions ----

    def _finish_row(self, buffer: str, at: Expr, total: Name, dtype: dtypes.dtype) -> None:
        """After the loop: the threads' parts together, in the result's type."""
        self.section.after += self.joined(buffer, total, dtype)
        done = total
        if total.dtype is not dtype:
            done = self._next(dtype)
            cast = spelling.cast(total, total.dtype, dtype)
            self.section.after.append((f"{done} = {cast}", note_now()))
        if self.nest.homes[buffer] == "memory":
            self.section.after += self.by_one(f"{self._cell(buffer, at)} = {done}", buffer)
        self.finished[buffer, at] = done

    def joined(self, buffer: str, total: Name, dtype: dtypes.dtype) -> list[Line]:
        """The threads' parts of a total of values of a type, as one that all of them have."""
        kind = self.nest.group.made[buffer].loops.kind
        if kind != SUMEXP:
            left, taken = self.together(kind, total)
            self.left += left
            return taken
        top = self._top(buffer)
        best = Name(self._local_name(f"{buffer}_best"), dtype)
        power = self.power(f"{top} - {best}", dtype, total.dtype)
        return [(f"{best} = {top}", note_now()), *self.at_once("amax", best),
                (f"{total} = {total} * {power}", note_now()), *self.at_once("sum", total)]

    def at_once(self, kind: str, total: Name) -> list[Line]:
        """The same for a total that the next statement wants."""
        left, taken = self.together(kind, total)
        return [*left, *([(self.wait, "")] if left else []), *taken]

    def power(self, exponent: str, dtype: dtypes.dtype, wide: dtypes.dtype) -> str:
        """Of an exponent of a type, in another one."""
        text = f"exp({exponent})"
        return text if wide is dtype else spelling.cast(text, dtype, wide)

    def together(self, kind: str, total: Name) -> tuple[list[Line], list[Line]]:
        """What each warp leaves of a total; and, when all have waited, the statement after which
        all threads have what their parts make together."""
        given, dtype, left = str(total), total.dtype, list[Line]()
        if dtype is dtypes.bool:  # shuffles know no bools
            given, dtype = f"int32({total})", dtypes.int32
        warps = self.form.threads // WARP
        if warps == 1:
            text = f"warp_{kind}({given})"
        else:
            start = spelling.constant(int(identity(kind, total.dtype))
                                      if total.dtype is dtypes.bool
                                      else identity(kind, dtype), dtype)
            slots = self.array(f"{total}_slots", WARP, dtype, "shared")
            left.append((f"leave_{kind}({given}, {slots})", note_now()))
            text = f"take_{kind}({slots}, {warps}, {start})"
        text = f"{text} != 0" if total.dtype is dtypes.bool else text
        return left, [(f"{total} = {text}", note_now())]

    def after_loop(self) -> list[Line]:
        """What follows the loop of a pass: each warp leaves its part of every reduction, and all
        wait once before they take the whole."""
        left, self.left = self.left, []
        if left:
            left.append((self.wait, ""))
        return [*left, *self.section.after]

    # ---- text ----

    def unflatten(self, loops: Sequence[tuple[str, Expr]], flat: str, wrap: str = "") -> list[Line]:
        """The loop variables from one flat index; `wrap` is a narrower type that it fits in."""
        if len(loops) < 2:
            return [(f"{var} = {flat}", "") for var, _ in loops]
        cast = "int64({})" if wrap else "{}"
        lines = [(f"q = {wrap}({flat})" if wrap else f"q = {flat}", "")]
        for var, size in reversed(loops[1:]):
            by = self._factor(size)
            lines.append((f"{var} = {cast.format(f'q % {by}')}", ""))
            lines.append((f"q = q // {by}", ""))
        return [*lines, (f"{loops[0][0]} = {cast.format('q')}", "")]

    def section_of(self, part: Pass) -> Section:
        """The statements of a pass, before, inside and after its loop."""
        self.section, self.finished = Section(), {}
        self.state([*part.before, *part.inside])
        self.next_pass()
        self.held.update(self.finished)
        return self.section

    def state(self, nodes: Iterable[Node]) -> None:
        """The statements of these nodes, into the current section."""
        with using(self):
            for node in nodes:
                self.part = self.nest.parts[node]
                self.nest.run(node)

    def on_grid(self, name: str, lines: list[Line], grid: tuple[str, ...],
                block: tuple[int, ...]) -> GridKernel:
        """The text of a function of what its statements mention."""
        lines = [*((text, "") for text in self.declared.values()), *lines]
        used, written = _names("\n".join(code for code, _ in lines))
        self.parameters = {
            key: replace(p, constant=not p.number and p.name not in written)
            for key, p in self.parameters.items() if p.name in used
        }
        made = self.kernel(name, lines)
        return GridKernel(made.name, made.source, made.parameters, made.notes, grid=grid,
                          block=block, form=self.form.name, reason=self.form.reason,
                          resident=self.resident)


def _names(text: str) -> tuple[set[str], set[str]]:
    """The names that statements mention, and those of the arrays that they write."""
    nodes = list(ast.walk(ast.parse(text)))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    targets = [node.value for node in nodes
               if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)]
    targets += [node.args[0] for node in nodes
                if isinstance(node, ast.Call) and ast.unparse(node.func) in STORES.values()]
    return used, {target.id for target in targets if isinstance(target, ast.Name)}


def guarded(condition: str, lines: list[Line]) -> list[Line]:
    """Statements under a condition, if there is one."""
    return [(f"if {condition}:", ""), *indented(lines, 1)] if condition and lines else lines


def repeated(head: str, lines: list[Line]) -> list[Line]:
    return [(head, ""), *indented(lines, 1)] if lines else []
