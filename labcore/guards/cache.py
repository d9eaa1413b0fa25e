"""The variants of one function: most recently hit first, with a limit.

In: variants, as they are made.  Out: `run`, which tries them in order.
Invariant: `variants` is an immutable tuple that is replaced under the lock; readers take no lock.
PyTorch keeps its cache on the code object, shared by all who compile it; here each compiled callable has its own.
"""
from __future__ import annotations

import threading
from typing import Any

from .variant import MISS, Variant

RECOMPILE_LIMIT = 8


class VariantCache:
    """`first` is what a warm call runs; `others` asks the rest and moves a hit to the front."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.variants: tuple[Variant, ...] = ()
        self.first = _never
        self.warned = False

    @property
    def full(self) -> bool:
        return len(self.variants) >= RECOMPILE_LIMIT

    def others(self, slots: tuple[Any, ...]) -> Any:
        """The outcome of the first variant whose guards hold, or MISS."""
        for variant in self.variants:
            outcome = variant.run(*slots)
            if outcome is not MISS:
                self.promote(variant)
                return outcome
        return MISS

    def promote(self, variant: Variant) -> None:
        """This variant was hit: it is asked first next time."""
        if self.variants and self.variants[0] is variant:
            return
        with self.lock:
            if variant in self.variants:  # another thread may have cleared the cache
                self._replace((variant, *(v for v in self.variants if v is not variant)))

    def add(self, variant: Variant) -> None:
        with self.lock:
            self._replace((variant, *self.variants))

    def clear(self) -> None:
        with self.lock:
            self._replace(())
            self.warned = False

    def _replace(self, variants: tuple[Variant, ...]) -> None:
        self.variants = variants
        self.first = variants[0].run if variants else _never


def _never(*slots: Any) -> Any:
    """What stands in for the first variant of an empty cache."""
    return MISS
