"""Random programs, and random changes of what they read, eager against compiled. `make fuzz` runs
thousands."""

from __future__ import annotations

import pytest

from labcore.guards import GuardBuilder

from .random_worlds import places
from .random_worlds.campaign import Tally, run

WORLDS, CHUNK = 40, 10


@pytest.mark.parametrize("first", range(0, WORLDS, CHUNK))
def test_what_was_read_is_guarded(first):
    tally = Tally()
    for seed in range(first, first + CHUNK):
        found = run(seed, tally)
        assert found is None, found
    assert tally.told > tally.changes / 10  # most of a missing guard would be seen
    assert tally.unread_hits > 0.9 * tally.unread > 5  # what was not read is not guarded


# Worlds of which some is told apart when there are no guards of this kind.
NEEDED = {
    "TENSOR_MATCH": places.TENSOR,
    "SIZE_MATCH": places.TENSOR,
    "EQUALS_MATCH": places.VALUE,
    "TYPE_MATCH": places.OBJECT,
    "SEQUENCE_LENGTH": places.LIST,
    "DICT_KEYS_MATCH": places.DICT,
    "CLOSURE_MATCH": places.FUNCTION,
    "NOT_PRESENT_IN_DICT": places.OBJECT,
    "BUILTIN_MATCH": places.BUILTIN,
    "ID_MATCH": places.MODULE,
}


@pytest.mark.parametrize("kind", NEEDED)
def test_a_guard_that_is_left_out_is_missed(kind, monkeypatch):
    real = GuardBuilder.add

    def add(builder, guard):
        if guard.type != kind:
            real(builder, guard)

    monkeypatch.setattr(GuardBuilder, "add", add)
    assert any(run(seed, Tally(), [NEEDED[kind]]) for seed in range(60))
