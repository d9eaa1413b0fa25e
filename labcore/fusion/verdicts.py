"""May two groups become one nest? One rule a function, asked in the order of `RULES`; every answer
has its reason.

In: two `Group`s.  Out: a `Verdict` that names the rule, says what it saw in the words of the user's
graph, how many bytes no longer move, and what would turn the decision round.
Invariant: a Verdict depends on the two groups alone (the scheduler adds "a node lies between"), so
it can be kept.
Inductor logs such reasons ("memory deps did not match", "no shared data"); it has some thirty
rules, and never fuses a row reduction with what follows on CPU as one pass.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from .deps import Group, Node, show_sizes, show_space, unify
from .ir import Expr, product

MAX_NODES = 64  # as in Inductor


@dataclass(frozen=True)
class Verdict:
    """One decision about `first` and `second`; `saved` is in bytes, a polynomial of the size
    symbols.
    """

    first: str
    second: str
    ok: bool
    rule: str
    detail: str = ""
    saved: Expr = Expr()
    flip: str = ""

    def __str__(self) -> str:
        gain = f" (saves {self.saved} bytes)" if self.saved.terms else ""
        word = "fuse" if self.ok else "keep apart"
        head = f"{self.first} | {self.second}: {word}, {self.rule}{gain}."
        return " ".join(
            filter(None, [head, self.detail, self.flip and f"It would flip if {self.flip}."])
        )


@dataclass
class Pair:
    """Two groups, and what they would be as one."""

    a: Group
    b: Group
    users: dict[str, list[Node]]

    def __post_init__(self) -> None:
        self.nodes = sorted(self.a.nodes + self.b.nodes, key=lambda n: n.order)
        extern = self.a.extern or self.b.extern
        self.space = None if extern else unify(self.a, self.b)

    @cached_property
    def merged(self) -> Group:
        assert self.space is not None, "they share no space"
        return Group(self.nodes, *self.space)

    def no(self, rule: str, detail: str, flip: str) -> Verdict:
        return Verdict(self.a.names, self.b.names, False, rule, detail, flip=flip)


def judge(a: Group, b: Group, users: dict[str, list[Node]]) -> Verdict:
    """The verdict on one pair; `users` are the readers of each buffer, the whole program over."""
    pair = Pair(a, b, users)
    for rule in RULES:
        verdict = rule(pair)
        if verdict is not None:
            return verdict
    return _yes(pair)


# ---- reasons to keep apart -----------------------------------------------------------------------


def extern_operator(pair: Pair) -> Verdict | None:
    for group in (pair.a, pair.b):
        if group.extern is not None:
            return pair.no(
                "extern operator",
                f"{group.names} calls the eager operator {group.extern.op.name}: "
                f"{group.extern.reason}.",
                f"{group.extern.op.name} had loops of its own",
            )
    return None


def too_many_nodes(pair: Pair) -> Verdict | None:
    if len(pair.nodes) <= MAX_NODES:
        return None
    return pair.no(
        "too many nodes",
        f"together they are {len(pair.nodes)}, the limit is {MAX_NODES}.",
        "the limit were larger",
    )


def different_spaces(pair: Pair) -> Verdict | None:
    if pair.space is not None:
        return None
    a, b = pair.a, pair.b
    for group in (a, b):
        odd = next((n for n in group.nodes if n.loops.reordered), None)
        if odd is not None:
            return pair.no(
                "reduced axes in the middle",
                f"{odd} reduces axes that lie between or around kept ones, so "
                f"its loops run in another order: {show_space(group)}.",
                "the kept axes were first or last",
            )
    full = [g for g in (a, b) if g.inner is not None and g.outer == ()]
    if len(full) == 1 and a.space == b.space:
        part = b if full[0] is a else a
        return pair.no(
            "full reduction beside a partial one",
            f"{full[0].names} reduces everything in one row, "
            f"{part.names} needs rows of {show_sizes(part.inner or ())}.",
            "both reduced the same axes",
        )
    return pair.no(
        "different iteration space",
        f"{a.names} runs over {show_space(a)}, {b.names} over {show_space(b)}.",
        "the shapes, or the axes reduced, agreed",
    )


def unfinished_reduction(pair: Pair) -> Verdict | None:
    for reader, made, _ in _inner_reads(pair):
        if pair.merged.parts[made] == "colred":
            return pair.no(
                "reduction not finished",
                f"{reader} needs {made}, which is complete only after the last row.",
                f"{made} were reduced over the inner axis",
            )
    return None


def partial_row(pair: Pair) -> Verdict | None:
    parts = pair.merged.parts
    for reader, made, _ in _inner_reads(pair):
        if parts[reader] == "row" and parts[made] == "each":
            return pair.no(
                "row statement needs a whole row",
                f"{reader} runs once a row and reads {made} at one column.",
                f"{reader} reduced the row instead",
            )
    return None


def index_mismatch(pair: Pair) -> Verdict | None:
    for reader, made, read in _inner_reads(pair):
        (wrote,) = made.stores[made.name]
        if read != wrote:
            return pair.no(
                "index mismatch",
                f"{made} is written at [{wrote}] and read by {reader} at [{read}], "
                "which may not be computed yet.",
                "both used the same index (no shift, no transpose, no broadcast between them)",
            )
    return None


def in_place_hazard(pair: Pair) -> Verdict | None:
    """One storage may be touched in one nest at one index only, once somebody writes it."""
    for writer in pair.nodes:
        (wrote,) = writer.stores[writer.name]
        for other in pair.nodes:
            if other is writer:
                continue
            bad = next((at for at in _touches(other, writer) if at != wrote), None)
            if bad is not None:
                return pair.no(
                    "in-place hazard",
                    f"{writer} overwrites {writer.write_storage}[{wrote}] while {other} "
                    f"uses it at [{bad}].",
                    "both used the same index, or the source were copied first",
                )
    return None


def nothing_shared(pair: Pair) -> Verdict | None:
    if gain(pair)[1].terms:
        return None
    return pair.no("nothing shared", f"{pair.a.names} and {pair.b.names} touch no common data.",
                   "one read what the other reads or writes")


RULES = (
    extern_operator,
    too_many_nodes,
    different_spaces,
    unfinished_reduction,
    partial_row,
    index_mismatch,
    in_place_hazard,
    nothing_shared,
)


def node_between(a: Group, b: Group, reach: dict[Group, set[Group]]) -> Verdict | None:
    """The one rule about a third group: fusing around it would make a circle."""
    for third in reach:
        if third is not a and third is not b:
            for x, y in ((a, b), (b, a)):
                if third in reach[x] and y in reach[third]:
                    return Verdict(a.names, b.names, False, "a node lies between",
                                   f"{third.names} needs {x.names} and feeds {y.names}.",
                                   flip=f"{third.names} joined one of them first")
    return None


# ---- reasons to fuse -----------------------------------------------------------------------------


def _yes(pair: Pair) -> Verdict:
    rule, saved = gain(pair)
    parts = {pair.merged.parts[n] for n in pair.nodes}
    shared = next(((r, m) for r, m, _ in _inner_reads(pair, own=False)), None)
    over = f"over {show_space(pair.merged)}."
    if shared is not None:
        detail = f"{shared[0]} reads {shared[1]} where it was just computed, {over}"
    else:
        detail = f"both read {', '.join(_common_loads(pair))} at the same index, {over}"
    if "colred" in parts and parts != {"colred"}:
        rule += ", column sum rides along"
    if "rowred" in parts:
        rule += ", row stays near"
    return Verdict(pair.a.names, pair.b.names, True, rule, detail, saved)


def gain(pair: Pair) -> tuple[str, Expr]:
    """Bytes no longer moved: a store that dies, its loads, and loads that both sides make."""
    saved, rule = Expr(), "shared reads"
    inside = set(pair.nodes)
    for x, y in ((pair.a, pair.b), (pair.b, pair.a)):
        for made in x.nodes:
            readers = [n for n in y.nodes if made.name in n.loads]
            if readers:
                rule = "producer and consumer"
                saved += made.out.numel * (made.out.dtype.itemsize * len(readers))
                if made.out.role == "temp" and all(
                    u in inside for u in pair.users.get(made.name, [])
                ):
                    saved += made.out.numel * made.out.dtype.itemsize
    for (buffer, at), node in _common_accesses(pair).items():
        live = [s for k, s in enumerate(node.sizes) if f"i{k}" in at.symbols]
        saved += product(live) * node.buffers[buffer].dtype.itemsize
    return rule, saved


def _common_accesses(pair: Pair) -> dict[tuple[str, Expr], Node]:
    """Loads that both sides make, of what neither of them computes."""
    made = {n.name for n in pair.nodes}
    sides = [
        {
            (buffer, at): n
            for n in g.nodes
            for buffer, ats in n.loads.items()
            for at in ats
            if buffer not in made
        }
        for g in (pair.a, pair.b)
    ]
    return {key: node for key, node in sides[0].items() if key in sides[1]}


def _common_loads(pair: Pair) -> list[str]:
    return list(dict.fromkeys(buffer for buffer, _ in _common_accesses(pair)))


def _inner_reads(pair: Pair, own: bool = True) -> Iterator[tuple[Node, Node, Expr]]:
    """(reader, producer, offset) for every load of a buffer made in the pair; own=False: across the
    two groups only.
    """
    made = {n.name: n for n in pair.nodes}
    for reader in pair.nodes:
        for buffer, ats in reader.loads.items():
            producer = made.get(buffer)
            if producer is None or producer is reader:
                continue
            if own or (reader in pair.a.nodes) != (producer in pair.a.nodes):
                yield from ((reader, producer, at) for at in sorted(ats, key=str))


def _touches(node: Node, writer: Node) -> Iterator[Expr]:
    """Where a node uses the writer's storage, other than by the writer's own buffer."""
    for table in (node.loads, node.stores):
        for buffer, ats in table.items():
            if buffer != writer.name and node.buffers[buffer].storage == writer.write_storage:
                yield from ats
