"""What a launch costs: elements, sectors, banks; and what it computes."""

from __future__ import annotations

import numpy as np
import pytest

from labcore.simulator import launch

CHAIN = '''
def chain(x, bias, out, n):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < n:
        out[i] = relu(x[i] + bias[i]) * float32(2.0)
'''


def ones(n, dtype=np.float32):
    return np.ones(n, dtype)


def test_the_example_of_the_course():
    """4 elements: two arrays read, one written: 12 accesses, where three kernels make 28."""
    x, bias = np.array([1, -2, 3, -4], np.float32), ones(4)
    out = ones(4)
    found = launch(CHAIN, "chain", (1,), (32,), [x, bias, out, 4])
    np.testing.assert_array_equal(out, [4, 0, 8, 0])
    assert found.reads == 8 and found.writes == 4
    assert {n: (t.reads, t.writes) for n, t in found.traffic.items()} == {
        "x": (4, 0), "bias": (4, 0), "out": (0, 4)}


COPY = "def copy(x, out):\n    i = cuda.threadIdx.x\n    out[i] = x[{at}]\n"


@pytest.mark.parametrize(("dtype", "count"), [
    (np.float32, 4), (np.float32, 2), (np.float16, 2), (np.float16, 8), (np.int32, 4),
    (np.bool_, 8),
])
def test_several_elements_are_one_request(dtype, count):
    """Each counts as one; a warp asks once for what all its threads want."""
    kind = {np.float16: "uint16", np.bool_: "uint8"}.get(dtype, dtype.__name__)
    source = (f"def copy(x, out):\n    r = cuda.local.array({count}, {kind})\n"
              f"    i = {count} * cuda.threadIdx.x\n    if aligned(x, 16) & aligned(out, 16):\n"
              f"        load{count}(x, i, r, 0)\n        store{count}(out, i, r, 0)\n")
    size = 32 * count
    x, out = np.arange(size).astype(dtype), np.zeros(size, dtype)
    found = launch(source, "copy", (1,), (32,), [x, out])
    np.testing.assert_array_equal(out, x)
    nbytes = size * x.itemsize
    for traffic in found.traffic.values():
        assert (traffic.requests, traffic.sectors, traffic.coalesced) == (1, nbytes // 32, 1.0)
    assert (found.reads, found.writes) == (size, size)
    away, same = np.zeros(size + 8, dtype)[1:size + 1], np.zeros(size, dtype)
    launch(source, "copy", (1,), (32,), [away, same])
    np.testing.assert_array_equal(same, np.zeros(size, dtype))


@pytest.mark.parametrize(("at", "dtype", "sectors"), [
    ("i", np.float32, 4),         # 128 bytes, neighbours
    ("31 - i", np.float32, 4),    # in any order
    ("i + 1", np.float32, 5),     # across one more boundary
    ("2 * i", np.float32, 8),     # half of what is carried is wanted
    ("8 * i", np.float32, 32),    # a sector each
    ("0", np.float32, 1),         # one address for all
    ("i", np.float64, 8),
    ("i", np.bool_, 1),
])
def test_sectors_of_a_warp(at, dtype, sectors):
    found = launch(COPY.format(at=at), "copy", (1,), (32,), [ones(256, dtype), ones(32, dtype)])
    assert found.traffic["x"].sectors == sectors
    assert found.traffic["x"].requests == 1
    assert found.traffic["out"].coalesced == 1.0


def test_a_view_begins_where_it_lies():
    whole = ones(64)
    found = launch(COPY.format(at="i"), "copy", (1,), (32,), [whole[1:33], ones(32)])
    assert found.traffic["x"].sectors == 5


BANKS = """
def turn(x, out):
    tile = cuda.shared.array({size}, {type})
    i = cuda.threadIdx.x
    tile[{at}] = x[i]
    cuda.syncthreads()
    out[i] = tile[{at}]
"""


@pytest.mark.parametrize(("at", "kind", "lost"), [
    ("i", "float32", 0),
    ("32 * i", "float32", 31),    # all in one bank
    ("33 * i", "float32", 0),     # one column of padding
    ("2 * i", "float32", 1),
    ("i", "float64", 0),          # half a warp at a time
    ("16 * i", "float64", 30),
])
def test_banks(at, kind, lost):
    source = BANKS.format(size=1100, type=kind, at=at)
    found = launch(source, "turn", (1,), (32,), [ones(32, kind), ones(32, kind)])
    assert found.shared["tile"][1] == 2 * lost
    assert found.shared["tile"][0] == (2 if kind == "float32" else 4)


def test_one_word_for_all_is_no_conflict():
    source = BANKS.format(size=32, type="float32", at="i").replace("= tile[i]", "= tile[7]")
    assert launch(source, "turn", (1,), (32,), [ones(32), ones(32)]).shared["tile"][1] == 0


SUM = """
def warp_sum(v):
    v = v + cuda.shfl_xor_sync(0xFFFFFFFF, v, 16)
    v = v + cuda.shfl_xor_sync(0xFFFFFFFF, v, 8)
    v = v + cuda.shfl_xor_sync(0xFFFFFFFF, v, 4)
    v = v + cuda.shfl_xor_sync(0xFFFFFFFF, v, 2)
    v = v + cuda.shfl_xor_sync(0xFFFFFFFF, v, 1)
    return v


def total(x, out, n):
    part = float32(0.0)
    for i in range(cuda.threadIdx.x, n, 64):
        part = part + x[i]
    part = warp_sum(part)
    if cuda.threadIdx.x & 31 == 0:
        cuda.atomic.add(out, 0, part)
"""


def test_shuffles_and_atomics():
    x, out = np.arange(150, dtype=np.float32), np.zeros(1, np.float32)
    found = launch(SUM, "total", (1,), (64,), [x, out, 150])
    assert out[0] == x.sum()
    assert found.traffic["x"].reads == 150 and found.traffic["out"].atomics == 2


def test_a_block_of_two_axes_and_a_last_warp_that_is_not_full():
    source = """
def places(out):
    i = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
    out[cuda.blockIdx.y * 60 + cuda.blockIdx.x * 20 + i] = cuda.gridDim.x * 100 + i
"""
    out = np.zeros(120, np.int64)
    launch(source, "places", (3, 2), (5, 4), [out])
    np.testing.assert_array_equal(out, np.tile(300 + np.arange(20), 6))


def test_threads_that_do_not_take_part_keep_their_variables():
    source = """
def branches(out):
    i = cuda.threadIdx.x
    v = i * 10
    if i % 2 == 0:
        v = v + 1
        if i % 4 == 0:
            v = -v
    else:
        v = 7
    w = out[i] if i > 3 else v
    out[i] = w
"""
    out = np.full(32, 5)
    launch(source, "branches", (1,), (32,), [out])
    np.testing.assert_array_equal(out[:8], [-1, 7, 21, 7, 5, 5, 5, 5])


def test_how_many_blocks_run_together_decides_nothing(monkeypatch):
    from labcore.simulator import machine

    x = np.random.default_rng(0).standard_normal(5000).astype(np.float32)
    found = []
    for together in (1, 1 << 20):
        monkeypatch.setattr(machine, "TOGETHER", together)
        out = np.zeros(5000, np.float32)
        made = launch(CHAIN, "chain", (20,), (256,), [x, x, out, 5000])
        found.append((out.tobytes(), str(made)))
    assert found[0] == found[1]


def test_the_requests_of_a_watched_block():
    x = ones(64)
    found = launch(CHAIN, "chain", (2,), (32,), [x, x.copy(), x.copy(), 40], watch=1)
    assert [(a.array, a.kind, a.warp, len(a.lanes)) for a in found.accesses] == [
        ("x", "read", 1, 8), ("bias", "read", 1, 8), ("out", "write", 1, 8)]
    assert found.accesses[0].addresses == [128 + 4 * k for k in range(8)]
    assert str(found) == (
        "chain[2, 32]\n  x: 40 read, 0 written, 5 sectors (100% coalesced)\n"
        "  bias: 40 read, 0 written, 5 sectors (100% coalesced)\n"
        "  out: 0 read, 40 written, 5 sectors (100% coalesced)")
