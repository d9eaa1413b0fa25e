"""A program's text to kernels on a card of silicon: from disk if they are there, else compiled,
then kept.

In: the text of an output code, a card.  Out: what launches each kernel, and why it had to be
compiled.
Invariant: kernels are compiled from the text alone, so what a reader sees is what runs; what is
found on disk is loaded without numba, which takes a second to import.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache as once
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import cache
from ..build import kernel_nodes
from ..folder import enabled
from ..jit import ObjectFile
from .cubin import compile_source

if TYPE_CHECKING:
    from ...runtime.card import SiliconCard


@dataclass(frozen=True)
class Built:
    """The kernels of a text, in the memory of a card."""

    by_name: Mapping[str, Any]
    note: str
    cached: bool
    reason: str
    key: str


def build(source: str, card: SiliconCard) -> Built:
    """Find or compile the kernels of a program; a new program is kept on disk. Raises RuntimeError
    where the extra is not installed."""
    names = [node.name for node in kernel_nodes(source)]
    by = made_by(card.driver.cc)
    key, reason = cache.key_of(source, by), "off: LAB_CACHE=0"
    if not names:
        return Built({}, f"for {card.name}", True, "", key)
    code: ObjectFile | None = None
    if enabled():
        try:
            code, reason = cache.lookup(source, names, by), ""
        except cache.Miss as miss:
            reason = str(miss)
    if code is None:
        compiled = compile_source(source, card.driver.cc)
        code = ObjectFile(compiled[names[0]].cubin, names, [])
        if enabled():
            try:
                cache.store(source, code, by)
            except OSError as error:  # a disk that takes nothing costs the next process time only
                reason += f"; not kept: {error}"
    note = f"for {card.name}, {'compiled' if reason else 'from disk'}"
    return Built(card.kernels(code.data, names), note, not reason, reason, key)


@once
def made_by(cc: tuple[int, int]) -> dict[str, str]:
    """Everything besides the text that a cubin depends on."""
    packages = ("numba_cuda", "numba", "llvmlite", "cuda_bindings")
    return {
        "lab": cache.digest_of([*cache.ROOMS, Path(__file__).parent]),
        "python": sys.implementation.cache_tag or "",
        **{name: cache.installed(name) for name in packages},
        "card": f"sm_{cc[0]}{cc[1]}",
    }
