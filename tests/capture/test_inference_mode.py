"""Blocks of inference_mode within a call: what they make is what eager makes, on every backend."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore.compiler import disable
from labcore.compiler._dynamo.testing import CompileCounter

from .differential import strict


@disable
def observe(x):
    assert x.is_inference()


@torch.inference_mode()
def inferred(x):
    return x * 2


def two_made(x):
    with torch.inference_mode():
        y = x * 2
        z = [y + 1, y]
    return z, y, x + 1, inferred(x)


def used_after(x):
    y = inferred(x)
    return y + 1, y * y, y.detach() if False else y


def normal_again(x):
    with torch.inference_mode():
        y = x * 2
        with torch.inference_mode(False):
            z = x * 3
    return y, z


def view_in_it(x):
    with torch.inference_mode():
        y = x * 2
        return y, y.view(2, 1), x.view(2, 1)


def view_after_it(x):
    y = inferred(x)
    return y.view(2, 1), y


def saved_after_it(x):
    return inferred(x) * x


def written_after_it(x):
    return inferred(x).add_(1)


def written_in_it(x):
    with torch.inference_mode():
        return x.clone().add_(1)


def stopped_in_it(x):
    with torch.inference_mode():
        y = x * 2
        observe(y)
        z = y * 3
    return y, z, x + 1


def facts(value):
    """What can be told of a result; an error by what it says."""
    if isinstance(value, (tuple, list)):
        return [facts(part) for part in value]
    return value.tolist(), value.is_inference(), value.requires_grad, value.is_leaf


def told(function, x):
    try:
        return facts(function(x))
    except RuntimeError as error:
        return str(error)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize(
    "function",
    [
        two_made, used_after, normal_again, view_in_it, view_after_it, saved_after_it,
        written_after_it, written_in_it, stopped_in_it,
    ],
)  # fmt: skip
def test_inference_mode(function, backend):
    for wanted in (True, False):
        x = torch.tensor([1.0, -2.0], requires_grad=wanted)
        compiled = torch.compile(function, backend=backend)
        with strict():
            assert told(compiled, x) == told(compiled, x) == told(function, x)
            with torch.inference_mode():
                assert told(compiled, x) == told(function, x)


@pytest.mark.parametrize("function", [two_made, used_after, normal_again])
def test_inference_mode_is_one_graph(function):
    counter = CompileCounter()
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    torch.compile(function, backend=counter, fullgraph=True)(x)
    assert counter.frame_count == 1


def test_a_tensor_of_inference_mode_is_refused_by_a_backward_as_eagerly():
    made, x = torch.compile(inferred)(torch.ones(2)), torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * made
