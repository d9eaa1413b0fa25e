"""Random programs, compiled and in eager mode: same values, flags, strides, memory, gradients."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, strategies as st

import labcore as torch
from labcore import ops
from labcore.autodiff import AutodiffOptions, aot_compile
from labcore.graph import GraphModule, verify

from .graphs import graph_of
from .programs import Program, inputs_of, programs
from .test_runtime import Phases


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
