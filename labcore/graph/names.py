"""Names for generated code: unique, and identifiers whatever they come from.

In: what a name should remind of.  Out: a Python name that nobody else was given.
Invariant: a name is written as Python reads it back, so text and scope agree on it.
"""

from __future__ import annotations

import functools
import keyword
import re
from collections.abc import Iterable


class Names:
    """Gives each hint a name of its own; `taken` are those given or not to be given."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        self._last: dict[str, int] = {}  # the last number given to each base

    def new(self, hint: str) -> str:
        base = identifier(hint)
        name, n = base, self._last.get(base, 0)
        while name in self.taken:
            n += 1
            name = f"{base}_{n}"
        self.taken.add(name)
        self._last[base] = n
        return name


@functools.lru_cache(4096)
def identifier(text: str) -> str:
    """A Python name that reminds of `text`: itself where that is one."""
    name = re.sub(r"\W", "_", text) or "_"
    if not name.isascii() and not _is_stable(f"_{name}"):
        name = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{name}" if name[0].isdigit() or keyword.iskeyword(name) else name


def _is_stable(name: str) -> bool:
    """An identifier, and not one that Python spells otherwise, as it does "ﬁ"."""
    from unicodedata import normalize

    return name.isidentifier() and normalize("NFKC", name) == name


def signature(name: str, parameters: list[str], width: int = 79) -> str:
    """`def name(a, b):`, one parameter a line where it would be wider than a page."""
    line = f"def {name}({', '.join(parameters)}):"
    if len(line) <= width:
        return line
    return "\n".join([f"def {name}(", *(f"    {p}," for p in parameters), "):"])
