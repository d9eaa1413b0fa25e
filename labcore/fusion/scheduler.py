"""Program -> schedule: which loops share a nest, and in which order the nests and extern steps run.

In: a `Program`.  Out: a `Schedule` with ordered steps (`Nest` or `Extern`) and every verdict on the
way. Greedy: of all pairs with a buffer in common the one that saves most bytes is tried first, of
equals the one that lies nearest in the program; what fused becomes a candidate with its neighbours.
Invariant: any legal order of fusing gives a right program; `priority` lets tests choose at random.
A pair is judged when its turn comes, so one that has become part of something larger never is, and
compile time grows with the number of buffers, not of pairs.
Inductor works the same way; it looks at 64 readers of a buffer on either side.
"""
from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Any

from .deps import Group, dependencies, nodes_of, users_of
from .ir import Buffer
from .memory import written_over
from .nest import Nest
from .options import DEFAULT, FusionOptions
from .order import Earlier, Order, in_order
from .pair import Pair, Users, Verdict, vanishing
from .peak import Holding
from .program import Extern, Program
from .verdicts import judge_pair, node_between

NEIGHBOURS = 8  # how many users of a buffer, on either side, a group is tried with
Priority = Callable[[int, int], Any]
Offer = tuple[Any, int, Group, Group]  # how early the pair's turn comes, and when it was offered


def most_saved(nbytes: int, distance: int) -> tuple[int, int]:
    """The smallest comes first: most bytes saved, then nearest in the program."""
    return -nbytes, distance


@dataclass
class Schedule:
    """What codegen prints, in order; `verdicts` are lowering's, then the scheduler's as it tried
    one pair after the other. `buffers` are the program's as they lie in memory, where some are
    written over others."""

    program: Program
    steps: list[Nest | Extern]
    buffers: dict[str, Buffer]
    verdicts: list[Verdict] = field(default_factory=list)
    options: FusionOptions = DEFAULT

    @property
    def nests(self) -> list[Nest]:
        return [s for s in self.steps if isinstance(s, Nest)]

    @property
    def externs(self) -> list[Extern]:
        return [s for s in self.steps if isinstance(s, Extern)]

    @cached_property
    def given(self) -> set[str]:
        """The storages that the program does not make."""
        return {b.storage for b in self.program.inputs} | self.program.constants.keys()

    @property
    def returned(self) -> set[str]:
        """The storages that it hands out."""
        outputs = self.program.outputs
        return {self.buffers[b.name].storage for b in outputs if isinstance(b, Buffer)}

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.steps))


def schedule(
    program: Program,
    fuse: bool = True,
    priority: Priority = most_saved,
    options: FusionOptions = DEFAULT,
    new_contents: Mapping[str, str] | None = None,
) -> Schedule:
    """Group the program's loops. fuse=False keeps every step alone: the "before" of the ledger.

    `new_contents`: outputs that the caller will copy into an input, and which; where it is safe,
    they are written there."""
    nodes = nodes_of(program)
    earlier, users = dependencies(nodes), users_of(nodes)
    groups, tried = [Group.of(n) for n in nodes], list[Verdict]()
    if fuse:
        fusing = Fusing(groups, earlier, users, priority, options)
        groups, tried = fusing.run(), [trial.verdict for trial in fusing.tried]
    ordered = in_order(groups, earlier)
    into = written_over(ordered, users, new_contents or {}) if fuse else {}
    buffers = dict(program.buffers)
    for name, dead in into.items():
        buffers[name] = replace(buffers[name], storage=buffers[dead].storage)
    steps = [step_of(group, buffers, users) for group in ordered]
    return Schedule(program, steps, buffers, [*program.decisions, *tried], options)


@dataclass(frozen=True)
class Trial:
    """Two groups that were judged, and what they became if they were fused."""

    a: Group
    b: Group
    verdict: Verdict
    fused: Group | None


class Fusing:
    """`sharing` has the groups that use each buffer, in program order, and the numbers of the nodes
    where they stand there, which are a group's `places`; `waiting` has the pairs whose turn is
    still to come, and `tried` those that have been judged, in that order.

    A group's pairs stand behind its best one, the only one in `waiting`, and go when it goes: most
    do, as a group that grows is offered to the same neighbours every time."""

    def __init__(
        self, groups: list[Group], earlier: Earlier, users: Users, priority: Priority,
        options: FusionOptions,
    ) -> None:
        self.users, self.priority, self.options = users, priority, options
        self.order = Order(groups, earlier)
        nodes = [node for group in groups for node in group.nodes]
        self.holding = Holding(nodes, users, self.order, options)
        self.groups = dict.fromkeys(groups)
        self.waiting: list[tuple[Offer, Group, list[Offer]]] = []
        self.turn = count()
        self.tried: list[Trial] = []
        self.places = {group: dict.fromkeys(group.touched, group.first) for group in groups}
        self.sharing: dict[str, tuple[list[int], list[Group]]] = {}
        for group in groups:
            for buffer in group.touched:
                numbers, sharing = self.sharing.setdefault(buffer, ([], []))
                numbers.append(group.first)
                sharing.append(group)

    def run(self) -> list[Group]:
        """The groups that remain."""
        for group in self.groups:
            self._offer(group, [g for g in self._neighbours(group) if g.first > group.first])
        while self.waiting:
            (*_, a, b), group, later = heapq.heappop(self.waiting)
            if a in self.groups and b in self.groups:
                self._try(a, b)
            self._wait(group, later)
        return list(self.groups)

    def _try(self, a: Group, b: Group) -> None:
        pair = Pair(a, b, self.users, self.options)
        verdict = judge_pair(pair)
        if verdict.ok:
            verdict = node_between(a, b, self.order) or self.holding.more(a, b) or verdict
        fused = pair.merged if verdict.ok else None
        self.tried.append(Trial(a, b, verdict, fused))
        if fused is not None:
            self._replace(a, b, fused)
            self._offer(fused, self._neighbours(fused))

    def _neighbours(self, group: Group) -> list[Group]:
        """The groups nearest to it among those that use a buffer that it uses."""
        found: dict[Group, None] = {}
        for buffer in group.touched:
            numbers, sharing = self.sharing[buffer]
            if len(sharing) > 1:
                here = bisect_left(numbers, self.places[group][buffer])
                found.update(dict.fromkeys(sharing[max(here - NEIGHBOURS, 0):here]))
                found.update(dict.fromkeys(sharing[here + 1:here + 1 + NEIGHBOURS]))
        return list(found)

    def _offer(self, group: Group, others: list[Group]) -> None:
        offers = []
        for other in others:
            a, b = (group, other) if group.first < other.first else (other, group)
            saved = sum([access.size for access in vanishing(a, b, self.users)])
            offers.append((self.priority(saved, _distance(a, b)), next(self.turn), a, b))
        offers.sort(reverse=True)
        self._wait(group, offers)

    def _wait(self, group: Group, offers: list[Offer]) -> None:
        """The last of its offers is its best."""
        if offers and group in self.groups:
            heapq.heappush(self.waiting, (offers.pop(), group, offers))

    def _replace(self, a: Group, b: Group, fused: Group) -> None:
        """`fused` takes the place of `a`, which came first."""
        self.order.fuse(a, b, fused)
        for group in (a, b):
            del self.groups[group]
        self.groups[fused] = None
        of_a, of_b = self.places.pop(a), self.places.pop(b)
        self.places[fused] = of_b | of_a
        for buffer, place in of_b.items():
            if buffer in of_a:
                numbers, sharing = self.sharing[buffer]
                here = bisect_left(numbers, place)
                del numbers[here], sharing[here]
        for buffer, place in self.places[fused].items():
            numbers, sharing = self.sharing[buffer]
            sharing[bisect_left(numbers, place)] = fused


def _distance(a: Group, b: Group) -> int:
    """How far apart the two reach in the program."""
    return max(b.last - a.first, a.last - b.first)


def step_of(group: Group, buffers: dict[str, Buffer], users: Users) -> Nest | Extern:
    if group.extern is not None:
        return group.extern
    inside = set(group.nodes)
    outside = {node.name for node in group.nodes if not users.get(node.name, inside) <= inside}
    outside.update(buffer for node in group.nodes for buffer in node.written_into)
    return Nest(group, buffers, outside)
