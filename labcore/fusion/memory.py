"""Where the buffers of a schedule lie in memory, and for how long.

In: a schedule's steps.  Out: `written_over`, decided before kernels are printed, for a kernel must
know that two of its arrays are one; and a `MemoryPlan`, which the program around them follows.
A *place* is a piece of memory, named after its first buffer. A buffer gets the place of another one
    at once     by being written over it, element by element, in the nest that reads it last
    later       when the other is dead, has the very same layout, and waiting for it costs no peak
Invariant: only memory that the program made itself is used again, and what is returned keeps its
place to the end; so nobody outside can tell. A plan's peak is what an allocator measures.
Inductor plans alike (`inplace_buffers`, and a pool of dead buffers by size); it takes the memory of
another layout too, and of inputs that nobody else holds.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from .deps import SIZE_HINT, Group, Node
from .ir import Buffer, Expr, Loops
from .nest import Nest, pass_numbers
from .pair import Users
from .program import Extern

if TYPE_CHECKING:
    from .scheduler import Schedule

# ---- in place ------------------------------------------------------------------------------------


def written_over(
    groups: Sequence[Group], users: Users, new_contents: Mapping[str, str]
) -> dict[str, str]:
    """Buffers that a nest writes over another one, which it is the last to read; and which one.

    `new_contents`: outputs that the caller would copy into an input; and which input."""
    nodes = [node for group in groups for node in group.nodes]
    versions = Counter(node.out.storage for node in nodes)
    alone = {node.name for node in nodes
             if node.out.storage == node.name and versions[node.name] == 1}
    own = {node.name for node in nodes if node.name in alone and reusable(node.step, node.out)}
    contents = {new: old for new, old in new_contents.items() if new in alone}
    found: dict[str, str] = {}
    for group in groups:
        if group.extern is None:
            found.update(_within(group, own, alone, users))
            found.update(_into_inputs(group, users, contents))
    return found


def _into_inputs(
    group: Group, users: Users, new_contents: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    inside, when = set(group.nodes), pass_numbers(group.nodes, group.parts)
    for node in group.nodes:
        given = new_contents.get(node.name)
        if given in group.readers and users[given] <= inside and group.parts[node] == "each":
            if _may_overwrite(node, given, group, when):
                yield node.name, given


def _within(
    group: Group, own: set[str], alone: set[str], users: Users
) -> Iterator[tuple[str, str]]:
    inside, when = set(group.nodes), pass_numbers(group.nodes, group.parts)
    dying = [b for b in group.readers if b in own and b not in group.made and users[b] <= inside]
    for node in group.nodes:
        leaves = node.out.role == "output" or not users.get(node.name, inside) <= inside
        if leaves and group.parts[node] == "each" and node.name in alone:
            dead = next((b for b in dying if _may_overwrite(node, b, group, when)), None)
            if dead is not None:
                dying.remove(dead)
                yield node.name, dead


def _may_overwrite(node: Node, dead: str, group: Group, when: Mapping[Node, int]) -> bool:
    """Is each element of `dead` read for the last time before this node writes there?"""
    old = node.buffers[dead]
    if _layout(old) != _layout(node.out):
        return False
    (wrote,) = node.stores[node.name]
    first = wrote.subs({f"i{k}": Expr() for k in range(len(group.outer), len(group.space))})
    # The first of a row, once it was read, stays in hand until the row is done.
    early = [at for m in group.readers[dead] if when[m] < when[node] for at in m.loads[dead]]
    in_hand = {first} & {*early} if group.outer else set()
    return all(
        reader.loads[dead] - in_hand <= {wrote}
        and (when[reader], reader.order) <= (when[node], node.order)
        for reader in group.readers[dead]
    )


def reusable(step: Nest | Loops | Extern, buffer: Buffer) -> bool:
    """Is the buffer that a step makes memory that only the program knows of, without gaps?"""
    if isinstance(step, Extern) and step.op.opaque:  # the user's function may have kept it
        return False
    return buffer.role == "temp" and buffer.storage == buffer.name and buffer.span == buffer.numel


def _layout(buffer: Buffer) -> tuple:
    return buffer.shape, buffer.strides, buffer.dtype


# ---- the plan ------------------------------------------------------------------------------------


@dataclass
class Life:
    """A place's time in memory: allocated for step `first`, let go of after step `last`.

    `buffers` lie there one after the other, each from the step that writes it. `reuses` is the
    place whose memory it takes, `heir` the one that takes its own, where there are such.
    """

    place: str
    nbytes: Expr
    first: int
    last: int
    reusable: bool
    buffers: dict[str, int] = field(default_factory=dict)
    reuses: str = ""
    heir: str = ""


@dataclass
class MemoryPlan:
    """`lives` by place, in the order of allocation; `live` has the bytes in use in each step."""

    lives: dict[str, Life]
    live: list[Expr]

    def peak(self, numbers: Mapping[str, int]) -> int:
        """The most bytes in use at once; inputs and constants, which others hold, left out."""
        return max((nbytes.value(numbers) for nbytes in self.live), default=0)


def plan_memory(schedule: Schedule, scratch: Sequence[Expr] = ()) -> MemoryPlan:
    """The plan of a schedule whose steps are lent so many bytes of `scratch` each."""
    lives = _lives(schedule)
    lent = list(scratch) or [Expr()] * len(schedule.steps)
    _reuse(schedule, lives, [_hint(nbytes) for nbytes in _live(lives, lent)])
    return MemoryPlan(lives, _live(lives, lent))


def _lives(schedule: Schedule) -> dict[str, Life]:
    """The time of each place, before any is used again."""
    lives: dict[str, Life] = {}
    for number, step in enumerate(schedule.steps):
        for name in step.made:
            buffer = schedule.buffers[name]
            if buffer.storage in schedule.given:
                continue
            nbytes, own = buffer.span * buffer.dtype.itemsize, reusable(step, buffer)
            life = Life(buffer.storage, nbytes, number, number, own)
            lives.setdefault(buffer.storage, life).buffers[name] = number
        for name in (*step.made, *step.used):
            place = schedule.buffers[name].storage
            if place in lives:
                lives[place].last = number
    for place in schedule.returned & lives.keys():
        lives[place].last = len(schedule.steps)
    return lives


def _live(lives: Mapping[str, Life], scratch: Sequence[Expr]) -> list[Expr]:
    """The bytes in use in each step. A place that has an heir stays until the heir begins."""
    changes = [Expr()] * (len(scratch) + 1)
    for life in lives.values():
        changes[life.first] += life.nbytes
        end = lives[life.heir].first if life.heir else life.last + 1
        if end < len(changes):
            changes[end] -= life.nbytes
    return [total + lent for total, lent in zip(accumulate(changes), scratch)]


def _reuse(schedule: Schedule, lives: Mapping[str, Life], live: list[int]) -> None:
    """Give new places the memory of dead ones, where no step then has more in use than any had."""
    peak = max(live, default=0)
    ending = sorted(lives.values(), key=lambda life: -life.last)
    idle: dict[tuple, list[Life]] = {}
    for life in lives.values():
        while ending[-1].last < life.first:
            dead = ending.pop()
            idle.setdefault(_layout(schedule.buffers[dead.place]), []).append(dead)
        found = idle.get(_layout(schedule.buffers[life.place]))
        maker = schedule.steps[life.first]
        if not found or (isinstance(maker, Extern) and not maker.is_product):
            continue
        dead = found[-1]
        waiting, nbytes = range(dead.last + 1, life.first), _hint(dead.nbytes)
        if dead.reusable and all(live[step] + nbytes <= peak for step in waiting):
            found.pop()
            dead.heir, life.reuses = life.place, dead.place
            for step in waiting:
                live[step] += nbytes


def _hint(nbytes: Expr) -> int:
    return nbytes.value(dict.fromkeys(nbytes.symbols, SIZE_HINT))
