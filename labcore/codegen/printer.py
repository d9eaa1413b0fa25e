"""What printers of kernels share: names, parameters, words, and the user's line beside each
statement.

In: a `Nest`.  Out: a `Kernel`, which a subclass prints.
A parameter is a pointer to a storage's first element, or a number: a symbolic size, or what else is
the same in all turns, computed by the wrapper. An offset is a polynomial of the loop variables.
Invariants: one statement a line, each with the user's line beside it; no name is both a parameter
and a word of the language.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from .. import dtypes
from ..fusion.deps import Node
from ..fusion.handlers import Name, Printer
from ..fusion.ir import LAST, Asked, Expr, is_index, is_place, ops
from ..fusion.nest import Nest
from ..fusion.primitives import accumulator
from ..graph import Node as GraphNode, signature
from ..shapes import SymFloat, SymInt, SymNumber
from . import kernel_math, spelling
from .phases import PHASE
from .ranges import BEGIN, END, PART, SHARED
from .sharing import ALONE, Sharing

WORDS = {name for name in vars(kernel_math) if not name.startswith("_")}
RESERVED = {"range", "min", "bool", "abs", "not", BEGIN, END, PHASE, PART, *WORDS}
LENT = "lent "  # before the name of scratch: no storage has such a name
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
    or a number, and `storage` is the Python for it. `constant`: nobody writes there meanwhile."""

    name: str
    dtype: dtypes.dtype
    storage: str
    scratch: Expr | None = None
    number: bool = False
    constant: bool = False

    @property
    def annotation(self) -> str:
        if self.number:
            return self.dtype.name
        return f"{'const ' * self.constant}{self.dtype.name}*"


def pointee(annotation: str) -> str:
    """ "float32" of "float32*" or "const float32*"; nothing of a number's annotation."""
    return annotation.removeprefix("const ")[:-1] if annotation.endswith("*") else ""


@dataclass(frozen=True)
class Kernel:
    """A printed kernel: the text of one function. `notes` has, for each of its lines, what the
    line comes from; `sharing` is what was decided about threads."""

    name: str
    source: str
    parameters: tuple[Parameter, ...]
    notes: tuple[str, ...] = ()
    sharing: Sharing = ALONE

    def __str__(self) -> str:
        return self.source


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
    """The name itself, with an underscore when it would hide a word of the text or another name;
    that of scratch without its prefix."""
    wanted = wanted.removeprefix(LENT)
    while wanted in taken or keyword.iskeyword(wanted) or re.fullmatch(r"(tmp|i)\d+", wanted):
        wanted += "_"
    return wanted


class KernelPrinter(Printer):
    """A printer whose text is a kernel. `names` and `locals` have what storages and accumulators
    are called in it; `rename` what became of loops that are part of others; `sharing` the loop that
    threads may share; `part` is that of the node that is being printed."""

    sharing = ALONE
    reserved = RESERVED

    def __init__(self, nest: Nest, inner: Iterable[str]) -> None:
        super().__init__(nest.buffers_by_name, inner)
        self.nest, self.part = nest, ""
        self.rename: Mapping[str, Expr] = {}
        self.names: dict[str, str] = {}
        self.locals: dict[str, str] = {}
        self.parameters = {
            s: Parameter(self._name(s), self.buffers[s].dtype, s) for s in nest.arguments
        }

    def _name(self, wanted: str, known: dict[str, str] | None = None) -> str:
        """A name of its own for a storage, a number or a row of scratch."""
        known = self.names if known is None else known
        if wanted not in known:
            taken = {*self.reserved, *self.names.values(), *self.locals.values()}
            known[wanted] = unique_name(wanted, taken)
        return known[wanted]

    def _local_name(self, wanted: str) -> str:
        """A name of its own for an accumulator, whatever the user's tensors are called."""
        return self._name(wanted, self.locals)

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
        if isinstance(value, SymInt) and all(s.isidentifier() for s in value.expr.symbols):
            given = self.spell_offset(value.expr)  # a constant, where its symbols are
            if dtype is kind and not given.isidentifier():
                given = f"int64({given})"
        else:
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
        if self.buffers[buffer].numel.const == 0:  # before a loop of no turns, of no memory
            return spelling.constant(0, self.buffers[buffer].dtype)
        cell = self._cell(buffer, at)
        return f"bool({cell})" if self.buffers[buffer].dtype is dtypes.bool else cell

    def _cell(self, buffer: str, at: Expr) -> str:
        """An element of a buffer, where the nest keeps it."""
        raise NotImplementedError

    def _scratch(self, name: str, dtype: dtypes.dtype) -> str:
        """A row as long as the inner loops, lent by the wrapper."""
        return self._lent(name, dtype, self.nest.columns)

    def _lent(self, name: str, dtype: dtypes.dtype, count: Expr) -> str:
        """Memory that the wrapper lends to the kernel, whatever the user's tensors are called."""
        key = LENT + name
        if key not in self.parameters:
            self.parameters[key] = Parameter(self._name(key), dtype, key, count)
        return self.parameters[key].name

    def run(self, node: Node) -> None:
        self.part = self.nest.parts[node]
        node.loops.run([v.subs(self.rename) for v in self.nest.group.variables(node)])

    def over_rows(self, part: str) -> list[tuple[Node, Expr]]:
        """The reductions of a part, and where the result of each lies."""
        found = [n for n in self.nest.nodes if self.nest.parts[n] == part]
        return [(n, at.subs(self.rename)) for n in found for at in n.stores[n.name]]

    def end(self, made: str, part: str, total: Callable[[Node, Expr], str]) -> None:
        """Statements on what is complete once the last row is done, which lies in its `total`, and
        the nodes of `part`, which work on it."""
        self.begin_end({})
        for node, at in self.over_rows(made):
            self._complete(node, at, total(node, at))
        for node in self.nest.ends:
            if self.nest.parts[node] == part:
                self.run(node)

    def _complete(self, node: Node, at: Expr, total: str) -> None:
        """A total in the result's type; stored, where it leaves the nest and is not there yet."""
        dtype, column = node.out.dtype, self.nest.parts[node] == "colred"
        wide = accumulator(node.loops.kind, dtype)
        text = total if wide is dtype else spelling.cast(total, wide, dtype)
        if dtype is dtypes.bool and column:
            text = f"bool({text})"
        stored = self.nest.homes[node.name] == "memory"
        with ops.one_run(node.name), ops.source(node.loops.origin[-1]):
            if self.nest.read_at_end(node):
                text = self.held[node.name, at] = self.variable(text, dtype, column)
            if stored and (not column or self.adds_up_apart(node)):
                self.put(column, f"{self._cell(node.name, at)} = {text}")

    def adds_up_apart(self, node: Node) -> bool:
        """Does a column add up in scratch? See `Nest.adds_up_apart`."""
        return self.nest.adds_up_apart(node)

    def variable(self, text: str, dtype: dtypes.dtype, varies: bool = True) -> Name:
        """A new variable, of the inner loop or around it."""
        name = Name(f"{self.prefix}{self.count}", dtype)
        self.count += 1
        if varies:
            self.varying.add(name)
        self.put(varies, f"{name} = {text}")
        return name

    def rescale(self, top: str, total: Name, value: Name) -> None:
        """A sum of powers below `top` takes one more value in, with one power: of the distance."""
        varies, dtype, wide = self.part != "fold", value.dtype, total.dtype
        gap = self.variable(f"{value} - {top}", dtype, varies)
        step = self.variable(f"exp(-abs({gap}))", dtype, varies)
        if wide is not dtype:
            step = self.variable(spelling.cast(step, dtype, wide), wide, varies)
        one, zero = spelling.constant(1.0, wide), spelling.constant(0.0, dtype)
        self.put(varies, f"{total} = {total} * {step} + {one} if {gap} > {zero} "
                         f"else {total} + {step}")
        self.put(varies, f"{top} = rmax({top}, {value})")

    def kernel(self, name: str, lines: list[Line]) -> Kernel:
        """The function with these statements."""
        parameters = tuple(self.parameters.values())
        head = signature(name, [f'{p.name}: "{p.annotation}"' for p in parameters])
        lines = indented(lines or [("pass", "")], 1)
        notes = ["" for _ in head.splitlines()] + [note for _, note in lines]
        return Kernel(name, head + "\n" + aligned(lines), parameters, tuple(notes))

    def _loops(self, loops: list[tuple[str, Expr]], body: list[Line]) -> list[Line]:
        """The body inside `for` statements, outermost first."""
        if not body:
            return []
        for variable, size in reversed(loops):
            body = [(self.head(variable, size), ""), *indented(body, 1)]
        return body

    def head(self, variable: str, size: Expr) -> str:
        """The first line of a loop."""
        word = SHARED if variable == self.sharing.variable else "range"
        return f"for {variable} in {word}({self.spell_offset(size)}):"


def indented(lines: list[Line], levels: int) -> list[Line]:
    return [("    " * levels + code, note) for code, note in lines]


def aligned(lines: list[Line]) -> str:
    """The notes in one column, right of the longest statement of ordinary length."""
    width = max([len(code) for code, note in lines if note and len(code) <= 64], default=0)
    return "".join((f"{code:<{width}}  # {note}" if note else code) + "\n" for code, note in lines)


def note_now() -> Note:
    """What the statement being printed comes from."""
    return _noted(ops.node, ops.asked)


def note_of(node: Node) -> Note:
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
