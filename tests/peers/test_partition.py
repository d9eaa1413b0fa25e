"""What is saved for the backward, beside PyTorch's partitioners with Inductor's decompositions."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import labcore
from labcore import trace

torch = pytest.importorskip("torch")


def wave(torch: Any, x: Any, w: Any) -> Any:
    return torch.tanh(torch.sin(x * w) + 1)


def wave_inside(torch: Any, x: Any, w: Any) -> Any:
    return torch.tanh(torch.sin(x * w)) + 1


def block(torch: Any, x: Any, w: Any) -> Any:
    return torch.relu(x + w) * 2


def product(torch: Any, x: Any, w: Any) -> Any:
    return torch.sin(torch.matmul(x, w))


def chain(torch: Any, x: Any, w: Any) -> Any:
    return torch.cos(torch.sin(torch.exp(x * w)))


def theirs(function: Callable[..., Any], partition: Any) -> int:
    """Bytes of what PyTorch's forward hands to its backward."""
    from torch._functorch.aot_autograd import aot_function, make_boxed_func
    from torch._inductor.decomposition import select_decomp_table

    found: list[int] = []

    def forward(gm: Any, example_inputs: Any) -> Any:
        (outputs,) = next(node for node in gm.graph.nodes if node.op == "output").args
        saved = [node.meta["val"] for node in outputs[1:]]
        found.append(sum(value.numel() * value.element_size() for value in saved))
        return make_boxed_func(gm.forward)

    compiled = aot_function(
        lambda *args: function(torch, *args), fw_compiler=forward,
        bw_compiler=lambda gm, _: make_boxed_func(gm.forward), partition_fn=partition,
        decompositions=select_decomp_table(),
    )
    compiled(*(torch.ones(4, 4, requires_grad=True) for _ in range(2))).sum().backward()
    return found[0]


def ours(function: Callable[..., Any], partitioner: str) -> int:
    def program(*args: Any) -> Any:
        return function(labcore, *args)

    compiled = labcore.compile(program, options={"partitioner": partitioner})
    with trace.record() as story:
        compiled(*(labcore.ones(4, 4, requires_grad=True) for _ in range(2)))
    return next(g.saved_bytes for g in story.of(trace.AotGraph) if g.phase == "forward")


@pytest.mark.parametrize("function", [wave, wave_inside, block, product, chain])
def test_the_min_cut_saves_as_many_bytes(function: Callable[..., Any]) -> None:
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    assert ours(function, "min_cut") == theirs(function, min_cut_rematerialization_partition)


@pytest.mark.parametrize("function", [wave, wave_inside, product])
def test_the_default_saves_as_many_bytes(function: Callable[..., Any]) -> None:
    from torch._functorch.partitioners import default_partition

    assert ours(function, "default") == theirs(function, default_partition)
