"""Random programs that write in place: schedules in random orders, run in every way there is."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import labcore as torch

from .programs import Checking, check

FEW = max(8, settings.default.max_examples // 3)  # each compiles
SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.fuzz
@given(SEEDS)
def test_interpreter_and_text_are_eager_mode(seed):
    check(seed, machine=False)


@pytest.mark.fuzz
@settings(max_examples=FEW)
@given(SEEDS)
def test_they_are_with_sizes_that_are_symbols(seed):
    check(seed, machine=False, dynamic=True)


@pytest.mark.fuzz
@settings(max_examples=FEW)
@given(SEEDS)
def test_machine_code_is_eager_mode(seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CACHE", "0")
        check(seed, machine=True)


TELL = """
from labcore import trace
from labcore.fusion import fuse_graph
from labcore.measure.loop_speed import SYNTHETIC
with trace.record() as story:
    for make in SYNTHETIC.values():
        fuse_graph(make(24))
print(*[story.text(name) for name in ("fusion", "schedule", "ir_post_fusion")])
"""


def test_schedules_do_not_depend_on_hashes():
    """Names and addresses hash differently in every process."""
    texts = {
        subprocess.check_output(
            [sys.executable, "-c", TELL], text=True, env={**os.environ, "PYTHONHASHSEED": seed}
        )
        for seed in ("1", "2")
    }
    assert len(texts) == 1


def part_of_a_constant(column):
    column.fill_(0.5)
    t = column + column
    t[1:] = t[:-1] * 0.5
    return t


@pytest.mark.parametrize("seed", range(12))
def test_what_is_written_in_part_is_stored_before(seed):
    """In some orders nobody loads the base, and what is not written must be there all the same."""
    given = [torch.ones(5, 1) for _ in range(2)]
    checking = Checking(np.random.default_rng(seed), machine=False)
    found = torch.compile(part_of_a_constant, backend=checking.backend)(given[0])
    assert found.tolist() == part_of_a_constant(given[1]).tolist()
