"""The teaching view: loops and nests as text, with the user's names and lines.

In: `Loops`, or a `Nest`.  Out: text, one statement a line; what `ir_pre_fusion` and
`ir_post_fusion` print. Every statement that starts the work of another graph node names that node
and the user's line.
Invariant: the text is made by running the bodies under a handler, so it cannot differ from what is
compiled.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..graph import Node as GraphNode
from ..shapes import SymNumber
from .deps import Node
from .handlers import Handler, Name, Printer
from .ir import LAST, Asked, Expr, Loops, ops, using
from .nest import Nest
from .parts import ENDS
from .primitives import PRIMITIVES

Said = tuple[str, Asked | None]
WIDTH = 44  # where the notes begin


def note(node: GraphNode | None) -> str:
    """"relu, cell:3  x.relu()": the graph node and the user's place."""
    if node is None:
        return ""
    where = node.origin
    return node.name + (f", {where.file_name}:{where.line}  {where.code}" if where else "")


class Noted:
    """Lines, each with its graph node; a note is written where the node changes. `asked` has, for
    each line, the question that made it."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, GraphNode | None]] = []
        self.asked: list[Asked] = []

    def add(self, text: str) -> None:
        self.lines.append((text, ops.node))
        self.asked.append(ops.asked)

    def text(
        self, indent: str, before: GraphNode | None = None
    ) -> tuple[list[str], GraphNode | None]:
        """The lines, and the node of the last one."""
        out = []
        for text, node in self.lines:
            line = indent + text
            out.append(
                f"{line:<{WIDTH}}  # {note(node)}".rstrip()
                if node is not before and note(node)
                else line
            )
            before = node
        return out, before


class Show(Handler):
    """One loop body as statements."""

    def __init__(self) -> None:
        self.out, self.count = Noted(), 0

    def let(self, text: str) -> str:
        name, self.count = f"tmp{self.count}", self.count + 1
        self.out.add(f"{name} = {text}")
        return name

    def op(self, name: str, *args: str) -> str:
        return self.let(PRIMITIVES[name].text.format(*args))

    def constant(self, value: Any, dtype: dtypes.dtype) -> str:
        return constant(value, dtype)

    def to_dtype(self, value: str, dtype: dtypes.dtype) -> str:
        return self.let(f"{dtype.name}({value})")

    def index(self, expr: Expr, dtype: dtypes.dtype) -> str:
        return self.let(f"{dtype.name}({expr})")

    def place(self, name: str, value: str, size: Expr) -> Expr:
        self.out.add(f"{name} = place {value} < {size}")
        return Expr.of(name)

    def load(self, buffer: str, at: Expr) -> str:
        return self.let(f"load {buffer}[{at}]")

    def store(self, buffer: str, at: Expr, value: str) -> None:
        self.out.add(f"store {buffer}[{at}] = {value}")

    def reduce(self, buffer: str, at: Expr, kind: str, value: str) -> None:
        self.out.add(f"{kind} {buffer}[{at}] <- {value}")

    def scan(self, buffer: str, at: Expr, kind: str, value: str) -> None:
        self.out.add(f"{kind} {buffer}[{at}] <- {value}")

    def scatter(self, buffer: str, at: Expr, value: str, add: bool) -> None:
        self.out.add(f"{'add' if add else 'store'} {buffer}[{at}] {'<-' if add else '='} {value}")


def constant(value: Any, dtype: dtypes.dtype) -> str:
    """A number as one of its type reads: 2 is 2.0 in a float loop."""
    if isinstance(value, SymNumber):
        return f"{dtype.name}({value})"
    if dtype.is_floating_point:
        return repr(float(value))
    return repr(bool(value)) if dtype is dtypes.bool else repr(int(value))


def show_loops(loops: Loops) -> str:
    with using(Show()) as show:
        loops.run(loops.vars)
    head = f"{loops.title or loops.out.name}: {_type(loops)}" + (
        f"  # stored: {loops.why}" if loops.why else ""
    )
    lines, indent = [head], "    "
    for k, size in enumerate(loops.sizes):
        lines.append(f"{indent}for {f'i{k}'} < {size}:")
        indent += "    "
    return "\n".join(lines + show.out.text(indent)[0])


def _type(loops: Loops) -> str:
    out = loops.out
    return f"{out.dtype.name}[{', '.join(map(str, out.shape))}]"


class ShowNest(Printer):
    """A nest as statements: what is read, computed, kept and stored, and in which loop."""

    def __init__(self, nest: Nest) -> None:
        super().__init__(nest.buffers_by_name, [v for v, _ in nest.inner_loops])
        self.nest, self.part = nest, "each"
        self.before, self.inside = Noted(), Noted()
        self.opened: list[tuple[str, Expr, str]] = []

    def put(self, varies: bool, text: str) -> None:
        (self.inside if varies else self.before).add(text)

    def constant(self, value: Any, dtype: dtypes.dtype) -> Name:
        return Name(constant(value, dtype), dtype)

    def read(self, buffer: str, at: Expr) -> str:
        word = "row" if self.nest.homes.get(buffer) == "row" else "load"
        return f"{word} {buffer}[{self.spell_offset(at)}]"

    def check(self, value: Name, size: Expr) -> None:
        self.put(value in self.varying, f"check {value} < {size}")

    def store(self, buffer: str, at: Expr, value: Name) -> None:
        home = self.nest.homes[buffer]
        if home in ("memory", "row"):
            word = "store" if home == "memory" else "row"
            self.put(self.part not in ("row", "last"), f"{word} {buffer}[{at}] = {value}")
        self.held[buffer, at] = value

    def reduce(self, buffer: str, at: Expr, kind: str, value: Name) -> None:
        if self.part == "rowred":
            self.opened.append((buffer, at, kind))
            self.put(True, f"{kind} {buffer} <- {value}")
        elif self.part == "fold":
            self.put(False, f"{kind} {buffer} <- {value}")
        else:
            self.put(True, f"{kind} {buffer}[{at}] <- {value}")

    def scan(self, buffer: str, at: Expr, kind: str, value: Name) -> None:
        total = Name(f"{self.prefix}{self.count}", self.buffers[buffer].dtype)
        self.count += 1
        self.put(True, f"{total} = {kind} {buffer} <- {value}")
        self.varying.add(total)
        self.store(buffer, at, total)

    def scatter(self, buffer: str, at: Expr, value: Name, add: bool) -> None:
        word, arrow = ("add", "<-") if add else ("store", "=")
        self.put(self.part == "each", f"{word} {buffer}[{self.spell_offset(at)}] {arrow} {value}")

    def lines(self) -> list[Said]:
        """Each line, and the question that made it; None for the head of a loop."""
        outer, last = self.nest.outer_loops, None
        indent = "    " * (1 + len(outer))
        out = self._heads(outer, "    ")
        with using(self):
            for step in self.nest.passes:
                text, last = self._part((*step.before, *step.inside), indent, last)
                out += [*text, *self._finished(indent)]
                self.next_pass()
            for part in ENDS:
                nodes = [n for n in self.nest.ends if self.nest.parts[n] == part]
                self.begin_end(self.nest.completed)
                outer = self.nest.batch_loops if nodes and part == "column" else []
                text, last = self._part(nodes, "    " * (1 + len(outer)), last)
                out += [*self._heads(outer, "    "), *text]
        return out

    def _heads(self, loops: Sequence[tuple[str, Expr]], indent: str) -> list[Said]:
        return [(f"{indent}{'    ' * k}for {var} < {size}:", None)
                for k, (var, size) in enumerate(loops)]

    def _part(
        self, nodes: Sequence[Node], indent: str, last: GraphNode | None
    ) -> tuple[list[Said], GraphNode | None]:
        """Bodies as statements before and inside the inner loop, and the node of the last one."""
        self.before, self.inside, self.opened = Noted(), Noted(), []
        for node in nodes:
            self.part = self.nest.parts[node]
            self.nest.run(node)
        before, last = self.before.text(indent, last)
        loops = self.nest.inner_loops if self.inside.lines else []
        inside, last = self.inside.text(indent + "    " * len(loops), last)
        return [*zip(before, self.before.asked), *self._heads(loops, indent),
                *zip(inside, self.inside.asked)], last

    def _finished(self, indent: str) -> list[Said]:
        """After the inner loop: row results are complete."""
        stored: list[Said] = []
        for buffer, at, _ in self.opened:
            self.held[buffer, at] = Name(buffer, self.buffers[buffer].dtype)
            if self.nest.homes[buffer] == "memory":
                stored.append((f"{indent}store {buffer}[{at}] = {buffer}", (buffer, LAST)))
        return stored


def show_nest(nest: Nest) -> str:
    """A head that says what the nest computes, reads and writes; then its loops."""
    return "\n".join([head_of(nest), *(text for text, _ in ShowNest(nest).lines())])


def head_of(nest: Nest) -> str:
    """"add + relu: reads x, bias; writes relu"."""
    origins = dict.fromkeys(n.name for node in nest.nodes for n in node.loops.origin)
    made = {n.name for n in nest.nodes}
    reads = dict.fromkeys(b for n in nest.nodes for b in n.loads if b not in made)
    writes = [n.name for n in nest.nodes if nest.homes[n.name] == "memory"]
    return (
        f"{' + '.join(origins)}: reads {', '.join(reads) or 'nothing'}; writes {', '.join(writes)}"
    )
