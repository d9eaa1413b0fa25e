"""What random programs that write in place show in the lab's eager mode and in PyTorch's."""

from __future__ import annotations

import warnings

import pytest

import labcore

from ..autodiff.mutation import compare, generate, observe

torch = pytest.importorskip("torch", reason="torch is a peer: `make peers`")

AMBIGUOUS = "A view was created in no_grad mode"  # the two say at different times that it is
# PyTorch takes no writes to parts that `unbind`, `split` or `chunk` gave; the lab does.
SEVERAL = "This view is the output of a function that returns multiple views"


def seen_in_torch(program):
    """None for what PyTorch refuses to say, as it is ambiguous, or one of several views."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a grad that no leaf has
        try:
            seen = observe(program, program.function(torch), torch)
        except RuntimeError as refused:
            if AMBIGUOUS not in str(refused) and SEVERAL not in str(refused):
                raise
            return None
    return None if SEVERAL in seen.error else seen


@pytest.mark.parametrize("block", range(4))
def test_random_programs(block):
    compared = 0
    for seed in range(50 * block, 50 * (block + 1)):
        program = generate(seed)
        expected = seen_in_torch(program)
        found = observe(program, program.function(), labcore)
        if expected is not None and AMBIGUOUS not in expected.error + found.error:
            compare(expected, found, program.text)
            compared += 1
    assert compared > 40
