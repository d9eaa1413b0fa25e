"""Numbers with their nouns, as texts and pictures say them."""

from __future__ import annotations

SINGULAR = {"misses": "miss", "launches": "launch"}


def counted(number: int, name: str) -> str:
    """"1 miss", "2 misses": `name` is the plural."""
    singular = SINGULAR.get(name, name.removesuffix("s"))
    return f"{number} {singular if number == 1 else name}"
