"""Memory for large tensors, used again: what the system gives fresh it must first clear, page by
page, which takes longer than most kernels that fill it.

In: how many bytes.  Out: a block of at least so many, that no array looks at.
A block is free again when the last array over it is gone: the pool's own references are then all
there are. So nobody has to give anything back, and a view, a numpy array or a tensor that somebody
kept is enough to hold a block.
Invariant: a block handed out is seen by nobody else; all blocks, idle or not, are at most `limit`
bytes, and what does not fit in is the system's. Small arrays are left to malloc, which keeps them
by itself. PyTorch has such an allocator for CUDA
only; on CPU it asks the system each time.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from math import prod

import numpy as np

LEAST = 16 << 20  # bytes; malloc holds on to what is smaller
CLASSES = 8  # sizes between one power of two and the next
ALIGNMENT = 64  # bytes: a cache line, and the widest vector

_lock = threading.Lock()
_blocks: dict[int, list[np.ndarray]] = {}  # by size in bytes


def _limit() -> int:
    """An eighth of the machine's memory."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 8
    except (OSError, ValueError):
        return 1 << 30


limit = _limit()


def array(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """An uninitialised C-contiguous array. Raises MemoryError when the system has no more."""
    nbytes = prod(shape) * dtype.itemsize
    if nbytes < LEAST:
        return np.empty(shape, dtype)
    block = _block(size_class(nbytes) + ALIGNMENT)
    return np.ndarray(shape, dtype, block, -block.ctypes.data % ALIGNMENT)


def owns_memory(array: np.ndarray) -> bool:
    """Whether this array's memory is seen by no other array."""
    block = array.base
    if block is None:
        return True
    mine = isinstance(block, np.ndarray) and any(b is block for b in _blocks.get(block.nbytes, ()))
    return mine and sys.getrefcount(block) == _seen_once


def size_class(nbytes: int) -> int:
    """How large the block for so many bytes is: at most an eighth more."""
    step = (1 << (nbytes - 1).bit_length() - 1) // CLASSES
    return -(-nbytes // step) * step


def idle() -> int:
    """Bytes in blocks that no array looks at."""
    with _lock:
        return sum(block.nbytes for blocks in _blocks.values() for block in _free(blocks))


def empty() -> None:
    """Give all idle memory back to the system."""
    with _lock:
        _make_room(limit)


def _block(nbytes: int) -> np.ndarray:
    with _lock:
        free = _free(_blocks.get(nbytes, []))
        if free:
            return free[-1]
        block = np.empty(nbytes, np.uint8)
        if _make_room(nbytes):
            _blocks.setdefault(nbytes, []).append(block)
        return block


def _free(blocks: list[np.ndarray]) -> list[np.ndarray]:
    return [block for block in blocks if sys.getrefcount(block) == _unseen]


def _make_room(nbytes: int) -> bool:
    """Let go of idle blocks, large ones first, until so many bytes fit in; False if they do not."""
    held = sum(size * len(blocks) for size, blocks in _blocks.items())
    for size in sorted(_blocks, reverse=True):
        for idle in _free(_blocks[size]):
            if held + nbytes <= limit:
                return True
            _blocks[size] = [block for block in _blocks[size] if block is not idle]
            held -= size
    return held + nbytes <= limit


def _counts() -> tuple[int, int]:
    """What `sys.getrefcount` says of a block in `_free`, and in `owns_memory`; it depends on the
    version of Python."""
    blocks = [np.empty(1, np.uint8)]
    unseen = [sys.getrefcount(block) for block in blocks][0]
    array = np.ndarray((1,), np.uint8, blocks[0])
    block = array.base
    return unseen, sys.getrefcount(block)


_unseen, _seen_once = _counts()
