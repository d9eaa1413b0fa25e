"""Program -> schedule: which loops share a nest, and in which order the nests and extern steps run.

In: a `Program`.  Out: a `Schedule` with ordered steps (`Nest` or `Extern`) and every verdict on the
way. Greedy: judge all pairs, fuse the legal pair that saves most bytes, again, until nothing is
left to gain.
Invariant: any legal order of fusing gives a right program; `pick` lets tests choose at random.
Inductor works the same way, with a score (bytes saved, then distance in the program) and limits on
memory peaks.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .deps import Group, Node, closure, edges, inverse, links_between, nodes_of
from .ir import Expr
from .nest import Nest
from .program import Extern, Program
from .verdicts import Pair, Verdict, judge, node_between

SIZE_HINT = 8192  # what a symbolic size counts as when savings are compared
Pick = Callable[[Sequence[Verdict]], int]
Links = set[tuple[Node, Node]]


@dataclass
class Schedule:
    """What codegen prints, in order; `verdicts` are lowering's and the scheduler's last words."""

    program: Program
    steps: list[Nest | Extern]
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def nests(self) -> list[Nest]:
        return [s for s in self.steps if isinstance(s, Nest)]

    @property
    def externs(self) -> list[Extern]:
        return [s for s in self.steps if isinstance(s, Extern)]

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.steps))


def schedule(program: Program, fuse: bool = True, pick: Pick | None = None) -> Schedule:
    """Group the program's loops. fuse=False keeps every step alone: the "before" of the ledger."""
    nodes = nodes_of(program)
    links = links_between(nodes)
    groups = [Group.of(n) for n in nodes]
    verdicts: dict[tuple[str, str], Verdict] = {}
    if fuse:
        groups = _fuse_greedily(groups, links, _users(nodes), pick or _most_saved, verdicts)
    ordered = _in_order(groups, links)
    return Schedule(
        program,
        [_step(g, ordered, program) for g in ordered],
        [*program.decisions, *verdicts.values()],
    )


def _fuse_greedily(groups: list[Group], links: Links, users: dict[str, list[Node]], pick: Pick,
                   verdicts: dict[tuple[str, str], Verdict]) -> list[Group]:
    kept: dict[
        tuple[Group, Group], Verdict
    ] = {}  # a pair's own verdict never changes: judge it once
    while True:
        reach = closure(edges(groups, links))
        reached_by = inverse(reach)
        legal: list[tuple[Group, Group, Verdict]] = []
        for i, a in enumerate(groups):
            for b in groups[i + 1:]:
                if (a, b) not in kept:
                    kept[a, b] = judge(a, b, users)
                verdict = kept[a, b]
                if verdict.ok:
                    verdict = node_between(a, b, reach, reached_by) or verdict
                verdicts[a.names, b.names] = verdict
                if verdict.ok:
                    legal.append((a, b, verdict))
        if not legal:
            return groups
        a, b, _ = legal[pick([v for *_, v in legal])]
        fused = Pair(a, b, users).merged
        groups = sorted(
            [g for g in groups if g not in (a, b)] + [fused], key=lambda g: g.nodes[0].order
        )


def _users(nodes: list[Node]) -> dict[str, list[Node]]:
    users: dict[str, list[Node]] = {}
    for node in nodes:
        for buffer in node.loads:
            users.setdefault(buffer, []).append(node)
    return users


def _most_saved(legal: Sequence[Verdict]) -> int:
    return max(range(len(legal)), key=lambda k: _hint(legal[k].saved))


def _hint(size: Expr) -> int:
    return size.value(dict.fromkeys(size.symbols, SIZE_HINT))


def _in_order(groups: list[Group], links: Links) -> list[Group]:
    """Program order as far as the dependencies allow."""
    after, left, out = edges(groups, links), list(groups), []
    while left:
        ready = [g for g in left if not any(g in after[h] for h in left if h is not g)]
        assert ready, "the groups depend on each other in a circle"
        first = min(ready, key=lambda g: g.nodes[0].order)
        out.append(first)
        left.remove(first)
    return out


def _step(group: Group, groups: list[Group], program: Program) -> Nest | Extern:
    if group.extern is not None:
        return group.extern
    outside = {b for g in groups if g is not group for n in g.nodes for b in n.loads}
    return Nest(group, program.buffers, outside)
