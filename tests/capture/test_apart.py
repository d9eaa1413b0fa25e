"""Is what a region writes apart from all that it reads?"""

from __future__ import annotations

import random

import labcore as torch
from labcore.capture.overwriting import Places, apart


def told(memories, written, tensors, records=False):
    return apart(Places(tuple(memories), frozenset(written), records), *tensors)


def test_neighbours_and_overlaps():
    whole = torch.arange(12.0)
    left, right, middle = whole[:6], whole[6:], whole[4:8]
    assert told((0, 1), {0}, [left, right])
    assert not told((0, 1), {0}, [left, middle]) and not told((0, 1), {1}, [left, middle])
    assert told((0, 1), (), [left, middle])  # nothing is written
    assert told((0, 0), {0}, [left, middle])  # read as views of one memory
    evens, odds = whole[::2], whole[1::2]
    assert not told((0, 1), {0}, [evens, odds])  # from the first element to the last
    assert not told((0, 1, 2), {2}, [left, right, whole])
    assert told((0, 1), {0}, [torch.ones(0), torch.ones(0)])


def test_the_tape_counts_the_writes_to_a_storage():
    whole = torch.arange(12.0)
    left, right = whole[:6], whole[6:]
    assert not told((0, 1), {0}, [left, right], records=True)
    assert not told((0, 0, 1), {1}, [left, left, right], records=True)
    assert told((0, 0), {0}, [left, right], records=True)
    assert told((0, 1), {0}, [left, torch.ones(3)], records=True)


def test_against_every_pair():
    rng = random.Random(0)
    for _ in range(300):
        whole, tensors = torch.arange(64.0), []
        for _ in range(rng.randint(1, 7)):
            start = rng.randrange(60)
            tensors.append(whole[start : start + rng.randint(0, 9) : rng.randint(1, 3)])
        memories = [rng.randrange(3) for _ in tensors]
        written = {n for n in range(len(tensors)) if rng.random() < 0.4}
        elements = [{*tensor.to(torch.int64).tolist()} for tensor in tensors]
        clash = any(
            memories[n] != memories[m] and elements[n] & elements[m]
            for n in written
            for m in range(len(tensors))
        )
        found = told(memories, written, tensors)
        assert not (found and clash)
        if not found:  # the ranges overlap, though elements may not
            assert any(
                memories[n] != memories[m]
                and elements[n] and elements[m]
                and min(elements[m]) <= max(elements[n])
                and min(elements[n]) <= max(elements[m])
                for n in written
                for m in range(len(tensors))
            )  # fmt: skip
