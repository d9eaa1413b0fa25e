"""Which form of a kernel was the fastest, kept on disk beside compiled programs.

In: what was measured.  Out: the same in another process, or None.

    <folder>/form-<kernel>-<card>/manifest.json     the form, the times, a checksum of both

Invariants are those of `cache.py`: owner and mode are checked before anything is read, and what
does not fit is a miss. The key covers the kernel's text in the form that sizes alone choose, its
grid, the card's name, and everything that makes its machine code; of sizes that are symbols their
power of two, so that a length a little longer is not measured again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from .. import cache
from ..folder import Unsafe, check_folder, enabled, folder, read_private
from ..room import MANIFEST
from . import build
from .form import Form
from .kernel import GridKernel


@dataclass(frozen=True)
class Choice:
    """`us` that the form takes, `first_us` that of sizes alone takes; `tried`: every form's words,
    us, and why it was dropped. `at`: the sizes that were measured, where they are symbols."""

    form: Form
    us: float
    first_us: float
    tried: list[list[Any]]
    at: str = ""


def key_of(kernels: Sequence[GridKernel], sizes: Mapping[str, Any], card: Any) -> str:
    """Of a nest's kernels in the form that sizes alone choose, and the values of its symbols."""
    text = [f"{cache.canonical(k.marked)}\n{k.launch}" for k in kernels]
    about = [f"{name} of {value.bit_length()} bits" for name, value in sizes.items()
             if isinstance(value, int)]
    return cache.FORM + f"{_digest([*text, *about])[:24]}-{_digest(_made_by(card))[:8]}"


def _made_by(card: Any) -> dict[str, str]:
    return {**build.made_by(card.driver.cc), "name": card.name}


def _digest(value: Any) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def find(key: str) -> Choice | None:
    """What was kept; None where nothing is, or nothing that can be trusted."""
    if not enabled():
        return None
    entry = folder().path / key
    try:
        check_folder(entry)
        data = json.loads(read_private(entry / MANIFEST))
        kept = data["choice"]
        if _digest(kept) != data["digest"]:
            return None
        choice = Choice(**{**kept, "form": Form(**kept["form"])})
    except (OSError, Unsafe, ValueError, TypeError, KeyError, RecursionError):
        return None
    with suppress(OSError):  # it was used now
        os.utime(entry / MANIFEST)
    return choice


def keep(key: str, choice: Choice) -> str:
    """Keep it; returns why it could not be, "" if it could."""
    if not enabled():
        return "not kept: LAB_CACHE=0"
    kept = asdict(choice)
    manifest = json.dumps({"choice": kept, "digest": _digest(kept)}, indent=1)
    try:
        cache.put(key, {MANIFEST: manifest.encode()})
    except OSError as error:  # a disk that takes nothing costs the next process time only
        return f"not kept: {error}"
    return ""
