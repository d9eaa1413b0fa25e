"""How a value is reached from a call: a path that the user can read and the check can evaluate.

In: an argument, a global, a closure cell, and steps from there.  Out: a name for people, Python
for the check.
Invariant: evaluating a source runs what the user's own expression would run, and nothing else of
the user's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Source:
    """`name` is what the user calls it ("cfg.scale"); `template` is Python, with {} for the
    base's value.

    `fallible`: evaluating it can fail later, when what it names is gone.
    """

    name: str
    template: str
    base: Source | None = None
    fallible: bool = False

    def attribute(self, name: str) -> Source:
        return Source(f"{self.name}.{name}", "{}." + name, self, fallible=True)

    def item(self, key: Any) -> Source:
        return self.item_at(repr(key))

    def item_at(self, text: str) -> Source:
        """The item at a key that `text` is Python for."""
        return Source(f"{self.name}[{text}]", "{}[" + escape(text) + "]", self, fallible=True)

    def length(self) -> Source:
        return Source(f"len({self.name})", "len({})", self, fallible=True)

    def cell_contents(self, variable: str) -> Source:
        return Source(variable, "{}.cell_contents", self, fallible=True)

    @property
    def is_attribute(self) -> bool:
        """Is it an object's attribute, or in what is one?"""
        here = self.template.startswith("{}.")
        return self.base is not None and (here or self.base.is_attribute)

    @property
    def root(self) -> Source:
        """Where the path begins: an argument, a frame, a global variable, a thing held on to."""
        return self if self.base is None else self.base.root

    @property
    def hint(self) -> str:
        """A Python name that reminds of this source, for the generated code."""
        plain = self.name.replace(".__dict__[", "[")  # what is in a module is its own
        return re.sub(r"\W+", "_", plain).strip("_") or "value"


def escape(text: str) -> str:
    """Text that goes through str.format unchanged."""
    return text.replace("{", "{{").replace("}", "}}")


def local(name: str) -> Source:
    """An argument; the check has it as a parameter."""
    return Source(name, escape(name))


def constant(name: str, text: str) -> Source:
    """Something the variant itself holds on to, such as a closure's cell."""
    return Source(name, escape(text))


def global_variable(name: str, namespace: str) -> Source:
    return Source(name, f"{namespace}[{escape(repr(name))}]", fallible=True)
