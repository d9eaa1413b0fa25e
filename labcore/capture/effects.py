"""What a region changes of things that existed before it: an ordered log, replayed once at its end.

In: changes, in the order in which the instructions make them.  Out: `log`, printed by
`leaving.py` after the graph, and `written`: objects that must not be mistaken for one another.
Invariant: nothing real is touched while capturing. A handler brings the variable up to date, for
whoever reads it next, and writes down here what is to happen to the object.
PyTorch keeps the last state of each object instead (SideEffects); a log also keeps the order.
"""

from __future__ import annotations

from dataclasses import dataclass

from .variables import DictVariable, Mutable, Variable


@dataclass(frozen=True)
class Effect:
    """A statement on real objects: `template` has a {} for each of `parts`."""

    template: str
    parts: tuple[Variable, ...]


class Effects:
    """`count` counts all changes, also of what was made inside: an instruction that stops after one
    has begun, and cannot be begun again."""

    def __init__(self) -> None:
        self.count = 0
        self.log: list[Effect] = []
        self.written: dict[Mutable, None] = {}  # from outside, in the order of their first change

    def changed(self) -> None:
        """Something besides the frame's stack and variables is about to change."""
        self.count += 1

    def add(self, template: str, *parts: Variable) -> None:
        """A statement for the end of the region."""
        self.changed()
        self.log.append(Effect(template, parts))

    def write(self, owner: Mutable, template: str, *parts: Variable) -> None:
        """`owner`, the first {} of the template, changes. One made inside is made in its last state
        where it leaves, so only the count tells."""
        subject = owner.whole or owner
        self.changed()
        if owner.outside:
            self.written[subject] = None
            if isinstance(subject, DictVariable) and subject.owner is not None:
                self.written[subject.owner] = None
            self.log.append(Effect(template, (subject, *parts)))
