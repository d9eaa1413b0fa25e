"""Random programs that write in place: schedules in random orders, run in every way there is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings, strategies as st

from .programs import check

FEW = max(8, settings.default.max_examples // 3)  # each compiles
SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.fuzz
@given(SEEDS)
def test_interpreter_and_text_are_eager_mode(seed):
    check(seed, machine=False)


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
