"""Dependencies between steps, and groups of those that share a nest.

In: the steps of a `Program`.  Out: `Node`s with their accesses, for each those that it must follow,
and `Group`s of nodes. A group iterates over  outer x inner, and a node takes one of the parts in it
that `parts.py` names.
A full reduction is a rowred of one row: outer is (). A flat group (pointwise nodes only, inner is
None) has not chosen a split and may still join a group that has.
Invariant: accesses are compared by name and offset, both canonical, so equal means equal; within
one program an access is one object, so sets of them are compared as fast as sets of numbers.
Inductor reads MemoryDep, StarDep and WeakDep off its bodies in the same way and normalizes loops
before it compares.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from .ir import Buffer, Expr, Loops, index, product
from .parts import ENDS, OVER_ROWS, batch_of, parts_in
from .program import Extern, Program

Sizes = tuple[Expr, ...]
SIZE_HINT = 8192  # what a symbolic size counts as when savings are compared


@dataclass(frozen=True, eq=False)
class Access:
    """A buffer at an offset, over the loops that the offset depends on: `nbytes` in all."""

    buffer: str
    at: Expr
    nbytes: Expr

    @cached_property
    def size(self) -> int:
        """`nbytes` as a number that others can be compared with."""
        return self.nbytes.value(dict.fromkeys(self.nbytes.symbols, SIZE_HINT))


class Accesses:
    """The accesses of one program, each as one object."""

    def __init__(self, buffers: Mapping[str, Buffer]) -> None:
        self.buffers = buffers
        self.known: dict[tuple[str, Expr, Sizes], Access] = {}

    def find(self, buffer: str, at: Expr, sizes: Sizes) -> Access:
        used = at.symbols
        live = tuple([size for k, size in enumerate(sizes) if f"i{k}" in used])
        key = (buffer, at, live)
        if key not in self.known:
            nbytes = product(live) * self.buffers[buffer].dtype.itemsize
            self.known[key] = Access(buffer, at, nbytes)
        return self.known[key]

    def whole(self, buffer: Buffer) -> Access:
        """All of a buffer, as an operator without loops uses it."""
        return self.find(buffer.name, buffer.at([index(k) for k in range(len(buffer.shape))]),
                         buffer.shape)


class Node:
    """A step with its accesses, {buffer: offsets}. An extern step has no `loops`."""

    def __init__(self, step: Loops | Extern, accesses: Accesses) -> None:
        buffers = accesses.buffers
        self.step, self.out, self.order, self.buffers = step, step.out, step.order, buffers
        self.loads: dict[str, set[Expr]] = {}
        self.stores: dict[str, set[Expr]] = {}
        self.indices: list[Expr] = []
        self.sizes: Sizes = ()
        if isinstance(step, Loops):
            self._read(step)
            self.reads = frozenset(
                accesses.find(b, at, self.sizes) for b, ats in self.loads.items() for at in ats
            )
            ((name, (at,)),) = self.stores.items()
            self.writes = accesses.find(name, at, self.sizes)
        else:
            self.loads = {operand.buffer.name: set() for operand in step.operands}
            self.stores = {step.out.name: set()}
            self.reads = frozenset(accesses.whole(operand.buffer) for operand in step.operands)
            self.writes = accesses.whole(step.out)
        loops = step if isinstance(step, Loops) else None
        self.is_reduction = loops is not None and loops.is_reduction
        self.is_scan = loops is not None and loops.is_scan
        # What decides which part it may take.
        self.form = (self.sizes, self.is_scan, loops and loops.kept, loops and loops.along)
        self.draws = isinstance(step, Extern) and step.op.kind == "random"
        self.read_storage = {buffers[b].storage for b in self.loads}
        self.write_storage = step.out.storage

    def _read(self, loops: Loops) -> None:
        self.sizes = loops.sizes
        self.indices = loops.reads.indices
        for table, found in ((self.loads, loops.reads.loads), (self.stores, loops.reads.stores)):
            for buffer, at in found:
                table.setdefault(buffer, set()).add(at)

    @property
    def loops(self) -> Loops:
        """The step, of a node that is not extern."""
        assert isinstance(self.step, Loops), f"{self.title} has no loops"
        return self.step

    @property
    def written_into(self) -> tuple[str, ...]:
        """The version of its storage of which it writes only a part."""
        into = self.step.into if isinstance(self.step, Loops) else None
        return () if into is None else (into.name,)

    @property
    def name(self) -> str:
        """The buffer it makes."""
        return self.out.name

    @property
    def title(self) -> str:
        """What the user's graph calls it."""
        return self.step.title or self.out.name

    @property
    def offsets(self) -> Iterable[Expr]:
        """Every offset this node reads or writes."""
        return (at for table in (self.loads, self.stores) for ats in table.values() for at in ats)

    @cached_property
    def split(self) -> tuple[Sizes, Sizes] | None:
        """The (outer, inner) a reduction or a scan demands; None for a pointwise node."""
        if not self.is_reduction and not self.is_scan:
            return None
        kept, n = self.loops.kept, len(self.sizes)
        if self.is_scan:
            cut = self.loops.along + self._scans_columns
        elif kept == tuple(range(len(kept))):
            cut = len(kept)
        else:  # what follows the last axis that is reduced
            cut = max(k for k in range(n) if k not in kept) + 1
        return self.sizes[:cut], self.sizes[cut:]

    @cached_property
    def batch(self) -> int | None:
        """How many outer loops the columns that a node fills are complete in each turn of; None for
        a node that fills none."""
        if self.is_scan:
            return self.loops.along if self._scans_columns else None
        kept = self.loops.kept if self.is_reduction else ()
        if kept == tuple(range(len(kept))):
            return None
        return next(k for k in range(len(kept)) if kept[k] != k)

    def part(self, outer: Sizes, inner: Sizes) -> str | None:
        """The part this node takes in a nest over outer x inner, or None if it does not fit; what
        it takes for what it reads, `parts_in` knows."""
        if self.is_scan:
            if self.split != (outer, inner):
                return None
            return "colscan" if self._scans_columns else "rowscan"
        if not self.is_reduction:
            return "each" if self.sizes == outer + inner else "row" if self.sizes == outer else None
        kept, cut = self.loops.kept, len(outer)
        if self.sizes != outer + inner:
            return "fold" if self.sizes == outer and not kept else None
        if kept == tuple(range(cut)):
            return "rowred"
        columns = (*range(self.batch or 0), *range(cut, len(self.sizes)))
        return "colred" if kept == columns else None

    @property
    def _scans_columns(self) -> bool:
        return self.loops.along < len(self.sizes) - 1

    def __repr__(self) -> str:
        return self.title


def must_precede(a: Node, b: Node) -> str | None:
    """Why a (earlier in the program) must come before b: "raw", "war", "waw", or None."""
    if a.order > b.order:
        return None
    if a.out.name in b.loads:
        return "raw"
    if a.draws and b.draws:
        return "waw"  # of the generator
    if b.write_storage in a.read_storage:
        return "war"
    return "waw" if a.write_storage == b.write_storage else None


@dataclass(eq=False)
class Group:
    """Nodes that share one nest, in program order, which `first` and `last` are the ends of in the
    program's numbering. `inner` None: no split chosen yet."""

    nodes: list[Node]
    outer: Sizes = ()
    inner: Sizes | None = None
    parts: dict[Node, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.first, self.last = self.nodes[0].order, self.nodes[-1].order
        if not self.parts and self.extern is None:
            found = parts_in(self.nodes, self.outer, self.inner)
            assert found is not None, f"{self.names} do not fit into one nest"
            self.parts = found

    @staticmethod
    def of(node: Node) -> Group:
        if node.split is None:
            return Group([node], node.sizes)
        return Group([node], *node.split)

    @cached_property
    def made(self) -> dict[str, Node]:
        """The node that makes each buffer."""
        return {n.name: n for n in self.nodes}

    @cached_property
    def readers(self) -> dict[str, list[Node]]:
        """The nodes that load each buffer."""
        found: dict[str, list[Node]] = {}
        for node in self.nodes:
            for buffer in node.loads:
                found.setdefault(buffer, []).append(node)
        return found

    @cached_property
    def reads(self) -> frozenset[Access]:
        """Everything that is loaded."""
        return frozenset().union(*[n.reads for n in self.nodes])

    @cached_property
    def touched(self) -> dict[str, None]:
        """The buffers that it loads or makes."""
        return dict.fromkeys([*self.readers, *self.made])

    @cached_property
    def shares_storage(self) -> bool:
        """Is there a buffer that lies in another one's storage?"""
        return any(n.buffers[b].storage != b for n in self.nodes for b in (*n.loads, n.name))

    @property
    def extern(self) -> Extern | None:
        step = self.nodes[0].step
        return step if isinstance(step, Extern) else None

    @cached_property
    def names(self) -> str:
        return "+".join(n.title for n in self.nodes)

    @cached_property
    def over_rows(self) -> set[str]:
        """The buffers that are complete once the last row is done."""
        return {n.name for n, part in self.parts.items() if part in OVER_ROWS or part in ENDS}

    @cached_property
    def forms(self) -> dict[tuple, Node]:
        """The nodes, one of each form."""
        return {n.form: n for n in self.nodes}

    @cached_property
    def batch(self) -> int:
        """How many of the outer loops begin anew with empty columns."""
        return batch_of(self.forms.values())

    @property
    def space(self) -> Sizes:
        return self.outer + (self.inner or ())

    def variables(self, node: Node) -> list[Expr]:
        """The nest's loop variables that a node's own are."""
        places = list(range(len(node.sizes)))
        if self.parts[node] == "column":
            skipped = len(self.outer) - self.batch
            places = [k if k < self.batch else k + skipped for k in places]
        return [index(k) for k in places]

    def placed(self, node: Node, at: Expr) -> Expr:
        """An offset of a node in the variables of the nest."""
        if self.parts[node] != "column":
            return at
        return at.subs({f"i{k}": v for k, v in enumerate(self.variables(node))})

    def __str__(self) -> str:
        return self.names


def unify(a: Group, b: Group, endings: bool = True) -> tuple[Sizes, Sizes | None] | None:
    """The (outer, inner) that both fit in, or None. `endings`: also as what takes in the results of
    rows, or runs once the last one is done."""
    if a.inner is None and b.inner is None:
        return (a.outer, None) if a.outer == b.outer else None
    forms = (*a.forms.values(), *b.forms.values())
    if len({n.batch for n in forms} - {None}) > 1:
        return None
    for x, y in ((a, b), (b, a)):
        if x.inner is not None and _fits(x, y, endings):
            return x.outer, x.inner
    return None


def _fits(x: Group, y: Group, endings: bool) -> bool:
    """Can y's nodes take parts in the nest of x?"""
    assert x.inner is not None
    columns = x.outer[:x.batch or y.batch] + x.inner
    alone = {form: node.part(x.outer, x.inner) for form, node in y.forms.items()}
    for form, part in alone.items():
        node = y.forms[form]
        if part is None and (node.split is not None or node.sizes not in ((), columns)):
            return False
    apart = y.over_rows.isdisjoint(x.readers) and x.over_rows.isdisjoint(y.readers)
    if apart and {None, "fold"}.isdisjoint(alone.values()):
        return True
    nodes = sorted(x.nodes + y.nodes, key=lambda n: n.order)
    parts = parts_in(nodes, x.outer, x.inner)
    return parts is not None and (endings or {"fold", *ENDS}.isdisjoint(parts.values()))


def nodes_of(program: Program) -> list[Node]:
    accesses = Accesses(program.buffers)
    return [Node(step, accesses) for step in program.steps]


def users_of(nodes: Iterable[Node]) -> dict[str, set[Node]]:
    """Who loads each buffer, or writes into it and leaves the rest as it is."""
    users: dict[str, set[Node]] = {}
    for node in nodes:
        for buffer in (*node.loads, *node.written_into):
            users.setdefault(buffer, set()).add(node)
    return users


def dependencies(nodes: list[Node]) -> dict[Node, set[Node]]:
    """For each node the earlier ones that it must follow (see `must_precede`): makers of what it
    reads, and, where it writes, readers and writers of the storage."""
    earlier: dict[Node, set[Node]] = {}
    makers: dict[str, Node] = {}
    users: dict[str, set[Node]] = {}  # by storage
    last_draw: Node | None = None
    for node in nodes:
        found = {makers[buffer] for buffer in node.loads if buffer in makers}
        found |= users.get(node.write_storage, set())
        if node.draws:
            found |= {last_draw} if last_draw else set()
            last_draw = node
        earlier[node] = found
        makers[node.name] = node
        for storage in (*node.read_storage, node.write_storage):
            users.setdefault(storage, set()).add(node)
    return earlier


def show_sizes(sizes: Sizes) -> str:
    return "(" + ", ".join(map(str, sizes)) + ("," if len(sizes) == 1 else "") + ")"


def show_space(group: Group) -> str:
    """"(4, 8)" of a flat group, "(4,) rows of (8,)" of a split one."""
    if group.inner is None:
        return show_sizes(group.outer)
    return (
        f"{show_sizes(group.outer)} rows of {show_sizes(group.inner)}"
        if group.outer
        else f"one row of {show_sizes(group.inner)}"
    )
