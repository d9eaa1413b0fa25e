"""What `make bench` runs: the work of real programs, written once in torch's words.

In: a framework that has these words (the lab, PyTorch, for functions also `words.py`), and `wrap`,
which compiles, or not.  Out: for each workload something to call, which returns what it computed.
Invariant: only the standard library and numpy are imported, so that a peer's environment can run
this; all inputs are drawn by numpy from one seed, so all frameworks see the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Call = Callable[[], Any]


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


class Function:
    """A function of tensors, without gradients."""

    def __init__(self, function: Callable[..., Any], *shapes: tuple[int, ...]) -> None:
        self.function, self.shapes = function, shapes

    def inputs(self) -> list[np.ndarray]:
        return [numbers(*shape, seed=k) for k, shape in enumerate(self.shapes)]

    def call(self, torch: Any, wrap: Callable) -> Call:
        inputs = [torch.from_numpy(array) for array in self.inputs()]
        function = wrap(lambda *args: self.function(torch, *args))
        return lambda: function(*inputs)


class Backward(Function):
    """The backward alone, of a result that is kept; all inputs get a gradient."""

    def given(self, shape: tuple[int, ...]) -> np.ndarray:
        """The gradient of the result."""
        return numbers(*shape, seed=9)

    def call(self, torch: Any, wrap: Callable) -> Call:
        inputs = [torch.from_numpy(array).requires_grad_() for array in self.inputs()]
        result = wrap(lambda *args: self.function(torch, *args))(*inputs)
        given = torch.from_numpy(self.given(result.shape))
        return lambda: torch.autograd.grad(result, inputs, given, retain_graph=True)


class Training:
    """A whole step: loss, backward and, where there is one, the optimizer."""

    def __init__(self, build: Callable[[Any], tuple], optimizer: bool = False) -> None:
        self.build, self.optimizer = build, optimizer

    def call(self, torch: Any, wrap: Callable) -> Call:
        torch.manual_seed(0)
        model, loss, inputs = self.build(torch)
        loss = wrap(loss)
        parameters = list(model.parameters())
        optimizer = torch.optim.AdamW(parameters, lr=1e-3) if self.optimizer else None
        step = wrap(optimizer.step) if optimizer else None

        def run() -> Any:
            for parameter in parameters:
                parameter.grad = None
            found = loss(model, *inputs)
            found.backward()
            if step:
                step()
            return found

        return run


class Update:
    """Adam over many tensors."""

    def __init__(self, count: int, elements: int) -> None:
        self.count, self.each = count, elements // count

    def call(self, torch: Any, wrap: Callable) -> Call:
        parameters = [
            torch.from_numpy(numbers(self.each, seed=k)).requires_grad_()
            for k in range(self.count)
        ]
        for k, parameter in enumerate(parameters):
            parameter.grad = torch.from_numpy(numbers(self.each, seed=k + 99))
        step = wrap(torch.optim.Adam(parameters, lr=1e-3).step)

        def run() -> Any:
            step()
            return parameters[0]

        return run


def chain(torch: Any, x: Any, bias: Any) -> Any:
    return torch.relu(x + bias) * 2


def gelu_tanh(torch: Any, x: Any) -> Any:
    return torch.nn.functional.gelu(x, approximate="tanh")


def bias_gelu(torch: Any, x: Any, bias: Any) -> Any:
    return gelu_tanh(torch, x + bias)


def layer_norm(torch: Any, x: Any, weight: Any, bias: Any) -> Any:
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), weight, bias)


def softmax(torch: Any, x: Any) -> Any:
    return torch.softmax(x, -1)


def mlp(activation: str, rows: int = 256) -> Callable[[Any], tuple]:
    """Rows through 784-512-512-10, and their cross entropy."""

    def build(torch: Any) -> tuple:
        nn = torch.nn
        made = getattr(nn, activation)
        model = nn.Sequential(
            nn.Linear(784, 512), made(), nn.Linear(512, 512), made(), nn.Linear(512, 10)
        )
        x = torch.from_numpy(numbers(rows, 784))
        y = torch.from_numpy(np.random.default_rng(1).integers(0, 10, rows))
        return model, lambda model, x, y: nn.functional.cross_entropy(model(x), y), (x, y)

    return build


def transformer(torch: Any) -> tuple:
    """Two blocks of width 128 with four heads over 2 sequences of 64."""
    nn, functional = torch.nn, torch.nn.functional

    class Block(nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(128), nn.LayerNorm(128)
            self.attention = nn.MultiheadAttention(128, 4, batch_first=True)
            self.up, self.down = nn.Linear(128, 512), nn.Linear(512, 128)

        def forward(self, x: Any) -> Any:
            h = self.norm1(x)
            x = x + self.attention(h, h, h, need_weights=False)[0]
            return x + self.down(functional.gelu(self.up(self.norm2(x))))

    x, y = (torch.from_numpy(numbers(2, 64, 128, seed=k)) for k in (0, 1))
    loss = lambda model, x, y: functional.mse_loss(model(x), y)
    return nn.Sequential(Block(), Block()), loss, (x, y)


@dataclass(frozen=True)
class Workload:
    """`bars`: the lab's time over that of each of these candidates is to be at most this. `stream`:
    how much of the bandwidth that the machine has is to be reached."""

    work: Function | Training | Update
    bars: dict[str, float]
    stream: float = 0.0


def gelu_erf(torch: Any, x: Any) -> Any:
    return torch.nn.functional.gelu(x)


def workloads(small: bool = False) -> dict[str, Workload]:
    """By name, in the order of the table. `small`: the same on few numbers, to try the harness."""
    many = (lambda n: (24,)) if small else (lambda n: (n,))
    wide = (8, 16) if small else (4096, 1024)
    row, rows, each = (wide[1],), 8 if small else 256, 320 if small else 2_200_000
    compiled, eager, jax, numpy = "torch compiled", "torch eager", "jax", "numpy"
    return {
        "relu(x + b) * 2, 4": Workload(Function(chain, (4,), (4,)), {compiled: 0.08, numpy: 1}),
        "relu(x + b) * 2, 262,144": Workload(
            Function(chain, many(1 << 18), many(1 << 18)), {compiled: 0.47, jax: 1}, stream=0.9
        ),
        "relu(x + b) * 2, 16M": Workload(
            Function(chain, many(1 << 24), many(1 << 24)), {compiled: 0.4, jax: 1}
        ),
        "gelu tanh, 1M": Workload(Function(gelu_tanh, many(1 << 20)), {compiled: 0.25, jax: 1}),
        "bias + gelu, 4096 x 1024": Workload(
            Function(bias_gelu, wide, row), {compiled: 0.25, jax: 1}
        ),
        "its backward, dx and db": Workload(
            Backward(bias_gelu, wide, row), {compiled: 0.35, jax: 1}
        ),
        "gelu erf, 1M": Workload(Function(gelu_erf, many(1 << 20)), {compiled: 0.65, eager: 1}),
        "exp, 1M": Workload(
            Function(lambda torch, x: torch.exp(x), many(1 << 20)), {compiled: 0.7}
        ),
        "sigmoid, 1M": Workload(
            Function(lambda torch, x: torch.sigmoid(x), many(1 << 20)), {compiled: 0.65}
        ),
        "softmax, 4096 x 1024": Workload(Function(softmax, wide), {compiled: 0.6, eager: 1}),
        "softmax backward": Workload(Backward(softmax, wide), {compiled: 0.8}),
        "layer norm, 4096 x 1024": Workload(
            Function(layer_norm, wide, row, row), {compiled: 0.55, eager: 1}
        ),
        "layer norm backward": Workload(Backward(layer_norm, wide, row, row), {compiled: 0.8}),
        "sum of 4M": Workload(Function(lambda torch, x: x.sum(), many(1 << 22)), {compiled: 0.9}),
        "sum over rows": Workload(Function(lambda torch, x: x.sum(1), wide), {compiled: 0.8}),
        "sum over columns": Workload(Function(lambda torch, x: x.sum(0), wide), {compiled: 0.45}),
        "var_mean over rows": Workload(
            Function(lambda torch, x: torch.var_mean(x, 1), wide), {compiled: 0.5}
        ),
        "Adam, 32 tensors, 2.2M": Workload(Update(32, each), {compiled: 0.45}),
        "MLP relu, forward and backward": Workload(Training(mlp("ReLU", rows)), {compiled: 1}),
        "MLP gelu, forward and backward": Workload(Training(mlp("GELU", rows)), {compiled: 0.9}),
        "two transformer blocks, AdamW step": Workload(
            Training(transformer, optimizer=True), {compiled: 0.9}
        ),
    }
