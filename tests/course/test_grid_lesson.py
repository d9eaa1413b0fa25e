"""Lesson 10c: a right answer passes, and each wrong one is told its belief."""

from __future__ import annotations

import pytest

from labcore.testing import course

PASSED = "Public checks passed."
APART = "1024 * cuda.blockIdx.x + 256 * k + cuda.threadIdx.x"
TREE = """
def total(x, out):
    part = cuda.shared.array(256, float32)
    i = cuda.threadIdx.x
    part[i] = x[i]
    cuda.syncthreads()
    for step in range(8):
        half = 128 >> step
        if i < half:
            part[i] = part[i] + part[i + half]
        cuda.syncthreads()
    if i == 0:
        out[0] = part[0]
"""


@pytest.mark.parametrize(
    ("place", "word"),
    [
        (APART, PASSED),
        ("256 * cuda.blockIdx.x + 768 * k + cuda.threadIdx.x", PASSED),
        ("1024 * cuda.blockIdx.x + 4 * cuda.threadIdx.x + k", "Four neighbours to a thread"),
        ("256 * cuda.blockIdx.x + cuda.threadIdx.x", "elements that nobody copies"),
        ("256 * k + cuda.threadIdx.x", "two threads have the same element"),
        ("-1 + cuda.threadIdx.x", "OutOfBounds"),
        ("open('x')", "Unsupported"),
        ("1/0", "NO  nothing wrong found: expected nothing, found ZeroDivisionError: division by"),
        ("k % 0", "found ZeroDivisionError"),
        ("2.0 ** 5000", "found OverflowError"),
        ("n[0]", "found AttributeError"),
        (7, "expected a text, found an int"),
        (..., "Not begun"),
    ],
)
def test_coalesced(place, word):
    assert word in repr(course.coalesced(place))


@pytest.mark.parametrize(
    ("source", "word"),
    [
        (TREE, PASSED),
        (TREE.replace("        cuda.syncthreads()\n", ""), "nobody waited in between"),
        (TREE.replace("    part[i] = x[i]\n    cuda.syncthreads()", "    part[i] = x[i]"),
         "nobody waited in between"),
        (TREE.replace("part[i + half]\n        cuda.syncthreads()",
                      "part[i + half]\n            cuda.syncthreads()"), "inside of an if"),
        (TREE.replace("    part[i] = x[i]\n", ""), "before anybody has written it"),
        (TREE.replace("range(8)", "range(7)"), "NO  the sum: expected 32640.0"),
        ("def total(x, out):\n    if cuda.threadIdx.x == 0:\n        out[0] = float32(32640.0)\n",
         "NO  shared memory used"),
        ("def other(x):\n    pass", "KeyError"),
        ("def", "SyntaxError"),
        ("def total(x, out):\n    out[0] = 1 // 0\n", "NO  nothing wrong found: expected nothing, "
         "found ZeroDivisionError"),
        ("def total(x, out):\n    part = cuda.shared.array(10 ** 15, float32)\n", "MemoryError"),
        ("def total(x, out):\n    k = 1\n    k[0] = 2\n", "found AttributeError"),
        (..., "Not begun"),
    ],
)
def test_waits(source, word):
    assert word in repr(course.waits(source))
