"""What programs stand on: globals, classes, functions. A program has only those it names."""

from __future__ import annotations

import re

from .derived_classes import DERIVED
from .library import LIBRARY

IMPORTS = """\
import collections, contextlib, dataclasses, enum, functools, itertools, math, operator, sys
import warnings
"""

_STARTS = re.compile(r"^(?=@|class |def |[A-Z]\w* = )", re.MULTILINE)
_NAME = re.compile(r"^(?:class|def) (\w+)|^([A-Z]\w*) =", re.MULTILINE)


def _split(text: str) -> dict[str, str]:
    """Each definition by its name, decorators included."""
    parts = [part for part in _STARTS.split(text) if part]
    found: dict[str, str] = {}
    head = ""
    for part in parts:
        head += part
        match = _NAME.search(head)
        if match is not None:
            found[match[1] or match[2]] = head
            head = ""
    return found


DEFINITIONS = _split(DERIVED + LIBRARY)


def used_by(text: str, more: dict[str, str]) -> str:
    """The definitions that a text names, and those which they name, in their order."""
    known = DEFINITIONS | more
    found: set[str] = set()
    todo = [text]
    while todo:
        for word in re.findall(r"\w+", todo.pop()):
            if word in known and word not in found:
                found.add(word)
                todo.append(known[word])
    return "\n".join(known[name].strip("\n") + "\n" for name in known if name in found)
