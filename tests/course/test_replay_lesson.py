"""Lesson 13: a right answer passes, and each wrong one is told its belief."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore.tensor.cuda import card_in_use
from labcore.testing import course
from labcore.testing.course.lesson13 import step

PASSED = "Public checks passed."


def lanes(launch, kernels):
    now = free = 0
    for kernel in kernels:
        now += launch
        free = max(now, free) + kernel
    return free


def turns(launch, kernels):
    return len(kernels) * launch + sum(kernels)


def larger(launch, kernels):
    return max(len(kernels) * launch, sum(kernels))


def replay(launch, kernels):
    return launch + sum(kernels) if kernels else 0


def equal(launch, kernels):
    """As if all kernels took as long as the first."""
    if not kernels:
        return 0
    return max(launch + len(kernels) * kernels[0], len(kernels) * launch + kernels[0])


@pytest.mark.parametrize(("answer", "word"), [
    (lanes, PASSED),
    (turns, "the CPU does not wait for a kernel"),
    (larger, "the first kernel waits for its launch"),
    (replay, "that is a replay"),
    (equal, "kernels differ"),
    (lambda launch, kernels: "51", "expected a number, found '51'"),
    (lambda launch, kernels: ..., "Not begun"),
])
def test_finished(answer, word):
    assert word in repr(course.finished(answer))


def on_card(x, scale):
    y = (x * scale).relu()
    return y / y.max()


def sorted_by_the_host(x, scale):
    y = (x * scale).relu()
    return y / y.reshape(-1).sort()[0][-1]


def by_rows(x, scale):
    y = (x * scale).relu()
    return y / y.amax(-1, keepdim=True)


@pytest.mark.parametrize(("answer", "word"), [
    (on_card, PASSED),
    (step, "a number that Python asks the card for"),
    (sorted_by_the_host, "a part that the host computes"),
    (by_rows, "the largest value of its own"),
    (lambda x, scale: 7, "expected a tensor, found an int"),
    (..., "Not begun"),
])
def test_replayable(answer, word):
    before = card_in_use()
    assert word in repr(course.replayable(answer))
    assert card_in_use() is before


def test_what_the_card_of_paper_counts():
    text = repr(course.replayable(step))
    assert "ok  replays: expected 98, found 98" in text  # of what comes before the number
    assert "found it takes a number that changes from call to call" in text


def test_a_simulated_card_with_a_driver_takes_part_in_nothing_else():
    torch.cuda.simulate(driver=True)
    try:
        x = torch.ones(3).cuda()
        assert (x + 1).tolist() == [2.0] * 3
        assert torch.cuda.get_device_name() == "a card of paper"
        assert torch.cuda.memory_allocated() >= 512
    finally:
        torch.cuda.simulate(False)
    assert card_in_use() is None and x.tolist() == [1.0] * 3
