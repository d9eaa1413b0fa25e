"""The caching allocator's policy: sizes, who gets what back, and what happens when memory runs out.
"""

from __future__ import annotations

import gc

import numpy as np
import pytest

import labcore as torch
from labcore.runtime.allocator import Allocator, Pool, rounded
from labcore.runtime.driver import OutOfMemory

from .fake import FakeDriver, paper_card


@pytest.mark.parametrize(("nbytes", "size"), [
    (0, 512), (1, 512), (512, 512), (513, 1024), (1024, 1024), (1025, 1536), (4097, 4608),
    (1 << 20, 1 << 20), ((1 << 20) + 1, (1 << 20) + (1 << 17)), (3 << 30, 3 << 30),
])
def test_sizes_are_rounded_up(nbytes, size):
    assert rounded(nbytes) == size


def test_rounding_wastes_an_eighth_at_most():
    sizes = np.unique(np.geomspace(4096, 1 << 34, 2000).astype(int))
    for nbytes in map(int, sizes):
        assert nbytes <= rounded(nbytes) <= nbytes * 9 / 8 + 512 and rounded(nbytes) % 512 == 0
        assert rounded(rounded(nbytes)) == rounded(nbytes)


def test_freed_memory_is_handed_out_again():
    driver = FakeDriver()
    allocator = Allocator(driver)
    first = allocator.block(1000)
    other = allocator.block(1000)
    place = first.pointer
    assert place != other.pointer and (allocator.used, allocator.reserved) == (2048, 2048)
    del first
    assert (allocator.used, allocator.reserved) == (1024, 2048)
    assert allocator.block(1500).pointer != place  # of another size class
    assert allocator.block(700).pointer == place
    assert driver.log == ["allocate 1024", "allocate 1024", "allocate 1536"]


def test_idle_memory_goes_back_before_memory_runs_out():
    driver = FakeDriver(limit=8192)
    allocator = Allocator(driver)
    blocks = [allocator.block(2048) for _ in range(3)]
    del blocks[:2]
    large = allocator.block(4096)
    assert driver.log[-4:] == ["synchronize", "free", "free", "allocate 4096"]
    assert (allocator.used, allocator.reserved, driver.held) == (6144, 6144, 6144)
    with pytest.raises(OutOfMemory) as found:
        allocator.block(1 << 20)
    for part in ("1.0 MiB were asked for", "the card has 0.0 MiB", "activation_memory_budget"):
        assert part in str(found.value)
    del large
    allocator.empty_cache()
    assert driver.held == 2048


def test_a_pool_keeps_to_itself_until_it_dies():
    driver = FakeDriver()
    allocator = Allocator(driver)
    pool = Pool(allocator, heir=allocator.common)
    with allocator.using(pool):
        mine = allocator.block(512)
    place = mine.pointer
    del mine
    assert allocator.block(512).pointer != place
    with allocator.using(pool):
        assert allocator.block(512).pointer == place
    del pool
    gc.collect()
    assert place in allocator.common.free[512]


def test_memory_lives_as_long_as_what_looks_into_it(monkeypatch):
    with paper_card(monkeypatch):
        x = torch.arange(1000).float().cuda()
        used = torch.cuda.memory_allocated()
        part = x.reshape(10, 100).t()[5:, ::2]
        place = x.data_ptr()
        del x
        other = torch.zeros(1000, device="cuda")
        assert other.data_ptr() != place and part.tolist()[0][:2] == [5.0, 205.0]
        del part
        assert torch.cuda.memory_allocated() <= used
        assert torch.empty(1000, device="cuda").data_ptr() == place
        assert torch.cuda.memory_reserved() >= torch.cuda.memory_allocated()
        torch.cuda.empty_cache()


def test_a_card_without_memory_says_so(monkeypatch):
    with paper_card(monkeypatch, FakeDriver(limit=1 << 20)):
        with pytest.raises(RuntimeError, match="CUDA out of memory: 4.0 MiB were asked for"):
            torch.zeros(1000, 1000).cuda()
