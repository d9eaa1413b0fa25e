"""Malformed programs are refused by name."""

from __future__ import annotations

import pytest

from labcore import dtypes
from labcore.fusion.ir import Buffer, Expr, Loops, index, ops
from labcore.fusion.program import Program
from labcore.fusion.verify import ProgramError, verify_program

X = Buffer.new("x", (4,), dtypes.float32, "input")
OUT = Buffer.new("out", (4,), dtypes.float32, "output")


def program(body, where=lambda idx: idx[0], outputs=(OUT,), buffers=(X, OUT)):
    loops = Loops(OUT, (Expr.of(4),), (0,), "pointwise", body, where, title="out")
    return Program([loops], {b.name: b for b in buffers}, [X], {}, list(outputs))


def test_a_good_one_passes():
    good = program(lambda idx: ops.neg(ops.load("x", idx[0])))
    assert verify_program(good) is good


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (program(lambda idx: ops.load("out", idx[0])), "out: reads out before it is written"),
        (program(lambda idx: ops.load("x", idx[0] + 1)), r"out: leaves x at \[i0 \+ 1\]"),
        (
            program(lambda idx: ops.load("x", index(3))),
            "uses the index {'i3'} of a loop it does not have",
        ),
        (
            program(lambda idx: ops.add(ops.load("x", idx[0]), ops.constant(1, dtypes.int64))),
            r"add\(float32, int64\) mixes types without a cast",
        ),
        (
            program(lambda idx: ops.gt(ops.load("x", idx[0]), ops.load("x", idx[0]))),
            "stores bool into out: float32",
        ),
        (
            program(
                lambda idx: ops.load("x", idx[0]),
                outputs=(Buffer.new("never", (4,), dtypes.float32),),
            ),
            "never: is returned but never written",
        ),
    ],
)
def test_a_bad_one_is_named(bad, why):
    with pytest.raises(ProgramError, match=why):
        verify_program(bad)
