"""Which kernels are alike: those whose machine code may be shared, and no others."""

from __future__ import annotations

import pytest

from labcore.codegen.build import python_kernels
from labcore.codegen.numba_ir import key_of, known, lowered, wrapping_integers

TEXT = '''
def numba_fused_add_0(x: "float32*", out: "float32*"):
    for i0 in range(4):
        tmp0 = x[i0] + float32(1.0)  # block.py:3
        out[i0] = tmp0
'''

ALIKE = {
    "its name": ("numba_fused_add_0", "numba_fused_add_7"),
    "a parameter's name": ("x", "primals_3"),
    "a variable's name": ("tmp0", "tmp9"),
    "the user's line": ("block.py:3", "block.py:8"),
    "where it stands": ("\ndef", "\n\n\ndef"),
}
DIFFERENT = {
    "a number": ("1.0", "2.0"),
    "the sign of zero": ("1.0", "-1.0"),
    "a length": ("range(4)", "range(5)"),
    "an operation": ("+", "-"),
    "a word": ("float32(1.0)", "float64(1.0)"),
    "a type": ('out: "float32*"', 'out: "float64*"'),
    "a number's type": ("float32(1.0)", "float32(1)"),
    "the order of parameters": ("x[i0]", "out[i0]"),
}


def kernel(text):
    (function,) = python_kernels(text).values()
    return function


@pytest.mark.parametrize("what", ALIKE)
def test_names_and_lines_do_not_tell_kernels_apart(what):
    assert key_of(kernel(TEXT.replace(*ALIKE[what]))) == key_of(kernel(TEXT))


@pytest.mark.parametrize("what", DIFFERENT)
def test_all_else_does(what):
    assert key_of(kernel(TEXT.replace(*DIFFERENT[what]))) != key_of(kernel(TEXT))


@pytest.mark.parametrize(("one", "other"), [("0.0", "-0.0"), ("1", "True"), ("1", "1.0")])
def test_constants_that_python_finds_equal_are_not(one, other):
    made = [kernel(TEXT.replace("float32(1.0)", text)) for text in (one, other)]
    assert key_of(made[0]) != key_of(made[1])


def test_one_like_another_is_that_one():
    with wrapping_integers():
        first = lowered(kernel(TEXT))
        other = kernel(TEXT.replace("_0", "_1"))
        assert known(other) and lowered(other) is first
        assert not known(kernel(TEXT.replace("1.0", "7.25")))
