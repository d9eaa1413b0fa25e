"""Networks train compiled as they train eagerly: the same losses, in one graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import labcore as torch
from labcore.measure import training
from labcore.measure.networks import Convolutional, Transformer

F = torch.nn.functional
STEPS = 8


def train(model: torch.nn.Module, run: Callable, inputs: list, targets: list) -> list[float]:
    losses = []
    for x, y in zip(inputs, targets):
        loss = F.cross_entropy(run(x).flatten(0, -2), y.flatten())
        model.zero_grad()
        loss.backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.sub_(parameter.grad, alpha=0.1)
        losses.append(loss.item())
    return losses


def both(make: Callable, inputs: list, targets: list, backend: str) -> None:
    torch.manual_seed(0)
    eager = make()
    compiled = make()
    compiled.load_state_dict(eager.state_dict())
    torch.manual_seed(1)
    wanted = train(eager, eager, inputs, targets)
    torch.manual_seed(1)
    run = torch.compile(compiled, backend=backend, fullgraph=True)
    assert train(compiled, run, inputs, targets) == pytest.approx(wanted, abs=1e-4)
    assert wanted[-1] < wanted[0]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_transformer(backend: str) -> None:
    words = (torch.arange(4 * 9) * 7 % 11).view(4, 9)
    inputs, targets = [words[:, :-1]] * STEPS, [words[:, 1:]] * STEPS
    both(lambda: Transformer(11, 16, 4, 2), inputs, targets, backend)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_convolutional(backend: str, dropout: float) -> None:
    torch.manual_seed(3)
    images, classes = torch.randn(6, 1, 8, 8), torch.arange(6) % 3
    both(lambda: Convolutional(dropout), [images] * STEPS, [classes] * STEPS, backend)


def test_one_graph_and_no_recompile() -> None:
    counter = torch._dynamo.testing.CompileCounter()
    model = Transformer(11, 16, 4, 2)
    run = torch.compile(model, backend=counter, fullgraph=True)
    words = (torch.arange(4 * 9) * 7 % 11).view(4, 9)
    train(model, run, [words] * 3, [words] * 3)
    assert counter.frame_count == 1


def test_batch_norm_learns_the_same_statistics() -> None:
    torch.manual_seed(2)
    first = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    second = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    second.load_state_dict(first.state_dict())
    run = torch.compile(second)
    for _ in range(3):
        x = torch.randn(5, 3)
        torch.testing.assert_close(run(x), first(x))
    for name, value in first.state_dict().items():
        torch.testing.assert_close(second.state_dict()[name], value)


@pytest.mark.parametrize(("make", "batches"), [
    (training.transformer, training.words(50)), (Convolutional, training.images(50)),
], ids=["transformer", "convolutional"])  # fmt: skip
def test_fifty_steps(make: Callable, batches: Any) -> None:
    """At the size that `make bench` measures: the same losses, one graph, nothing compiled after
    the second step, and each step takes less time than the eager one beside it."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # small matrices, on a machine that does something else besides
    eager, compiled = training.train(make, batches)
    torch.set_num_threads(threads)
    assert compiled.losses == pytest.approx(eager.losses, abs=1e-4)
    assert len(eager.losses) == 50 and eager.losses[-1] < eager.losses[0]
    assert compiled.graphs == 1
    assert compiled.variants[0] == (1, 1) and set(compiled.variants[1:]) == {(1, 2)}
    assert training.faster(eager, compiled) > 1
