"""How one group runs: its inner passes, what lies between them, where each value lives.

In: a `Group` whose nodes may share a nest.  Out: a `Nest`, the only thing a printer reads.

    flat       outer = (), one pass: a pointwise chain
    rows       for each row: [row statements, inner pass]*, row statements
    columns    one inner pass whose reductions finish after the last row
    ends       what is computed of them then, over the columns or once

Homes of a buffer made in the nest:
    memory     leaves the nest: stored
    hand       used only in the pass that makes it: a local variable, never stored; of a column,
               where all is done: a row of scratch, in which it has added up
    row        made in one pass, read in a later one: a row of scratch near by
    scalar     one value a row: a local variable between the passes
Invariant: the passes run in an order in which every value is complete before it is read.
Inductor leaves this to its C++ and Triton printers, each of which decides while it prints.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .deps import Group, Node, must_precede
from .ir import Buffer, Expr, is_index, is_place, product
from .parts import BY_ROW, ENDS, OVER_ROWS
from .primitives import accumulator


@dataclass
class Pass:
    """`before` the inner loop: row statements; `inside`: all others."""

    before: list[Node] = field(default_factory=list)
    inside: list[Node] = field(default_factory=list)


class Nest:
    """Passes, parts, homes and loops of one group.

    Loop variables are the nodes' own i0, i1, ...; an axis that was merged into the next one is
    replaced by 0, so a body run through `run` speaks of the merged variables only.
    """

    def __init__(self, group: Group, buffers: dict[str, Buffer], live_outside: set[str]) -> None:
        self.group, self.buffers_by_name = group, buffers
        self.nodes = group.nodes
        self.outer, self.inner = group.outer, group.inner or ()
        if group.inner is None:  # pointwise only: the last loop is the inner one
            self.outer, self.inner = group.outer[:-1], group.outer[-1:]
        self.parts = group.parts
        self.when = pass_numbers(self.nodes, self.parts)
        self.passes = self._passes()
        self.ends = [n for n in self.nodes if self.parts[n] in ENDS]
        self.homes = {n.name: self._home(n, live_outside) for n in self.nodes}
        self.lends = self._lends()
        self.loops, self.rename = self._merge()

    # ---- what a printer asks ----

    @property
    def name(self) -> str:
        return self.group.names

    @property
    def outer_loops(self) -> list[tuple[str, Expr]]:
        return [(v, s) for v, s, inner in self.loops if not inner]

    @property
    def batch_loops(self) -> list[tuple[str, Expr]]:
        """The outer loops in each turn of which columns begin anew."""
        return [(v, s) for v, s in self.outer_loops if int(v[1:]) < self.group.batch]

    @property
    def row_loops(self) -> list[tuple[str, Expr]]:
        return self.outer_loops[len(self.batch_loops):]

    @property
    def inner_loops(self) -> list[tuple[str, Expr]]:
        return [(v, s) for v, s, inner in self.loops if inner]

    @property
    def rows(self) -> Expr:
        return product([s for _, s in self.outer_loops])

    @property
    def columns(self) -> Expr:
        return product([s for _, s in self.inner_loops])

    @property
    def batches(self) -> Expr:
        return product([s for _, s in self.batch_loops])

    @property
    def reductions(self) -> list[Node]:
        return [n for n in self.nodes if n.is_reduction]

    @property
    def column(self) -> Expr:
        """Position in a row: the inner loop variables, flattened."""
        loops = self.inner_loops
        parts = [
            Expr.of(v) * product([s for _, s in loops[k + 1 :]]) for k, (v, _) in enumerate(loops)
        ]
        return sum(parts, Expr())

    @property
    def made(self) -> list[str]:
        """The buffers that it leaves in memory."""
        return [n.name for n in self.nodes if self.homes[n.name] == "memory"]

    @property
    def used(self) -> list[str]:
        """The buffers that it loads and does not make."""
        return [b for b in self.group.readers if b not in self.group.made]

    def storage(self, buffer: str) -> str:
        return self.buffers_by_name[buffer].storage

    def varies(self, expr: Expr) -> bool:
        """Does it change along the inner loop?"""
        return any(v in expr.symbols for v, _ in self.inner_loops)

    def run(self, node: Node) -> None:
        """Run a node's body under the current handler, over the merged variables."""
        node.loops.run([v.subs(self.rename) for v in self.group.variables(node)])

    def adds_up_apart(self, node: Node) -> bool:
        """Does a column add up in a row of scratch: in a wider type, or for nobody outside?"""
        dtype = node.out.dtype
        wide = accumulator(node.loops.kind, dtype) is not dtype
        return wide or self.homes[node.name] != "memory"

    @property
    def completed(self) -> dict[tuple[str, Expr], bool]:
        """The results of all rows, by buffer and offset; do they vary along the inner loop?"""
        return {
            (n.name, at.subs(self.rename)): self.parts[n] == "colred"
            for n in self.nodes if self.parts[n] in OVER_ROWS
            for at in n.stores[n.name]
        }

    def turns(self, part: str, varies: bool) -> Expr:
        """How often a statement of a node of that part runs, inside of the inner loop or not."""
        if part == "last":
            return Expr.of(1)
        outer = self.batches if part == "column" else self.rows
        return outer * self.columns if varies else outer

    def read_at_end(self, node: Node) -> bool:
        """Is there work on a complete column in this nest?"""
        return any(node.name in end.loads for end in self.ends)

    @property
    def arguments(self) -> list[str]:
        """The storages a kernel takes, reads first, each once."""
        return list(dict.fromkeys(map(self.storage, [*self.used, *self.made])))

    @property
    def symbols(self) -> list[str]:
        """The size symbols a kernel takes."""
        used = [e for n in self.nodes for e in (*n.sizes, *n.indices, *n.offsets)]
        symbols = {s for e in used for s in e.symbols}
        return sorted(s for s in symbols if not is_index(s) and not is_place(s))

    # ---- how it is decided ----

    def _passes(self) -> list[Pass]:
        by_pass = {n: number for n, number in self.when.items() if self.parts[n] not in ENDS}
        passes = [Pass() for _ in range(max(by_pass.values()) + 1)]
        for node, number in by_pass.items():
            step = passes[number]
            (step.before if self.parts[node] in BY_ROW else step.inside).append(node)
        return passes

    def _home(self, node: Node, live_outside: set[str]) -> str:
        out, part = node.out, self.parts[node]
        if (
            out.role == "output"
            or out.name in live_outside
            or self.storage(out.name) != out.name
            or node.loops.into is not None
        ):
            return "memory"
        if part in ("row", "rowred", "fold", "last"):
            return "scalar"
        if part in ("colred", "column"):
            return "hand"
        later = any(out.name in u.loads and self.when[u] > self.when[node] for u in self.nodes)
        return "row" if later else "hand"

    def _lends(self) -> dict[str, str]:
        """Row buffer -> the output whose row it may use as scratch: the last reader overwrites it
        at the same index.

        Better than a scratch row: the output's cache misses then happen in the pass that computes.
        """
        lent: dict[str, str] = {}
        for node in self.nodes:
            if self.homes[node.name] == "row":
                host = next(
                    (
                        m
                        for m in self.nodes
                        if m.name not in lent.values() and self._can_lend(m, node)
                    ),
                    None,
                )
                if host is not None:
                    lent[node.name] = host.name
        return lent

    def _can_lend(self, host: Node, node: Node) -> bool:
        readers = [m for m in self.nodes if node.name in m.loads]
        last = max(self.when[m] for m in readers)
        whole = self.parts[host] == "each" and self.homes[host.name] == "memory"
        return (whole and self.when[host] == last and host.out.dtype is node.out.dtype
                and self._free_for(host, node)
                and all(m.order <= host.order for m in readers if self.when[m] == last)
                and host.stores[host.name] == node.stores[node.name])

    def _free_for(self, host: Node, node: Node) -> bool:
        """Is what the host is written over, if anything, read for the last time before `node` is
        written there?"""
        place, at = self.storage(host.name), (self.when[node], node.order)
        return place == host.name or all(
            ats == node.stores[node.name] and (self.when[m], m.order) <= at
            for m in self.nodes
            for buffer, ats in m.loads.items()
            if self.storage(buffer) == place and buffer not in self.group.made
        )

    def _merge(self) -> tuple[list[tuple[str, Expr, bool]], dict[str, Expr]]:
        """Merge adjacent axes: i0 < R, i1 < N with every offset N*i0 + i1 is one loop of R*N.

        Returns the loops as (variable, size, is inner), and the replacements of the variables that
        went away.
        """
        sizes, cut = list(self.outer + self.inner), len(self.outer)
        cuts = set() if self.group.inner is None else {self.group.batch, cut}
        placed = self.group.placed
        offsets = [placed(n, e) for n in self.nodes for e in (*n.offsets, *n.indices)]
        loops: list[tuple[str, Expr, bool]] = []
        rename: dict[str, Expr] = {}
        first = 0
        while first < len(sizes):
            last = first
            while (
                last + 1 < len(sizes)
                and last + 1 not in cuts
                and _mergeable(last, sizes, offsets)
            ):
                last += 1
            rename.update({f"i{k}": Expr() for k in range(first, last)})
            loops.append((f"i{last}", product(sizes[first:last + 1]), last >= cut))
            first = last + 1
        return loops, rename

    def __str__(self) -> str:
        from .show import show_nest

        return show_nest(self)


def pass_numbers(nodes: Sequence[Node], parts: dict[Node, str]) -> dict[Node, int]:
    """The pass of each node; a row node runs before the pass of its number, and what runs after the
    last row has a number of its own.

    A row result is ready one pass after the pass that accumulates it; a row statement follows a
    whole pass; a write in place waits for the readers of the old value.
    """
    when: dict[Node, int] = {}
    for node in nodes:
        if parts[node] in ENDS:
            continue
        number = 0
        for earlier in when:
            kind = must_precede(earlier, node)
            if kind is None:
                continue
            late = kind == "raw" and parts[earlier] == "rowred"
            late |= parts[earlier] not in BY_ROW and parts[node] in BY_ROW
            number = max(number, when[earlier] + late)
        when[node] = number
    last = max(when.values(), default=0) + 1
    return when | {node: last for node in nodes if parts[node] in ENDS}


def _mergeable(k: int, sizes: list[Expr], offsets: list[Expr]) -> bool:
    a, b = f"i{k}", f"i{k + 1}"
    return all(at.coeff(a) == at.coeff(b) * sizes[k + 1] for at in offsets)
