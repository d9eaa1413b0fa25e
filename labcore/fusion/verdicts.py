"""May two groups become one nest? One rule a function, asked in order, each with its reason.

In: two `Group`s.  Out: a `Verdict` that names the rule, says what it saw in the words of the user's
graph, how many bytes no longer move, and what would turn the decision round.
Invariant: a Verdict depends on the two groups alone (the scheduler adds "a node lies between"), so
it can be kept.
Inductor logs such reasons ("memory deps did not match", "no shared data") without what would flip
them; on CPU it joins the loops around row reductions in a later step, outer loop fusion.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .deps import Group, Node, must_precede, show_sizes, show_space
from .ir import Expr, product
from .options import DEFAULT, FusionOptions
from .order import Order
from .pair import Pair, Users, Verdict
from .parts import BY_ROW, ENDS, complete, runs

ONE_THREAD = 32768  # elements that a second thread would not help with, even if they are dear


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
    for reader, made, _ in pair.unsettled:
        if complete(parts[made]) > runs(parts[reader]):
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
            if runs(parts[node]) < runs(parts[end]) and must_precede(end, node):
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
    for reader, made, _ in pair.unsettled:
        if parts[reader] in BY_ROW and parts[made] in ("each", "rowscan", "colscan"):
            return pair.no(
                "row statement needs a whole row",
                f"{reader} runs once a row and reads {made} at one column.",
                f"{reader} reduced the row instead",
            )
    return None


def index_mismatch(pair: Pair) -> Verdict | None:
    placed = pair.merged.placed
    for reader, made, at in pair.unsettled:
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
