"""May two groups become one nest? One rule a function, asked in order, each with its reason.

In: two `Group`s.  Out: a `Verdict` that names the rule, says what it saw in the words of the user's
graph, how many bytes no longer move, and what would turn the decision round.
Invariant: a Verdict depends on the two groups alone (the scheduler adds "a node lies between"), so
it can be kept.
Inductor logs such reasons ("memory deps did not match", "no shared data") without what would flip
them; on CPU it joins the loops around row reductions in a later step, outer loop fusion.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter

from .deps import Access, Group, Node, must_precede, show_sizes, show_space, unify
from .ir import Expr, product
from .options import DEFAULT, FusionOptions
from .order import Order
from .parts import BY_ROW, ENDS, stage

Users = Mapping[str, set[Node]]
ONE_THREAD = 32768  # elements that a second thread would not help with, even if they are dear


@dataclass(frozen=True)
class Verdict:
    """One decision about `first` and `second`; `saved` is in bytes, `refused_by` the name of the
    rule of `RULES` that said no.
    """

    first: str
    second: str
    ok: bool
    rule: str
    detail: str = ""
    saved: Expr = Expr()
    flip: str = ""
    refused_by: str = ""

    def __str__(self) -> str:
        gain = f" (saves {self.saved} bytes)" if self.saved.terms else ""
        word = "fuse" if self.ok else "keep apart"
        head = f"{self.first} | {self.second}: {word}, {self.rule}{gain}."
        return " ".join(
            filter(None, [head, self.detail, self.flip and f"It would flip if {self.flip}."])
        )


def vanishing(a: Group, b: Group, users: Users) -> list[Access]:
    """The accesses that no longer happen when the two share a nest: loads of what the other makes,
    stores of what nobody else reads, and loads that both make."""
    both = a.reads & b.reads
    if a.made.keys().isdisjoint(b.readers.keys()) and b.made.keys().isdisjoint(a.readers.keys()):
        return list(both)
    gone = [access for access in both
            if access.buffer not in a.made and access.buffer not in b.made]
    for x, y in ((a, b), (b, a)):
        handed = x.made.keys() & y.readers.keys()
        if handed:
            gone += [access for access in y.reads if access.buffer in handed]
            inside = {*a.nodes, *b.nodes}
            gone += [
                x.made[buffer].writes
                for buffer in handed
                if x.made[buffer].out.role == "temp" and users[buffer] <= inside
            ]
    return gone


@dataclass
class Pair:
    """Two groups, and what they would be as one. What happens inside each was judged before."""

    a: Group
    b: Group
    users: Users
    options: FusionOptions = DEFAULT

    def __post_init__(self) -> None:
        extern = self.a.extern or self.b.extern
        self.space = None if extern else unify(self.a, self.b, self.options.endings)

    @cached_property
    def nodes(self) -> list[Node]:
        return sorted(self.a.nodes + self.b.nodes, key=attrgetter("order"))

    @cached_property
    def merged(self) -> Group:
        assert self.space is not None, "they share no space"
        return Group(self.nodes, *self.space)

    @cached_property
    def reads(self) -> list[tuple[Node, Node, Expr]]:
        """(reader, producer, offset) of every load of what the other group makes."""
        found = []
        for x, y in ((self.a, self.b), (self.b, self.a)):
            for buffer in x.made.keys() & y.readers.keys():
                for reader in y.readers[buffer]:
                    found += [(reader, x.made[buffer], at) for at in reader.loads[buffer]]
        return sorted(found, key=lambda read: (read[0].order, read[1].order, str(read[2])))

    @cached_property
    def judged(self) -> list[tuple[Node, Node, Expr]]:
        """`reads`, and those within a group whose reader or producer gets another part in the nest
        of both: a reduction over a whole row may become one over all rows."""
        parts, found = self.merged.parts, list(self.reads)
        for group in (self.a, self.b):
            for buffer in group.made.keys() & group.readers.keys():
                made = group.made[buffer]
                for reader in group.readers[buffer]:
                    if any(parts[node] != group.parts[node] for node in (reader, made)):
                        found += [(reader, made, at) for at in reader.loads[buffer]]
        return sorted(found, key=lambda read: (read[0].order, read[1].order, str(read[2])))

    @property
    def common(self) -> list[str]:
        """The buffers that both load at one index, and neither computes."""
        both = {access.buffer for access in self.a.reads & self.b.reads}
        made = self.a.made.keys() | self.b.made.keys()
        return [name for name in self.a.readers if name in both and name not in made]

    @cached_property
    def gone(self) -> list[Access]:
        return vanishing(self.a, self.b, self.users)

    @property
    def gain(self) -> Expr:
        """Bytes no longer moved."""
        return sum((access.nbytes for access in self.gone), Expr())

    @property
    def arrays(self) -> list[str]:
        """The buffers that it would read or write in memory."""
        inside, made = set(self.nodes), {**self.a.made, **self.b.made}
        return [
            name
            for name in {**self.a.touched, **self.b.touched}
            if name not in made
            or made[name].out.role == "output"
            or not self.users.get(name, inside) <= inside
        ]

    def no(self, rule: str, detail: str, flip: str) -> Verdict:
        return Verdict(self.a.names, self.b.names, False, rule, detail, flip=flip)


def judge(a: Group, b: Group, users: Users, options: FusionOptions = DEFAULT) -> Verdict:
    """The verdict on one pair; `users` are the readers of each buffer, the whole program over."""
    return judge_pair(Pair(a, b, users, options))


def judge_pair(pair: Pair) -> Verdict:
    for rule in RULES:
        verdict = rule(pair)
        if verdict is not None:
            return replace(verdict, refused_by=rule.__name__)
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
    count = len(pair.a.nodes) + len(pair.b.nodes)
    if count <= pair.options.max_nodes:
        return None
    return pair.no(
        "too many nodes",
        f"together they are {count}, the limit is {pair.options.max_nodes}.",
        "the limit max_nodes were larger",
    )


def too_many_arrays(pair: Pair) -> Verdict | None:
    limit = pair.options.max_arrays
    if len(pair.a.touched) + len(pair.b.touched) <= limit or len(pair.arrays) <= limit:
        return None
    return pair.no(
        "too many arrays",
        f"together they read and write {len(pair.arrays)} arrays, more than the {limit} that one "
        "loop should follow at a time.",
        "the limit max_arrays were larger",
    )


def different_spaces(pair: Pair) -> Verdict | None:
    if pair.space is not None:
        return None
    a, b = pair.a, pair.b
    for group in (a, b):
        odd = next((n for n in group.nodes if n.is_reduction and n.loops.reordered), None)
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
    """What is complete after the last row is for those that run then, and for them alone."""
    parts = pair.merged.parts
    for reader, made, _ in pair.judged:
        if stage(parts[made], done=True) > stage(parts[reader]):
            return pair.no(
                "reduction not finished",
                f"{reader} needs {made}, which is complete only after the last row.",
                f"{made} were reduced over the inner axis",
            )
    return _ends_too_early(pair)


def _ends_too_early(pair: Pair) -> Verdict | None:
    parts = pair.merged.parts
    for end in [node for node in pair.nodes if parts[node] in ENDS]:
        for node in pair.nodes:
            if stage(parts[node]) < stage(parts[end]) and must_precede(end, node):
                return pair.no(
                    "reduction not finished",
                    f"{end} runs after the last row, and {node} must come after it.",
                    f"{node} did not touch what {end} uses",
                )
    return None


def rows_wait(pair: Pair) -> Verdict | None:
    """One total of all rows takes their loop away from other threads."""
    folds = [node for node, part in pair.merged.parts.items() if part == "fold"]
    size = product(pair.merged.space).const
    if not folds or size is not None and size <= ONE_THREAD:
        return None
    return pair.no(
        "rows would wait for each other",
        f"{folds[0]} adds up what the rows make, and then no two threads can share the rows.",
        f"the rows had {ONE_THREAD:,} elements at most, for which one thread is enough",
    )


def partial_row(pair: Pair) -> Verdict | None:
    parts = pair.merged.parts
    for reader, made, _ in pair.judged:
        if parts[reader] in BY_ROW and parts[made] in ("each", "rowscan", "colscan"):
            return pair.no(
                "row statement needs a whole row",
                f"{reader} runs once a row and reads {made} at one column.",
                f"{reader} reduced the row instead",
            )
    return None


def index_mismatch(pair: Pair) -> Verdict | None:
    placed = pair.merged.placed
    for reader, made, at in pair.judged:
        (wrote,) = made.stores[made.name]
        read, wrote = placed(reader, at), placed(made, wrote)
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
    if not (pair.a.shares_storage or pair.b.shares_storage):
        return None
    placed = pair.merged.placed
    for writer in pair.nodes:
        (wrote,) = writer.stores[writer.name]
        wrote = placed(writer, wrote)
        for other in pair.nodes:
            if writer.loops.joins and writer.loops.joins == other.loops.joins:
                continue
            touched = (placed(other, at) for at in _touches(other, writer))
            bad = next((at for at in touched if at != wrote), None)
            if bad is not None:
                return pair.no(
                    "in-place hazard",
                    f"{writer} overwrites {writer.write_storage}[{wrote}] while {other} "
                    f"uses it at [{bad}].",
                    "both used the same index, or the source were copied first",
                )
    return None


def nothing_shared(pair: Pair) -> Verdict | None:
    if pair.gone:
        return None
    both = next((b for b in pair.a.touched if b in pair.b.readers), None)
    if both is None:
        return pair.no(
            "nothing shared",
            f"{pair.a.names} and {pair.b.names} touch no common data.",
            "one read what the other reads or writes",
        )
    places = [min(str(access.at) for access in group.reads if access.buffer == both)
              for group in (pair.a, pair.b)]
    return pair.no(
        "nothing shared",
        f"{pair.a.names} and {pair.b.names} use {both}, but at different places: "
        f"[{places[0]}] and [{places[1]}].",
        "both used it at the same index",
    )


RULES = (
    extern_operator,
    too_many_nodes,
    too_many_arrays,
    different_spaces,
    unfinished_reduction,
    rows_wait,
    partial_row,
    index_mismatch,
    in_place_hazard,
    nothing_shared,
)


def node_between(a: Group, b: Group, order: Order) -> Verdict | None:
    """The one rule about a third group: fusing around it would make a circle."""
    found = order.lies_between(a, b)
    if found is None:
        return None
    first, third, last = found
    return Verdict(
        a.names,
        b.names,
        False,
        "a node lies between",
        f"{third.names} needs {first.names} and feeds {last.names}.",
        flip=f"{third.names} joined one of them first",
        refused_by="node_between",
    )


# ---- reasons to fuse -----------------------------------------------------------------------------


def _yes(pair: Pair) -> Verdict:
    parts = set(pair.merged.parts.values())
    over = f"over {show_space(pair.merged)}."
    if pair.reads:
        reader, made, _ = pair.reads[0]
        rule = "producer and consumer"
        detail = f"{reader} reads {made} where it was just computed, {over}"
    else:
        rule = "shared reads"
        detail = f"both read {', '.join(pair.common)} at the same index, {over}"
    if "colred" in parts and not parts <= {"colred", *ENDS}:
        rule += ", column sum rides along"
    if "rowred" in parts:
        rule += ", row stays near"
    if "fold" in parts:
        rule += ", rows add up"
    if not parts.isdisjoint(ENDS):
        rule += ", done after the last row"
    return Verdict(pair.a.names, pair.b.names, True, rule, detail, pair.gain)


def _touches(node: Node, writer: Node) -> Iterator[Expr]:
    """Where another node uses the writer's storage, other than by the writer's own buffer."""
    if node is not writer:
        for table in (node.loads, node.stores):
            for buffer, ats in table.items():
                if buffer != writer.name and node.buffers[buffer].storage == writer.write_storage:
                    yield from ats
