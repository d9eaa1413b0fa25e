"""What tells the calls of one function apart.

In: CallBegin events.  Out: a short name for each call, such as "x[4]" or "options['relu']: True".
Invariant: two calls have one name only where what they hold reads the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from labcore import trace as t

_SHAPED = re.compile(r"(\w+)(\[.*\])")


def leaves_of(event: t.CallBegin) -> dict[str, str]:
    """What a call's arguments hold, by name; in an old recording, by place."""
    return event.leaves or {f"[{n}]": text for n, text in enumerate(event.inputs)}


def call_labels(calls: Sequence[Mapping[str, str]]) -> list[str]:
    """A short name for each call: what tells the calls apart."""
    names = list(dict.fromkeys(name for call in calls for name in call))
    columns = {name: tuple(call.get(name, "") for call in calls) for name in names}
    telling = {column: name for name, column in reversed(columns.items()) if len(set(column)) > 1}
    tensors = [name for name, column in columns.items() if all(map(_SHAPED.fullmatch, column))]
    picked = [name for name in names if name in telling.values()] or (tensors or names)[:1]
    texts = [_texts_of(columns[name], name) for name in picked]
    if not texts:
        return ["()"] * len(calls)
    return [" ".join(filter(None, told)) or "()" for told in zip(*texts, strict=True)]


def _texts_of(column: Sequence[str], name: str) -> list[str]:
    """One value of every call: "x[4]" when only its shape changes, else "x: float32[4]"."""
    if name.startswith("["):
        return list(column)
    shaped = [_SHAPED.fullmatch(text) for text in column]
    if name.isidentifier() and all(shaped) and len({m[1] for m in shaped if m}) == 1:
        return [f"{name}{m[2]}" for m in shaped if m]
    return [text and f"{name}: {text}" for text in column]
