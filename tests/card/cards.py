"""The cards that tests run on: the simulated one, one of paper, and this machine's, if it has one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from labcore import cuda
from labcore.tensor.cuda import card_in_use, install

from .fake import paper_card

KINDS = ["simulated", "of paper", "silicon"]


@contextmanager
def card_of(kind: str, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Iterator[str]:
    """That card, for as long as a test takes. Skips where this machine has none of silicon; what
    is compiled for that one is kept from test to test."""
    if kind == "simulated":
        cuda.simulate()
        yield kind
        cuda.simulate(False)
    elif kind == "of paper":
        monkeypatch.setenv("LAB_CACHE_DIR", str(cache))
        with paper_card(monkeypatch):
            yield kind
    else:
        with silicon_card():
            yield kind


@contextmanager
def silicon_card() -> Iterator[None]:
    """This machine's card, its new memory full of nan."""
    before = card_in_use()
    install(None, None)
    if reason := cuda.use_card():
        pytest.skip(f"needs a card: {reason}")
    card = card_in_use()
    card.poison = True
    try:
        yield
        card.synchronize()
    finally:
        card.poison = False
        install(before, None)
