"""Large blocks of memory are used again when, and only when, nobody can see them."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import labcore as torch
from labcore.tensor import pool

MANY = pool.LEAST // 4 + 5  # float32 elements


@pytest.fixture(autouse=True)
def nothing_idle():
    gc.collect()
    pool.empty()
    yield
    pool.empty()


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def fresh(count: int = MANY) -> np.ndarray:
    return pool.array((count,), np.dtype("float32"))


def test_a_block_comes_back_when_its_last_array_is_gone():
    first = fresh()
    where, view = address(first), first[3:]
    del first
    second = fresh()
    assert address(second) != where, "a view still looks at it"
    assert pool.idle() == 0
    del view
    assert pool.idle() > 4 * MANY
    assert address(fresh()) == where


def test_whoever_keeps_a_part_keeps_the_block():
    array = fresh()
    array[:] = 7
    kept = memoryview(array)
    del array
    for _ in range(3):
        fresh()[:] = 0
    assert kept[5] == 7
    tensor = torch.empty(MANY)
    tensor.fill_(3)
    view = tensor.numpy()[10:]
    del tensor
    torch.empty(MANY).fill_(0)
    assert view[0] == 3


def test_sizes_share_a_block_up_to_an_eighth():
    for count in (pool.LEAST, pool.LEAST + 1, 3 * pool.LEAST + 12345):
        size = pool.size_class(count)
        assert count <= size <= count * 9 / 8
    where = address(fresh(MANY + 100))
    assert address(fresh(MANY + 1000)) == where
    assert address(fresh()) % pool.ALIGNMENT == 0


def test_what_is_idle_makes_room_and_what_does_not_fit_is_not_kept(monkeypatch):
    size = pool.size_class(4 * MANY) + pool.ALIGNMENT
    monkeypatch.setattr(pool, "limit", 2 * size)
    three = [fresh() for _ in range(3)]
    three.clear()
    assert pool.idle() == 2 * size
    large = fresh(2 * MANY - 10000)
    assert pool.idle() == 0, "two idle blocks gave way to a larger one"
    del large
    assert fresh(8 * MANY).size == 8 * MANY and pool.idle() <= 2 * size
    pool.empty()
    assert pool.idle() == 0


def test_threads_never_get_the_same_block():
    wrong = []

    def work(number: int) -> None:
        for _ in range(50):
            array = fresh()
            array[:16] = number
            array[-16:] = number
            if not ((array[:16] == number).all() and (array[-16:] == number).all()):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_large_gradient_is_taken_over_but_never_shared():
    x = torch.ones(MANY, requires_grad=True)
    double = torch.compile(lambda x: x * 2, backend="inductor")
    double(x).backward(torch.ones(MANY))
    assert pool.owns_memory(x.grad.array)
    given = torch.empty(MANY).fill_(1)
    y = torch.ones(MANY, requires_grad=True)
    (y + 0).backward(given)
    y.grad.add_(1)
    assert given[0] == 1 and y.grad[0] == 2
    array = fresh()
    other = array[:]
    assert not pool.owns_memory(array) and not pool.owns_memory(other)
    raw = np.empty(64, np.uint8)
    assert not pool.owns_memory(np.ndarray((4,), np.float32, raw)), "raw is somebody else's"
