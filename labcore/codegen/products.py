"""The call of BLAS for a matrix product, as the program prints it.

In: an `Extern` whose operator is `matmul`, and the variables that hold its operands' memory.
Out: `numpy.matmul(x.array, w.array.T, out=matmul.array)`.
An operand is a view of a buffer as it lies; numpy hands rows or columns that lie evenly to BLAS
without a copy. A batch of rows times one matrix is one product of all the rows: numpy would make
one of each.
Invariant: the memory of the result belongs to the program, which has made it of this layout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..fusion.ir import Expr, exprs, product as product_of
from ..fusion.program import Extern, Operand

Holder = Callable[[str], str]


@dataclass(frozen=True)
class _View:
    """An operand, or the result, with sizes as `Expr`."""

    array: str
    whole: bool
    turned: bool  # the buffer's own two axes in the other order
    shape: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    start: Expr = Expr()

    def __str__(self) -> str:
        if self.whole or self.turned:
            return self.array + ".T" * self.turned
        start = f", {self.start}" if self.start.terms else ""
        return f"strided({self.array}, {_tuple(self.shape)}, {_tuple(self.strides)}{start})"


def product(step: Extern, holder: Holder) -> str:
    left, right = (_view(operand, holder) for operand in step.operands)
    out = _View(f"{holder(step.out.name)}.array", True, False, step.out.shape, step.out.strides)
    columns = 1 if len(right.shape) > 1 else 0
    if len(left.shape) > 2 and len(right.shape) <= 2 and _even(left, 1):
        left, out = _as_rows(left, 1), _as_rows(out, columns)
    return f"numpy.matmul({left}, {right}, out={out})"


def _view(operand: Operand, holder: Holder) -> _View:
    shape, strides = exprs(operand.shape), exprs(operand.strides)
    start, buffer = Expr.of(operand.offset), operand.buffer
    turned = (shape[::-1], strides[::-1], start) == (buffer.shape, buffer.strides, Expr())
    turned = turned and len(shape) == 2 and not operand.whole
    return _View(f"{holder(buffer.name)}.array", operand.whole, turned, shape, strides, start)


def _even(view: _View, last: int) -> bool:
    """Are all axes but the last ones steps of one length?"""
    axes = range(len(view.shape) - last - 1)
    return all(view.strides[k] == view.strides[k + 1] * view.shape[k + 1] for k in axes)


def _as_rows(view: _View, last: int) -> _View:
    """All axes but the last ones as one."""
    cut = len(view.shape) - last
    shape = (product_of(view.shape[:cut]), *view.shape[cut:])
    return _View(view.array, False, False, shape, view.strides[cut - 1:], view.start)


def _tuple(sizes: Sequence[Expr]) -> str:
    return f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"
