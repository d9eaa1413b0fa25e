"""What random programs that write in place show in the lab's eager mode and in PyTorch's."""

from __future__ import annotations

import warnings

import pytest

import labcore

from ..autodiff.mutation import compare, generate, observe

torch = pytest.importorskip("torch", reason="torch is a peer: `make peers`")

# Where the two differ in eager mode: writes to one of several views, or to elements that share
# memory, are refused in PyTorch; `.data` has its own version there, and `flatten` may be no view.
APART = (  # fmt: skip
    ".split(", ".unbind(", ".chunk(", ".data", ".flatten(", ".expand(", ".unfold(",
    "addcmul_", "lerp_", "copy_", "masked", "> 0]", "enable_grad", "masked_fill_",
)
AMBIGUOUS = "A view was created in no_grad mode"  # the two say at different times that it is


def seen_in_torch(program):
    """None for what PyTorch refuses to say, as it is ambiguous."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a grad that no leaf has
        try:
            return observe(program, program.function(torch), torch)
        except RuntimeError as refused:
            if AMBIGUOUS not in str(refused):
                raise
    return None


@pytest.mark.parametrize("block", range(3))
def test_random_programs(block):
    compared = 0
    for seed in range(250 * block, 250 * (block + 1)):
        program = generate(seed)
        if any(form in program.text + program.inputs for form in APART):
            continue
        expected = seen_in_torch(program)
        found = observe(program, program.function(), labcore)
        if expected is not None and AMBIGUOUS not in expected.error + found.error:
            compare(expected, found, program.text)
            compared += 1
    assert compared > 40
