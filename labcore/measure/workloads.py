"""What `make bench` runs: the work of real programs, written once in torch's words.

In: a framework that has these words, the lab or PyTorch.  Out: for each workload its inputs and
what is called; `compiled` wraps it in that framework's `compile`.
Invariant: only the standard library and numpy are imported, so that a peer's environment can run
this; all inputs are drawn by numpy from one seed, so all frameworks see the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Call = Callable[[], Any]
WIDE = (4096, 1024)


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


class Inference:
    """A function of tensors, called without gradients."""

    def __init__(self, function: Callable[..., Any], *shapes: tuple[int, ...]) -> None:
        self.function, self.shapes = function, shapes

    def call(self, torch: Any, wrap: Callable) -> Call:
        inputs = [torch.from_numpy(numbers(*s, seed=k)) for k, s in enumerate(self.shapes)]
        function = wrap(lambda *args: self.function(torch, *args))

        def run() -> Any:
            with torch.inference_mode():
                return function(*inputs)

        return run


class Backward:
    """The backward alone, of a result that is kept; all inputs get a gradient."""

    def __init__(self, function: Callable[..., Any], *shapes: tuple[int, ...]) -> None:
        self.function, self.shapes = function, shapes

    def call(self, torch: Any, wrap: Callable) -> Call:
        inputs = [
            torch.from_numpy(numbers(*s, seed=k)).requires_grad_()
            for k, s in enumerate(self.shapes)
        ]
        result = wrap(lambda *args: self.function(torch, *args))(*inputs)
        given = torch.from_numpy(numbers(*result.shape, seed=9))
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

        def run() -> None:
            for parameter in parameters:
                parameter.grad = None
            loss(model, *inputs).backward()
            if step:
                step()

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
        optimizer = torch.optim.Adam(parameters, lr=1e-3)
        return wrap(optimizer.step)


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


def mlp(activation: str) -> Callable[[Any], tuple]:
    """256 rows through 784-512-512-10, and their cross entropy."""

    def build(torch: Any) -> tuple:
        nn = torch.nn
        made = getattr(nn, activation)
        model = nn.Sequential(
            nn.Linear(784, 512), made(), nn.Linear(512, 512), made(), nn.Linear(512, 10)
        )
        x = torch.from_numpy(numbers(256, 784))
        y = torch.from_numpy(np.random.default_rng(1).integers(0, 10, 256))
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


MILLION = (1 << 20,)
WORKLOADS: dict[str, Inference | Backward | Training | Update] = {
    "relu(x + b) * 2, 4": Inference(chain, (4,), (4,)),
    "relu(x + b) * 2, 262,144": Inference(chain, (1 << 18,), (1 << 18,)),
    "relu(x + b) * 2, 16M": Inference(chain, (1 << 24,), (1 << 24,)),
    "gelu tanh, 1M": Inference(gelu_tanh, MILLION),
    "bias + gelu, 4096 x 1024": Inference(bias_gelu, WIDE, (1024,)),
    "its backward, dx and db": Backward(bias_gelu, WIDE, (1024,)),
    "gelu erf, 1M": Inference(lambda torch, x: torch.nn.functional.gelu(x), MILLION),
    "exp, 1M": Inference(lambda torch, x: torch.exp(x), MILLION),
    "sigmoid, 1M": Inference(lambda torch, x: torch.sigmoid(x), MILLION),
    "softmax, 4096 x 1024": Inference(softmax, WIDE),
    "softmax backward": Backward(softmax, WIDE),
    "layer norm, 4096 x 1024": Inference(layer_norm, WIDE, (1024,), (1024,)),
    "layer norm backward": Backward(layer_norm, WIDE, (1024,), (1024,)),
    "sum of 4M": Inference(lambda torch, x: x.sum(), (1 << 22,)),
    "sum over rows": Inference(lambda torch, x: x.sum(1), WIDE),
    "sum over columns": Inference(lambda torch, x: x.sum(0), WIDE),
    "var_mean over rows": Inference(lambda torch, x: torch.var_mean(x, 1), WIDE),
    "Adam, 32 tensors, 2.2M": Update(32, 2_200_000),
    "MLP relu, forward and backward": Training(mlp("ReLU")),
    "MLP gelu, forward and backward": Training(mlp("GELU")),
    "two transformer blocks, AdamW step": Training(transformer, optimizer=True),
}
