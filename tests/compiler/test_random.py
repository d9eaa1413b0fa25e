"""Random numbers in a graph: those of eager mode, in its order, and no more of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import labcore as torch

F = torch.nn.functional


def dropped(x):
    return F.dropout(torch.relu(x), 0.3) * 2


def twice(x):
    first = F.dropout(x, 0.5)
    second = torch.randn(3, 4) + x
    return second * first, torch.rand_like(x) - second


def with_break(x):
    y = F.dropout(x, 0.5)
    torch._dynamo.graph_break()
    return y + torch.rand(4)


def unused(x):
    torch.rand(2)
    return x + torch.rand(4)


def half_used(x):
    noise = torch.randn(4)
    return x + torch.zeros_like(noise) + torch.rand(4)


def seeded_inside(x):
    first = torch.rand(4) + x
    torch.manual_seed(3)
    return first * torch.rand(4)


PROGRAMS = [dropped, twice, with_break, unused, half_used, seeded_inside]


def run(program: Callable, x: torch.Tensor, seed: int) -> list:
    torch.manual_seed(seed)
    found = program(x)
    results = list(found) if isinstance(found, tuple) else [found]
    return [r.detach().tolist() for r in results] + [torch.rand(2).tolist()]


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_numbers_are_those_of_eager(program: Callable, backend: str) -> None:
    compiled = torch.compile(program, backend=backend)
    for wanted_grad in (False, True):
        x = torch.ones(3, 4, requires_grad=wanted_grad)
        for seed in (1, 2, 1):
            assert run(compiled, x, seed) == run(program, x, seed)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_the_backward_uses_the_mask_of_the_forward(backend: str) -> None:
    grads = []
    for program in (dropped, torch.compile(dropped, backend=backend)):
        x = torch.ones(5, 6, requires_grad=True)
        torch.manual_seed(7)
        program(x).sum().backward()
        grads.append((x.grad.tolist(), torch.rand(1).tolist()))
    assert grads[0] == grads[1]


def test_dropout_is_one_graph_whatever_the_size() -> None:
    compiled = torch.compile(dropped, fullgraph=True)
    for rows in (3, 5, 8):
        x = torch.ones(rows, 4)
        assert run(compiled, x, 4) == run(dropped, x, 4)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_graph_that_raises_has_drawn_nothing(backend):
    """An index that does not exist is met after a draw; eager mode runs the call again."""

    def function(x, index):
        noise = torch.rand(3)
        return x[index] + noise

    def drawn(run, index):
        torch.manual_seed(0)
        with pytest.raises(IndexError):
            run(torch.arange(4.0), index)
        return torch.rand(2).tolist()

    compiled = torch.compile(function, backend=backend)
    compiled(torch.arange(4.0), torch.tensor([0, 1, 2]))
    wrong = torch.tensor([0, 1, 9])
    assert drawn(compiled, wrong) == drawn(function, wrong)
