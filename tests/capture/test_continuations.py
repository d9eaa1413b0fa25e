"""Methods that an instruction calls: inlined, and what a break inside of one does."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore.compiler._dynamo.testing import CompileCounter

from .differential import captured, check
from .subjects import x4

LOG = []


@torch.compiler.disable
def log(value):
    """A break."""
    LOG.append(value)


class Flag:
    def __init__(self, on):
        self.on = on

    def __bool__(self):
        return self.on


class Sized:
    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size


class Telling(Flag):
    def __bool__(self):
        log("asked")
        return self.on


class Wrong:
    def __bool__(self):
        return 1


def branches(x, flag):
    y = x + 1
    if flag:
        y = y * 2
    return (y - 3, not flag, flag or 7, flag and 8)


@pytest.mark.parametrize("flags", [(Flag(True), Flag(False)), (Sized(3), Sized(0))])
def test_the_truth_of_an_object_is_asked_of_its_class(flags):
    for flag in flags:
        assert captured(branches, x4(), flag).ops[-1] == "sub"


def test_a_break_inside_of_a_truth_test_stops_before_the_whole_instruction():
    counter = CompileCounter()
    compiled = torch.compile(branches, backend=counter)
    for flag in (Telling(True), Telling(False)) * 2:
        runs = []
        for run in (branches, compiled):
            LOG.clear()
            *values, either, both = run(x4(), flag)
            runs.append((repr(values), either is flag, both is flag, list(LOG)))
        assert runs[0] == runs[1] and LOG == ["asked"] * 4
    assert counter.frame_count == 3


def test_a_truth_test_that_is_no_bool_raises():
    assert not check(branches, x4(), Wrong()).breaks
