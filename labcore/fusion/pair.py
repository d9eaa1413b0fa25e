"""Two groups that might become one nest, what they would be as one, and what is said of them.

In: two `Group`s, and who reads each buffer, the whole program over.  Out: a `Pair`, which the rules
of `verdicts.py` look at, and the `Verdict`s that they give.
Invariant: a pair knows nothing of other groups but whether they read what these two make; what it
finds is found when it is first asked for.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

from .deps import Access, Group, Node, unify
from .ir import Expr
from .options import DEFAULT, FusionOptions

Users = Mapping[str, set[Node]]
Read = tuple[Node, Node, Expr]  # reader, producer, offset


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
    def reads(self) -> list[Read]:
        """Every load of what the other group makes."""
        found = []
        for x, y in ((self.a, self.b), (self.b, self.a)):
            for buffer in x.made.keys() & y.readers.keys():
                for reader in y.readers[buffer]:
                    found += [(reader, x.made[buffer], at) for at in reader.loads[buffer]]
        return sorted(found, key=_in_program)

    @cached_property
    def unsettled(self) -> list[Read]:
        """The reads that nobody has found right yet: `reads`, and those within a group whose reader
        or producer gets another part in the nest of both. A reduction over a whole row, say, may
        become one over all rows."""
        parts, found = self.merged.parts, list(self.reads)
        for group in (self.a, self.b):
            changed = {node for node in group.nodes if parts[node] != group.parts[node]}
            for buffer in group.made.keys() & group.readers.keys() if changed else ():
                made = group.made[buffer]
                found += [(reader, made, at) for reader in group.readers[buffer]
                          if reader in changed or made in changed for at in reader.loads[buffer]]
        return sorted(found, key=_in_program)

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


def _in_program(read: Read) -> tuple[int, int, str]:
    reader, producer, at = read
    return reader.order, producer.order, str(at)
