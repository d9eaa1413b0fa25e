"""Random programs, compiled and in eager mode: same values, flags, strides, sharing and gradients.

A program is a list of steps; each picks an operator, and operands among what there is so far.
Running it calls operators, so the same program computes on tensors and writes a graph on nodes.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import given, strategies as st

import labcore as torch
from labcore import ops
from labcore.autodiff import AutodiffOptions, aot_compile
from labcore.graph import GraphModule, verify

from .graphs import graph_of
from .test_runtime import Phases

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


ONE: list[Callable[[Any], Any]] = [
    ops.relu, ops.sin, ops.tanh, ops.neg, ops.abs, ops.sigmoid, ops.clone, ops.contiguous,
    lambda x: ops.mul(x, 0.5), lambda x: ops.add(x, 1), lambda x: ops.sub(2, x),
    lambda x: ops.gt(x, 0.25), lambda x: ops.to(x, torch.float64), lambda x: ops.to(x, torch.int64),
    lambda x: ops.clamp(x, -0.5, 0.5), lambda x: ops.exp(ops.clamp(x, -2.0, 2.0)),
]
DIMMED: list[Callable[[Any, int], Any]] = [
    _summed, _reshaped, _selected, _sliced, _turned,
    lambda x, dim: ops.unsqueeze(x, dim % (x.meta.ndim + 1)), lambda x, dim: ops.squeeze(x),
    lambda x, dim: ops.expand(x, (2, *x.meta.shape)), lambda x, dim: ops.flatten(x),
]
TWO: list[Callable[[Any, Any], Any]] = [
    ops.add, ops.mul, ops.sub, ops.maximum, _multiplied,
    lambda x, y: ops.where(ops.gt(x, 0), x, y),
    lambda x, y: ops.div(x, ops.add(ops.mul(y, y), 1.0)),
    lambda x, y: ops.cat([ops.reshape(x, (-1,)), ops.reshape(y, (-1,))]),
]


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
        if kind == 1:
            return DIMMED[which % len(DIMMED)](x, number % 3)
        return TWO[which % len(TWO)](x, y)


numbers = st.integers(0, 20)
step = st.tuples(st.integers(0, 2), numbers, numbers, numbers)
programs = st.builds(
    Program,
    st.lists(st.tuples(st.sampled_from(SHAPES), st.booleans()), min_size=1, max_size=3).map(tuple),
    st.lists(step, min_size=3, max_size=9).map(tuple),
    st.lists(numbers, min_size=1, max_size=4).map(tuple),
)


def inputs_of(program: Program) -> list[Any]:
    generator = np.random.default_rng(7)
    return [
        torch.tensor(generator.standard_normal(shape).tolist(), requires_grad=grad)
        for shape, grad in program.inputs
    ]


def differentiate(outputs: tuple, inputs: list[Any]) -> list[Any]:
    """Gradients from an uneven gradient of every other output that has a history."""
    seen: dict[int, Any] = {id(t): t for t in outputs[::2] if t.grad_fn is not None}
    loss = None
    for tensor in seen.values():
        weights = ops.reshape(ops.arange(1, tensor.numel() + 1), tuple(tensor.shape))
        part = ops.sum(ops.mul(tensor, ops.to(weights, torch.float64)))
        loss = part if loss is None else ops.add(loss, part)
    if loss is not None:
        loss.backward()
    return [t.grad for t in inputs]


choices = st.one_of(
    st.just(AutodiffOptions()),
    st.builds(AutodiffOptions, st.just("min_cut"), st.sampled_from([0.0, 0.5, 1.0])),
)


@given(programs, choices)
def test_compiled_is_eager(program: Program, options: AutodiffOptions) -> None:
    inputs, others = inputs_of(program), inputs_of(program)
    graph = graph_of(program, *[t.meta for t in inputs])
    module = GraphModule(verify(graph))
    outputs = aot_compile(module, inputs, Phases(), options=options)(*inputs)
    expected = program(*others)
    for ours, eager in zip(outputs, expected, strict=True):
        assert layout(ours) == layout(eager)
        assert (ours.requires_grad, ours.is_leaf) == (eager.requires_grad, eager.is_leaf)
        np.testing.assert_array_equal(ours.detach().numpy(), eager.detach().numpy())
    assert sharing(outputs, inputs) == sharing(expected, others)
    gradients = differentiate(outputs, inputs), differentiate(expected, others)
    for ours, eager in zip(*gradients, strict=True):
        assert (ours is None) == (eager is None)
        if ours is not None:
            assert layout(ours) == layout(eager)
            np.testing.assert_allclose(ours.numpy(), eager.numpy(), rtol=1e-5, atol=1e-6)


def layout(tensor: Any) -> tuple:
    return tensor.dtype, tensor.shape, tensor.stride()


def sharing(outputs: tuple, inputs: list[Any]) -> list[Any]:
    """Which outputs are the same object, which show the same memory, and where in it they begin."""
    tensors = [*inputs, *outputs]

    def first(key: Callable[[Any], int]) -> list[int]:
        keys = [key(t) for t in tensors]
        return [keys.index(k) for k in keys]

    return [first(id), first(lambda t: id(t.untyped_storage())),
            [t._base is None for t in tensors], [t.storage_offset() for t in tensors]]
