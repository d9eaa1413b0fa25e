"""Would two groups in one nest make the program hold more memory than they save it from moving?

In: two groups that could be fused.  Out: the verdict that they should not, or None.
What the first one alone reads is let go of after it, and what only the second one reads may be made
in the memory that is free then. In one nest both must be there at the same time.
Invariant: a lower bound of what is held, from sizes alone; whether that step is where the program
holds most, nobody knows while groups are still being fused.
Inductor has the same rule (`can_fusion_increase_peak_memory`) and the same factor, which it calls
quite arbitrary.
"""
from __future__ import annotations

from collections.abc import Iterable

from .deps import SIZE_HINT, Group, Node
from .ir import Buffer
from .memory import reusable
from .options import FusionOptions
from .order import Order
from .pair import Pair, Users, Verdict

MUCH = 1 << 20  # bytes that are worth a loop of their own
FACTOR = 32  # how many bytes held are worth one moved


class Holding:
    """`order` and `users` are the scheduler's, and change with it."""

    def __init__(
        self, nodes: Iterable[Node], users: Users, order: Order, options: FusionOptions
    ) -> None:
        self.users, self.order, self.options = users, order, options
        self.makers = {node.name: node for node in nodes}

    def more(self, a: Group, b: Group) -> Verdict | None:
        """The verdict on two groups that nothing else keeps apart; `a` comes first."""
        dying = self._only_read_by(a)
        if self.options.hold_memory or not dying:
            return None
        waiting = [buffer for buffer in self._only_read_by(b) if self._made_after(buffer, a)]
        free = _bytes(dying) - _bytes(node.out for node in a.nodes if self._leaves(node, a))
        held = min(free, _bytes(waiting))
        pair = Pair(a, b, self.users, self.options)
        saved = sum(access.size for access in pair.gone)
        if held < MUCH or held <= FACTOR * saved:
            return None
        old, new = (max(buffers, key=lambda b: _bytes([b])).name for buffers in (dying, waiting))
        return Verdict(
            a.names, b.names, False, "more memory held",
            f"apart, {old} is let go of before {new} is made; in one loop both are held, "
            f"{held:,} bytes more, and {saved:,} less are moved.",
            flip=f"they saved {held // FACTOR:,} bytes, or options said hold_memory",
            refused_by="more_memory",
        )

    def _only_read_by(self, group: Group) -> list[Buffer]:
        """What the program made for this group alone."""
        inside, found = set(group.nodes), []
        for name in group.readers:
            maker = self.makers.get(name)
            if maker is not None and maker not in inside and self.users[name] <= inside:
                if reusable(maker.step, maker.out):
                    found.append(maker.out)
        return found

    def _made_after(self, buffer: Buffer, group: Group) -> bool:
        """Can the group run before the buffer is there, and does the program have it so?"""
        maker = self.makers[buffer.name]
        return maker.order > group.nodes[0].order and not self.order.needs(group, maker)

    def _leaves(self, node: Node, group: Group) -> bool:
        return node.out.role == "output" or not self.users.get(node.name, set()) <= {*group.nodes}


def _bytes(buffers: Iterable[Buffer]) -> int:
    """As if each symbol were some thousands."""
    sizes = [b.span * b.dtype.itemsize for b in buffers]
    return sum(size.value(dict.fromkeys(size.symbols, SIZE_HINT)) for size in sizes)
