"""Which groups must run before which, kept up to date while groups are fused.

In: groups, and for each node those that it must follow.  Out: `lies_between`, asked before every
fusion, and `in_order` at the end.
Invariant: both tables are transitively closed after every step, so a path is one test of bits.
A set of groups is an integer with a bit for each: a fused group has the bits of its parts. A chain
that is fused link by link changes the tables of nobody else, so this costs next to nothing there.
Inductor keeps the ancestors of each node, and searches for a circle before it fuses.
"""
from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping

from .deps import Group, Node

Earlier = Mapping[Node, set[Node]]


class Order:
    """`before` and `after`: by group, the bits of all groups that must run earlier, or later."""

    def __init__(self, groups: list[Group], earlier: Earlier) -> None:
        self.at: list[Group] = list(groups)  # by bit, the group that it belongs to
        self.bits = {group: 1 << k for k, group in enumerate(groups)}
        self.place = {node: k for k, group in enumerate(groups) for node in group.nodes}
        self.before: dict[Group, int] = {}
        self.after = dict.fromkeys(groups, 0)
        home = {node: group for group in groups for node in group.nodes}
        for group in groups:
            mask = 0
            for first in {home[e] for node in group.nodes for e in earlier[node]} - {group}:
                mask |= self.before[first] | self.bits[first]
            self.before[group] = mask
        for group in reversed(groups):
            for first in {home[e] for node in group.nodes for e in earlier[node]} - {group}:
                self.after[first] |= self.after[group] | self.bits[group]

    def fuse(self, a: Group, b: Group, fused: Group) -> None:
        """`fused` takes the place of both."""
        own = self.bits.pop(a) | self.bits.pop(b)
        before_a, before_b = self.before.pop(a) & ~own, self.before.pop(b) & ~own
        after_a, after_b = self.after.pop(a) & ~own, self.after.pop(b) & ~own
        before, after = before_a | before_b, after_a | after_b
        self.bits[fused], self.before[fused], self.after[fused] = own, before, after
        for place in places(own):
            self.at[place] = fused
        # Who already came before both has everything after them already, and the other way round.
        for place in places(before_a ^ before_b):
            self.after[self.at[place]] |= after | own
        for place in places(after_a ^ after_b):
            self.before[self.at[place]] |= before | own

    def needs(self, group: Group, node: Node) -> bool:
        """Must the group that a node is in run before this one?"""
        return bool(self.before[group] >> self.place[node] & 1)

    def lies_between(self, a: Group, b: Group) -> tuple[Group, Group, Group] | None:
        """(first, third, last) when a third group must run between the two."""
        for first, last in ((a, b), (b, a)):
            between = self.after[first] & self.before[last]
            if between:
                thirds = {self.at[place] for place in places(between)}
                return first, min(thirds, key=lambda g: g.nodes[0].order), last
        return None


def places(mask: int) -> Iterator[int]:
    """The positions of the bits that are set."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def in_order(groups: list[Group], earlier: Earlier) -> list[Group]:
    """Program order, as far as the dependencies allow."""
    home = {node: group for group in groups for node in group.nodes}
    waits_for = {
        group: {home[e] for node in group.nodes for e in earlier[node]} - {group}
        for group in groups
    }
    followers: dict[Group, list[Group]] = {group: [] for group in groups}
    for group, firsts in waits_for.items():
        for first in firsts:
            followers[first].append(group)
    ready = [(g.nodes[0].order, g) for g in groups if not waits_for[g]]
    heapq.heapify(ready)
    out: list[Group] = []
    while ready:
        _, group = heapq.heappop(ready)
        out.append(group)
        for later in followers[group]:
            waits_for[later].discard(group)
            if not waits_for[later]:
                heapq.heappush(ready, (later.nodes[0].order, later))
    assert len(out) == len(groups), "the groups depend on each other in a circle"
    return out
