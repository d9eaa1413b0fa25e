"""Matrix products on a card by cuBLAS, through ctypes: the library comes with the extra `cuda`.

In: addresses and layouts of three matrices, or of three batches of them.  Out: c = a @ b.
`described` says whether two arrays are such, without asking a card.
cuBLAS counts columns first, so what is a row-major product of a and b is to it that of b and a; a
matrix that lies turned is told so, and is not copied.
Sums of float32 products are float32's, as PyTorch's are by default: no tf32. So are those of
halves.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from math import prod
from typing import NamedTuple

KINDS = {  # CUDA's numbers: of the elements, of what sums are in
    "float32": (0, 68, ctypes.c_float), "float64": (1, 70, ctypes.c_double),
    "float16": (2, 68, ctypes.c_float), "bfloat16": (14, 68, ctypes.c_float),
}
DEFAULT = -1  # the library chooses how
INT32 = 2**31


class Matrix(NamedTuple):
    """How a matrix lies: `turned`, if its columns are contiguous rather than its rows; elements
    from one row (or column) to the next, and from one of the batch to the next."""

    turned: bool
    lead: int
    batch: int


class Product(NamedTuple):
    """c[batch, m, n] = a[batch, m, k] @ b[batch, k, n], c contiguous."""

    batch: int
    m: int
    n: int
    k: int
    a: Matrix
    b: Matrix


def described(
    a: tuple[Sequence[int], Sequence[int]], b: tuple[Sequence[int], Sequence[int]]
) -> Product | None:
    """The product of two operands of `matmul`, (shape, strides in elements) each; None where it is
    none for cuBLAS: no elements, batches that are no one step apart, elements strewn."""
    (shape_a, steps_a), (shape_b, steps_b) = _as_matrices(a, b)
    m, k, n = shape_a[-2], shape_a[-1], shape_b[-1]
    if 0 in (*shape_a, *shape_b) or max(*shape_a, *shape_b) >= INT32:
        return None
    if len(shape_b) == 2 and len(shape_a) > 2:  # rows of all the batch together
        folded = _folded(shape_a[:-1], steps_a[:-1])
        if folded is not None:
            rows, step = folded
            shape_a, steps_a, m = (rows, k), (step, steps_a[-1]), rows
    wide = _wide(shape_a[:-2], shape_b[:-2])
    left, right = _matrix(shape_a, steps_a, wide), _matrix(shape_b, steps_b, wide)
    if left is None or right is None or max(m, prod(wide)) >= INT32:
        return None
    return Product(prod(wide), m, n, k, left, right)


def _as_matrices(
    a: tuple[Sequence[int], Sequence[int]], b: tuple[Sequence[int], Sequence[int]]
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], tuple[tuple[int, ...], tuple[int, ...]]]:
    """A vector is a row on the left and a column on the right."""
    (shape_a, steps_a), (shape_b, steps_b) = [(tuple(s), tuple(t)) for s, t in (a, b)]
    if len(shape_a) == 1:
        shape_a, steps_a = (1, *shape_a), (shape_a[0] * steps_a[0], *steps_a)
    if len(shape_b) == 1:
        shape_b, steps_b = (*shape_b, 1), (*steps_b, 1)
    return (shape_a, steps_a), (shape_b, steps_b)


def _wide(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of both batches, broadcast."""
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    return tuple(y if x == 1 else x for x, y in zip(a, b))


def _folded(shape: Sequence[int], steps: Sequence[int]) -> tuple[int, int] | None:
    """Several axes as one: (size, step); None where they are no one step apart."""
    size, step = 1, 0
    for n, s in zip(reversed(shape), reversed(steps)):
        if n == 1:
            continue
        if size == 1:
            step = s
        elif s != step * size:
            return None
        size *= n
    return size, step


def _matrix(shape: tuple[int, ...], steps: tuple[int, ...], wide: tuple[int, ...]) -> Matrix | None:
    """How the matrices of a batch of this shape lie."""
    rank = len(wide)
    outer = (1,) * (rank - len(shape) + 2) + shape[:-2]
    over = (0,) * (rank - len(shape) + 2) + steps[:-2]
    batch = _folded(wide, [0 if n == 1 else s for n, s in zip(outer, over)])
    (rows, columns), (down, along) = shape[-2:], steps[-2:]
    if batch is None:
        return None
    lead = columns if rows == 1 else down
    if (columns == 1 or along == 1) and columns <= lead < INT32:  # row after row
        return Matrix(False, lead, batch[1])
    lead = rows if columns == 1 else along
    if (rows == 1 or down == 1) and rows <= lead < INT32:
        return Matrix(True, lead, batch[1])
    return None


class Cublas:
    """The library, working in one stream."""

    def __init__(self, stream: int) -> None:
        from cuda.pathfinder import load_nvidia_dynamic_lib

        self.library = ctypes.CDLL(load_nvidia_dynamic_lib("cublas").abs_path)
        self.handle = ctypes.c_void_p()
        self._checked(self.library.cublasCreate_v2(ctypes.byref(self.handle)))
        self._checked(self.library.cublasSetStream_v2(self.handle, ctypes.c_void_p(stream)))
        whole, address, step = ctypes.c_int, ctypes.c_void_p, ctypes.c_longlong
        self.library.cublasGemmStridedBatchedEx.argtypes = [
            address, whole, whole, whole, whole, whole, address, address, whole, whole, step,
            address, whole, whole, step, address, address, whole, whole, step, whole, whole, whole,
        ]
        self.numbers = {
            kind: (code, how, type_(1), type_(0)) for kind, (code, how, type_) in KINDS.items()
        }

    def matmul(self, kind: str, product: Product, a: int, b: int, c: int) -> None:
        """Into the address `c`. Raises RuntimeError with cuBLAS's status."""
        code, how, one, zero = self.numbers[kind]
        p = product
        self._checked(self.library.cublasGemmStridedBatchedEx(
            self.handle, int(p.b.turned), int(p.a.turned), p.n, p.m, p.k,
            ctypes.byref(one), b, code, p.b.lead, p.b.batch, a, code, p.a.lead, p.a.batch,
            ctypes.byref(zero), c, code, p.n, p.m * p.n, p.batch, how, DEFAULT))

    def _checked(self, status: int) -> None:
        if status:
            raise RuntimeError(f"cuBLAS refused: status {status} (see cublasStatus_t)")
