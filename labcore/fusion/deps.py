"""Dependencies between steps, and the parts that loops play in a shared nest.

In: the steps of a `Program`.  Out: `Node`s with their accesses, for each those that it must follow,
and `Group`s of nodes. A group iterates over  outer x inner. A node takes one of these parts in it:

    each     pointwise over outer x inner                    runs inside the inner loop
    rowred   reduces inner, keeps outer   (sum over -1)      adds up in the inner loop
    row      pointwise over outer                            runs between inner loops
    colred   reduces outer, keeps inner   (sum over 0)       adds up across the whole nest
    rowscan  runs along inner             (cumsum over -1)   hands on its total in the inner loop
    colscan  runs along outer             (cumsum over 0)    hands on a row of totals

Columns may lie in a batch: then they begin anew in each turn of the first of the outer loops.
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

from .handlers import Reads
from .ir import Buffer, Expr, Loops, index, product, using
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
        self.draws = isinstance(step, Extern) and step.op.kind == "random"
        self.read_storage = {buffers[b].storage for b in self.loads}
        self.write_storage = step.out.storage

    def _read(self, loops: Loops) -> None:
        self.sizes = loops.sizes
        with using(Reads()) as reads:
            loops.run(loops.vars)
        self.indices = reads.indices
        for table, found in ((self.loads, reads.loads), (self.stores, reads.stores)):
            for buffer, at in found:
                table.setdefault(buffer, set()).add(at)

    @property
    def loops(self) -> Loops:
        """The step, of a node that is not extern."""
        assert isinstance(self.step, Loops), f"{self.title} has no loops"
        return self.step

    @property
    def name(self) -> str:
        """The buffer it makes."""
        return self.out.name

    @property
    def title(self) -> str:
        """What the user's graph calls it."""
        return self.step.title or self.out.name

    @property
    def is_reduction(self) -> bool:
        return isinstance(self.step, Loops) and self.step.is_reduction

    @property
    def offsets(self) -> Iterable[Expr]:
        """Every offset this node reads or writes."""
        return (at for table in (self.loads, self.stores) for ats in table.values() for at in ats)

    @property
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

    @property
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
        """The part this node takes in a nest over outer x inner, or None if it does not fit."""
        if self.is_scan:
            if self.split != (outer, inner):
                return None
            return "colscan" if self._scans_columns else "rowscan"
        if not self.is_reduction:
            return "each" if self.sizes == outer + inner else "row" if self.sizes == outer else None
        if self.sizes != outer + inner:
            return None
        kept, cut = self.loops.kept, len(outer)
        if kept == tuple(range(cut)):
            return "rowred"
        columns = (*range(self.batch or 0), *range(cut, len(self.sizes)))
        return "colred" if kept == columns else None

    @property
    def is_scan(self) -> bool:
        return isinstance(self.step, Loops) and self.step.is_scan

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
    """Nodes that share one nest, in program order. `inner` None: no split chosen yet."""

    nodes: list[Node]
    outer: Sizes = ()
    inner: Sizes | None = None
    parts: dict[Node, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.parts and self.extern is None:
            self.parts = {n: self._part(n) for n in self.nodes}

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

    @property
    def batch(self) -> int:
        """How many of the outer loops begin anew with empty columns."""
        return next((n.batch for n in self.nodes if n.batch is not None), 0)

    @property
    def space(self) -> Sizes:
        return self.outer + (self.inner or ())

    def _part(self, node: Node) -> str:
        if self.inner is None:
            return "each"
        part = node.part(self.outer, self.inner)
        assert part is not None, f"{node} does not fit into {self.names}"
        return part

    def __str__(self) -> str:
        return self.names


def unify(a: Group, b: Group) -> tuple[Sizes, Sizes | None] | None:
    """The (outer, inner) that both fit in, or None."""
    if a.inner is None and b.inner is None:
        return (a.outer, None) if a.outer == b.outer else None
    if len({n.batch for n in a.nodes + b.nodes} - {None}) > 1:
        return None
    for x, y in ((a, b), (b, a)):
        if x.inner is not None and all(n.part(x.outer, x.inner) for n in y.nodes):
            return x.outer, x.inner
    return None


def nodes_of(program: Program) -> list[Node]:
    accesses = Accesses(program.buffers)
    return [Node(step, accesses) for step in program.steps]


def users_of(nodes: Iterable[Node]) -> dict[str, set[Node]]:
    """Who loads each buffer."""
    users: dict[str, set[Node]] = {}
    for node in nodes:
        for buffer in node.loads:
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
