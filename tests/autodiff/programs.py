"""Random programs of operators.

A program is a list of steps; each picks an operator, and operands among what there is so far.
Running it calls operators, so the same program computes on tensors and writes a graph on nodes.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import labcore as torch
from labcore import ops

SHAPES = [(2, 3), (3,), (1, 3), (2, 1), (), (3, 2)]


def _summed(x: Any, dim: int) -> Any:
    return ops.sum(x, dim % max(x.meta.ndim, 1) if x.meta.ndim else None, bool(dim & 1))


def _reshaped(x: Any, dim: int) -> Any:
    n = x.meta.numel
    return ops.reshape(x, (-1,) if dim == 0 or n == 0 else (n, 1) if dim == 1 else (1, n))


def _selected(x: Any, dim: int) -> Any:
    return ops.select(x, dim % x.meta.ndim, dim - 1) if x.meta.ndim else ops.unsqueeze(x, 0)


def _sliced(x: Any, dim: int) -> Any:
    return ops.slice(x, dim % x.meta.ndim, dim & 1, None, 1 + dim % 2) if x.meta.ndim else x


def _turned(x: Any, dim: int) -> Any:
    return ops.t(x) if dim == 0 and x.meta.ndim <= 2 else ops.transpose(x, 0, -1)


def _multiplied(x: Any, y: Any) -> Any:
    if x.meta.ndim and y.meta.ndim and x.meta.dtype is y.meta.dtype:
        inner = y.meta.shape[-2] if y.meta.ndim > 1 else y.meta.shape[0]
        if x.meta.shape[-1] == inner:
            return ops.matmul(x, y)
    return ops.mul(x, y)


def _scattered(x: Any, y: Any) -> Any:
    """`y`'s first elements where `x` has its last."""
    if not x.meta.ndim or x.meta.dtype is not y.meta.dtype:
        return ops.minimum(x, y)
    return ops.select_scatter(x, ops.expand(ops.amax(y), x.meta.shape[1:]), 0, -1)


ONE: list[Callable[[Any], Any]] = [
    ops.relu, ops.sin, ops.tanh, ops.neg, ops.abs, ops.sigmoid, ops.clone, ops.contiguous,
    lambda x: ops.mul(x, 0.5), lambda x: ops.add(x, 1), lambda x: ops.sub(2, x),
    lambda x: ops.gt(x, 0.25), lambda x: ops.to(x, torch.float64), lambda x: ops.to(x, torch.int64),
    lambda x: ops.clamp(x, -0.5, 0.5), lambda x: ops.exp(ops.clamp(x, -2.0, 2.0)),
    lambda x: ops.sqrt(ops.add(ops.square(x), 0.5)), lambda x: ops.log(ops.add(ops.abs(x), 1.0)),
    lambda x: ops.pow(ops.tanh(x), 3), lambda x: ops.reciprocal(ops.add(ops.square(x), 1.0)),
    lambda x: ops.rsqrt(ops.add(ops.square(x), 1.0)), ops.erf, ops.cos,
]
DIMMED: list[Callable[[Any, int], Any]] = [
    _summed, _reshaped, _selected, _sliced, _turned,
    lambda x, dim: ops.unsqueeze(x, dim % (x.meta.ndim + 1)), lambda x, dim: ops.squeeze(x),
    lambda x, dim: ops.expand(x, (2, *x.meta.shape)), lambda x, dim: ops.flatten(x),
    lambda x, dim: ops.mean(x), lambda x, dim: ops.amax(x, dim % x.meta.ndim if x.meta.ndim else 0),
]
TWO: list[Callable[[Any, Any], Any]] = [
    ops.add, ops.mul, ops.sub, ops.maximum, _multiplied,
    lambda x, y: ops.where(ops.gt(x, 0), x, y),
    lambda x, y: ops.div(x, ops.add(ops.mul(y, y), 1.0)),
    lambda x, y: ops.cat([ops.reshape(x, (-1,)), ops.reshape(y, (-1,))]),
    lambda x, y: ops.stack([x, y]), ops.minimum, _scattered,
]
CUT: list[Callable[[Any], Any]] = [ops.detach, ops._stop_gradient]


@dataclass(frozen=True)
class Program:
    """`inputs`: (shape, requires grad) each.  `steps`: (kind, which, first operand, second).

    `returned` has positions among the inputs and the results.
    """

    inputs: tuple[tuple[tuple[int, ...], bool], ...]
    steps: tuple[tuple[int, int, int, int], ...]
    returned: tuple[int, ...]

    def __call__(self, *inputs: Any) -> tuple:
        values = list(inputs)
        for kind, which, first, second in self.steps:
            x, y = values[first % len(values)], values[second % len(values)]
            try:
                values.append(self._step(kind, which, x, y, second))
            except (RuntimeError, IndexError):
                continue  # operands that do not fit: in both modes, for they share the meta rule
        return tuple(values[r % len(values)] for r in self.returned)

    @staticmethod
    def _step(kind: int, which: int, x: Any, y: Any, number: int) -> Any:
        if kind == 0:
            return ONE[which % len(ONE)](x)
        if kind == 3:
            return CUT[which % len(CUT)](x)
        if kind == 1:
            return DIMMED[which % len(DIMMED)](x, number % 3)
        return TWO[which % len(TWO)](x, y)


numbers = st.integers(0, 20)


def _programs(kinds: int) -> st.SearchStrategy[Program]:
    step = st.tuples(st.integers(0, kinds - 1), numbers, numbers, numbers)
    given = st.tuples(st.sampled_from(SHAPES), st.booleans())
    return st.builds(
        Program,
        st.lists(given, min_size=1, max_size=3).map(tuple),
        st.lists(step, min_size=3, max_size=9).map(tuple),
        st.lists(numbers, min_size=1, max_size=4).map(tuple),
    )


smooth_programs = _programs(3)  # gradients flow through all of them
programs = _programs(4)


def inputs_of(program: Program, dtype: Any = torch.float32) -> list[Any]:
    generator = np.random.default_rng(7)
    return [
        torch.tensor(generator.standard_normal(shape).tolist(), dtype=dtype, requires_grad=grad)
        for shape, grad in program.inputs
    ]
