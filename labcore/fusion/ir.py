"""The loop IR: index expressions, buffers, loops, and the `ops` that every loop body calls.

In: sizes and bodies from `lowering.py`.  Out: `Loops` that any handler can run.
A body is a Python function of index variables that calls `ops.load`, `ops.add`, ... What `ops` *is*
at that moment decides what running the body means: show it, count it, interpret it, find its reads
and writes, print a kernel.
Invariant: every access is a (buffer name, offset) pair; the offset is one polynomial over index
variables (i0, i1, ...) and size symbols in a canonical form, so two accesses are the same exactly
when they compare equal. An index that is a value (`x[index]`) is a place: a symbol j0, j1, ... that
the body has `ops.place` name before it is used.
Inductor has the same idea with sympy expressions, plus what is left out here: division and modulo
in offsets (a reshape that would need them realizes instead) and masked bodies.
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from .. import dtypes
from ..shapes import Expr as Expr, is_index as is_index
from .primitives import PRIMITIVES, REDUCTIONS, SCANS

if TYPE_CHECKING:
    from ..graph import Node as GraphNode
    from .handlers import Reads

Asked = tuple[str, int]  # a body, by the buffer it makes, and which of its questions
LAST = -1  # the question that stores what a body makes


def index(k: int) -> Expr:
    """The k-th loop variable."""
    return Expr.of(f"i{k}")


def is_place(symbol: str) -> bool:
    """Is it an index that is a value?"""
    return symbol[0] == "j" and symbol[1:].isdigit()


def product(sizes: Sequence[Expr | int]) -> Expr:
    out = Expr.of(1)
    for size in sizes:
        out = out * size
    return out


def exprs(values: Sequence[Expr | int]) -> tuple[Expr, ...]:
    return tuple(Expr.of(v) for v in values)


@dataclass(frozen=True)
class Buffer:
    """A name for one version of one storage. Offsets count elements from the tensor's first
    element.

    role: "input" (an argument or a constant), "temp", "output". A write in place is a new Buffer
    over the same storage.
    """

    name: str
    shape: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    dtype: dtypes.dtype
    storage: str
    role: str = "temp"

    @staticmethod
    def new(name: str, shape: Sequence[Expr | int], dtype: dtypes.dtype, role: str = "temp",
            strides: Sequence[Expr | int] | None = None, storage: str | None = None) -> Buffer:
        """Row-major unless strides are given; over a storage of its own unless one is."""
        sizes = exprs(shape)
        if strides is None:
            strides = [product(sizes[k + 1:]) for k in range(len(sizes))]
        return Buffer(name, sizes, exprs(strides), dtype, storage or name, role)

    def at(self, idx: Sequence[Expr]) -> Expr:
        """The offset of an element."""
        return sum((i * s for i, s in zip(idx, self.strides, strict=True)), Expr())

    @property
    def numel(self) -> Expr:
        return product(self.shape)

    @cached_property
    def span(self) -> Expr:
        """How many elements of the storage it reaches over: numel, if there are no gaps."""
        if any(s.const == 0 for s in self.shape):
            return Expr()
        return sum(((n - 1) * s for n, s in zip(self.shape, self.strides)), Expr.of(1))

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype.name}[{', '.join(map(str, self.shape))}]"


@dataclass(eq=False)
class Loops:
    """`for idx in sizes: out[where(idx)] (=, += ...) body(idx)`; one Loops makes one buffer.

    `kept` are the axes that survive into the output, the others are reduced. Sizes of 1 never
    appear as axes. `kind` is "pointwise", a reduction or a scan of the tables in `primitives.py`,
    or "scatter" or "scatter_add", which write at places. `along` is the axis of a scan.
    `origin` are the graph nodes it computes, in order, and `title` is the name the
    user's graph has for the result; `why` says why it has a buffer at all.
    `into` is the version of the storage that it writes into: what it does not write stays. Loops
    with the same `joins` write parts of one storage that do not overlap. `reordered` are the
    tensor's axes in the order of the loops, where that is not the order of memory: reduced ones lie
    around kept ones, here or in what is read.
    """

    out: Buffer
    sizes: tuple[Expr, ...]
    kept: tuple[int, ...]
    kind: str
    body: Callable[[Sequence[Expr]], Any]
    where: Callable[[Sequence[Expr]], Expr]
    origin: tuple[GraphNode, ...] = ()
    title: str = ""
    order: int = 0
    why: str = ""
    reordered: tuple[int, ...] = ()
    into: Buffer | None = None
    joins: str = ""
    along: int = 0

    def run(self, idx: Sequence[Expr]) -> None:
        """Run the body once under the current handler, at the given loop indices."""
        with ops.one_run(self.out.name):
            value = self.body(idx)
            with ops.source(self.origin[-1] if self.origin else None):
                at = self.where([idx[k] for k in self.kept])
                if self.kind == "pointwise":
                    ops.store(self.out.name, at, value)
                elif self.is_reduction:
                    ops.reduce(self.out.name, at, self.kind, value)
                elif self.is_scan:
                    ops.scan(self.out.name, at, self.kind, value)
                else:
                    ops.scatter(self.out.name, at, value, self.kind == "scatter_add")

    @cached_property
    def reads(self) -> Reads:
        """What the body touches, over the variables of the loops."""
        from .handlers import Reads

        with using(Reads()) as found:
            self.run(self.vars)
        return found

    @property
    def vars(self) -> list[Expr]:
        return [index(k) for k in range(len(self.sizes))]

    @property
    def is_reduction(self) -> bool:
        return self.kind in REDUCTIONS

    @property
    def is_scan(self) -> bool:
        return self.kind in SCANS

    def __str__(self) -> str:
        from .show import (
            show_loops,
        )  # the printed form is a handler's work, and handlers need this file

        return show_loops(self)


class Ops(threading.local):
    """What loop bodies call. Every call goes to the handler on top of this thread's stack.

    `node` is the graph node whose statement is being run, so a handler knows the user's line of
    what it is told; `asked` is (the body, which of its questions this is), the same under every
    handler. `memo` lives for one run of one body, so a value used twice is computed once.
    `listener` is told every question with its answer (see `follow.py`).
    """

    def __init__(self) -> None:
        self.stack: list[Any] = []  # of handlers
        self.listener: Callable[[Any], Any] | None = None
        self.node: GraphNode | None = None
        self.body, self.question = "", LAST
        self.memo: dict[int, Any] = {}

    @property
    def asked(self) -> Asked:
        return self.body, self.question

    def __getattr__(self, name: str) -> Any:
        handler = self.stack[-1]
        self.question += 1
        return partial(handler.op, name) if name in PRIMITIVES else getattr(handler, name)

    @contextmanager
    def source(self, node: GraphNode | None) -> Iterator[None]:
        """Statements made inside come from `node`."""
        before, self.node = self.node, node
        try:
            yield
        finally:
            self.node = before

    @contextmanager
    def one_run(self, body: str = "") -> Iterator[None]:
        before = self.memo, self.body, self.question
        self.memo, self.body, self.question = {}, body, LAST
        try:
            yield
        finally:
            self.memo, self.body, self.question = before


ops = Ops()


@contextmanager
def using(handler: Any) -> Iterator[Any]:
    """Loop bodies run inside mean what `handler` says."""
    ops.stack.append(handler if ops.listener is None else ops.listener(handler))
    try:
        yield handler
    finally:
        ops.stack.pop()
