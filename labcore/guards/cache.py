"""The variants of one function: graphs, most recently hit first, then eager ones; with a limit.

In: variants, as they are made.  Out: `run`, which tries them in order.
Invariant: `variants` is an immutable tuple that is replaced under the lock; readers take no lock.
PyTorch keeps its cache on the code object, shared by all who compile it; here each compiled
callable has its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from .variant import MISS, Variant
from .widen import widened

RECOMPILE_LIMIT = 8


class VariantCache:
    """`first` is what a warm call runs; of the others, the one that is hit is moved to the front.
    `limit` is how many variants there may be."""

    def __init__(self, limit: int = RECOMPILE_LIMIT) -> None:
        self.limit = limit
        self.lock = threading.RLock()
        self.variants: tuple[Variant, ...] = ()
        self.first: Callable[..., Any] = _never

    @property
    def full(self) -> bool:
        """One place that raises has one variant at most, so these do not count."""
        return sum(not variant.raises for variant in self.variants) >= self.limit

    def others(self, slots: tuple[Any, ...]) -> Any:
        """The outcome of the first variant whose guards hold, or MISS; the very first has just been
        asked."""
        variants = self.variants
        for place in range(1, len(variants)):
            outcome = variants[place].run(*slots)
            if outcome is not MISS:
                self.promote(variants, place)
                return outcome
        return MISS

    def promote(self, variants: tuple[Variant, ...], place: int) -> None:
        """The variant at this place was hit: it is asked first next time."""
        if not place or not self.lock.acquire(False):
            return  # another thread is about to change the order
        if self.variants is variants and not variants[place].is_eager:
            order = list(variants)
            hit = order.pop(place)
            order.insert(0, hit)
            self.variants, self.first = tuple(order), hit.run
        self.lock.release()

    def add(self, variant: Variant) -> Variant:
        """Put a variant in; an eager one may take the place of another that stopped where it
        did, or raised there."""
        with self.lock:
            for twin in self.variants:
                if twin.place is None or twin.place != variant.place:
                    continue
                # One that raises is not made wider: calls like it that do not raise have graphs.
                wider = widened(variant, twin) if not variant.raises else variant
                if wider is not None:
                    self._replace((wider, *(v for v in self.variants if v is not twin)))
                    return wider
            self._replace((variant, *self.variants))
            return variant

    def clear(self) -> None:
        with self.lock:
            self._replace(())

    def _replace(self, variants: tuple[Variant, ...]) -> None:
        """Graphs are asked before eager variants, whose guards may be wider."""
        self.variants = variants = tuple(sorted(variants, key=attrgetter("is_eager")))
        self.first = variants[0].run if variants else _never


def _never(*slots: Any) -> Any:
    """What stands in for the first variant of an empty cache."""
    return MISS
