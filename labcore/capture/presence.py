"""What a program reads must be there, what it missed must stay missing.

In: what the program asked for, found or not.  Out: guards; for what nobody looks at later, a load,
which fails where the thing is gone.
"""

from __future__ import annotations

import builtins
from collections.abc import Collection
from types import CellType

from ..guards import GuardBuilder, Source, kinds
from .variables import Lazy, Variable


class Presence:
    """`asked` is what the program read."""

    def __init__(self, builder: GuardBuilder) -> None:
        self.builder = builder
        self.asked: dict[Lazy, None] = {}

    def asked_for(self, variable: Variable) -> Variable:
        """The program reads it: it must be there, even if what it is never matters."""
        if isinstance(variable, Lazy):
            self.asked[variable] = None
        return variable

    def finish(self, lazies: Collection[Lazy]) -> None:
        """A load that fails is a guard that fails; what was looked at has one."""
        through = {v.source.base for v in lazies if v.seen is not None or v in self.asked}
        for variable in self.asked:
            if variable.seen is None and variable.source not in through:
                self.builder.load(variable.source)

    def stays_empty(self, cell: Source, name: str) -> None:
        """A cell has nothing in it yet."""
        home, function = self.builder.load(cell), self.builder.constant(is_empty, "is_empty")
        words = f"the outer variable {name!r} has a value now"
        self._add("CLOSURE_MATCH", name, f"{function}({home})", home, words)

    def stays_unknown(self, name: str, space: str) -> None:
        """No global variable and no builtin has the name."""
        known = self.builder.constant(builtins, "builtins")
        code = f"{name!r} not in {space} and not hasattr({known}, {name!r})"
        self._add("BUILTIN_MATCH", name, code, space, f"{name!r} is a name now")

    def _add(self, kind: str, name: str, code: str, subject: str, words: str) -> None:
        origin = self.builder.origin
        self.builder.add(kinds.condition(kind, name, code, subject, "nothing", words, origin))


def is_empty(cell: CellType) -> bool:
    """Has the cell no contents?"""
    try:
        _ = cell.cell_contents
    except ValueError:
        return True
    return False
