"""What is wrong with a kernel is found, and said with its place."""

from __future__ import annotations

import numpy as np
import pytest

from labcore.simulator import (
    DivergentBarrier,
    Misaligned,
    NotConstant,
    OutOfBounds,
    Race,
    Uninitialised,
    Unsupported,
    launch,
)


def floats(n):
    return np.arange(n, dtype=np.float32)


def run(body, *arguments, grid=1, block=32, names="x, out"):
    source = f"def kernel({names}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    return launch(source, "kernel", (grid,), (block,), arguments)


def test_an_index_beyond_the_end():
    body = "i = cuda.blockIdx.x * 32 + cuda.threadIdx.x\nout[i] = x[i]  # model.py:3  x + 1"
    with pytest.raises(OutOfBounds) as error:
        run(body, floats(40), floats(64), grid=2)
    assert str(error.value) == (
        "kernel, line 3: thread 8 of block 1 reads x[40], but x has 40 elements: test the index "
        "before the access\n    out[i] = x[i]  # model.py:3  x + 1"
    )


def test_a_negative_index_is_no_index():
    with pytest.raises(OutOfBounds, match=r"writes out\[-1\]"):
        run("i = cuda.threadIdx.x\nout[i - 1] = x[i]", floats(32), floats(32))


def test_a_guard_keeps_threads_out():
    out = floats(20) * 0
    run("i = cuda.threadIdx.x\nif i < 20:\n    out[i] = x[i]", floats(20), out)
    np.testing.assert_array_equal(out, floats(20))


def test_a_word_that_begins_between_two_words():
    body = "r = cuda.local.array(4, float32)\nload4(x, {at}, r, 0)\nout[cuda.threadIdx.x] = r[0]"
    said = (r"reads 4 elements of x at once from index 2 on, but the address is no multiple of 16 "
            r"bytes: ask aligned\(x, 16\) first, and begin at a multiple of 4")
    with pytest.raises(Misaligned, match=said):
        run(body.format(at="2"), floats(8), floats(32))
    with pytest.raises(Misaligned, match="from index 0 on"):
        run(body.format(at="0"), floats(9)[1:], floats(32))
    with pytest.raises(OutOfBounds, match=r"reads x\[8\], but x has 8 elements"):
        run(body.format(at="4 * (cuda.threadIdx.x & 1) + 1"), floats(8), floats(32))
    with pytest.raises(Misaligned, match="writes 2 elements of out"):
        run("r = cuda.local.array(2, float32)\nr[0] = x[0]\nr[1] = x[1]\nstore2(out, 1, r, 0)",
            floats(8), floats(32))


def test_two_blocks_write_one_element():
    said = r"thread 0 of block 0 writes out\[0\], which thread 0 of block 1"
    with pytest.raises(Race, match=said):
        run("if cuda.threadIdx.x == 0:\n    out[0] = x[0]", floats(1), floats(1), grid=2)


def test_two_threads_write_one_element_at_once():
    with pytest.raises(Race, match="writes out"):
        run("out[0] = x[cuda.threadIdx.x]", floats(32), floats(1))


def test_a_block_reads_what_another_writes():
    body = "i = cuda.blockIdx.x * 32 + cuda.threadIdx.x\nout[i] = x[i]\nx[(i + 32) % 64] = out[i]"
    with pytest.raises(Race, match=r"writes x\["):
        run(body, floats(64), floats(64), grid=2)


CONST = 'x: "const float32*", out: "float32*"'


def test_what_is_const_is_not_written_not_even_by_another_name():
    memory, copy = floats(64), "i = cuda.threadIdx.x\nout[i] = x[i]\nout[i] = x[i] + out[i]"
    run(copy, memory[:32], memory[32:], names=CONST)
    with pytest.raises(NotConstant, match=r"out\[0\] is written by thread 0 of block 0, and is"):
        run(copy, memory, memory, names=CONST)
    late = "i = cuda.threadIdx.x\nout[i] = float32(1)\nout[i] = x[i]"
    with pytest.raises(NotConstant, match=r"x\[0\] was written by thread 0"):
        run(late, memory, memory, names=CONST)
    with pytest.raises(NotConstant, match=r"x\[0\] is written"):
        run("x[cuda.threadIdx.x] = float32(1)", memory, memory, names=CONST)


def test_one_element_is_read_by_all():
    out = floats(64)
    run("i = cuda.blockIdx.x * 32 + cuda.threadIdx.x\nout[i] = x[0] + x[5]", floats(6), out, grid=2)
    np.testing.assert_array_equal(out, 5)


SHIFT = """tile = cuda.shared.array(64, float32)
i = cuda.threadIdx.x
tile[i] = x[i]
{wait}
out[i] = tile[63 - i]"""


@pytest.mark.parametrize("wait", ["pass", "cuda.syncwarp()"])
def test_shared_memory_without_a_barrier(wait):
    with pytest.raises((Race, Uninitialised), match="tile"):
        run(SHIFT.format(wait=wait), floats(64), floats(64), block=64)


def test_shared_memory_with_a_barrier():
    out = floats(64)
    found = run(SHIFT.format(wait="cuda.syncthreads()"), floats(64), out, block=64)
    np.testing.assert_array_equal(out, floats(64)[::-1])
    assert found.barriers == 1 and found.shared_bytes == 256


def test_within_a_warp_a_barrier_of_the_warp_is_enough():
    body = SHIFT.replace("63 - i", "31 - i % 32").format(wait="cuda.syncwarp()")
    out = floats(32)
    run(body, floats(32), out)
    np.testing.assert_array_equal(out, floats(32)[::-1])


def test_a_race_over_values_that_were_read_first():
    """Write after read: the barrier is missing where the tile is used again."""
    body = """tile = cuda.shared.array(64, float32)
i = cuda.threadIdx.x
for turn in range(2):
    tile[i] = x[i]
    cuda.syncthreads()
    out[i] = tile[63 - i]
"""
    with pytest.raises(Race, match=r"writes tile\[\d+\]"):
        run(body, floats(64), floats(64), block=64)
    run(body + "    cuda.syncthreads()", floats(64), floats(64), block=64)


def test_some_threads_wait_for_ever():
    with pytest.raises(DivergentBarrier, match="where thread 10 of block 0 never comes"):
        run("if cuda.threadIdx.x < 10:\n    cuda.syncthreads()", floats(1), floats(1))


def test_a_barrier_that_whole_blocks_meet():
    run("if cuda.blockIdx.x == 0:\n    cuda.syncthreads()", floats(1), floats(1), grid=2)


def test_a_shuffle_needs_its_whole_warp():
    body = "v = x[cuda.threadIdx.x]\nif cuda.threadIdx.x < 31:\n" \
        "    v = cuda.shfl_xor_sync(0xFFFFFFFF, v, 1)"
    with pytest.raises(DivergentBarrier, match="is at a shuffle, where thread 31"):
        run(body, floats(32), floats(1))


def test_a_register_that_nobody_wrote():
    with pytest.raises(Uninitialised, match=r"reads a\[2\], which nobody has written"):
        run("a = cuda.local.array(4, float32)\na[1] = x[0]\nout[cuda.threadIdx.x] = a[2]",
            floats(1), floats(32))


def test_an_index_that_is_a_value():
    with pytest.raises(OutOfBounds, match="index 9, which is out of range: the size is 4"):
        run("check_index(x[cuda.threadIdx.x], 4)", np.full(32, 9), floats(1))


@pytest.mark.parametrize("body", ["while True:\n    pass", "out[0] = x[0] @ x[0]", "y = open(x)"])
def test_what_no_kernel_says(body):
    with pytest.raises((Unsupported, KeyError)):
        run(body, floats(1), floats(1))


def test_a_launch_that_no_card_takes():
    with pytest.raises(ValueError, match="1 to 1024 threads"):
        run("pass", floats(1), floats(1), block=2048)
    with pytest.raises(ValueError, match="at least one block"):
        run("pass", floats(1), floats(1), grid=0)
