"""An allocator that counts."""

from __future__ import annotations

import pytest

from labcore import dtypes
from labcore.measure.memory import peak_bytes
from labcore.tensor import empty_strided


def call(args: list) -> tuple:
    (n,) = args
    args.clear()
    a = empty_strided((n,), (1,), dtypes.float32)
    b = empty_strided((n,), (1,), dtypes.float32)
    del a
    c = empty_strided((n, 2), (2, 1), dtypes.float32)
    d = b.as_strided((n // 2,), (2,))  # a view holds what it looks into
    del b, c
    e = empty_strided((n,), (1,), dtypes.float32)
    return d, e


@pytest.mark.parametrize("n", [4, 1 << 22])  # the large ones come from a pool
def test_what_is_freed_counts_no_more(n: int) -> None:
    args = [n]
    assert peak_bytes(call, args) == 4 * 3 * n and args == []
