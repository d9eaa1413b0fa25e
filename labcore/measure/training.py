"""Networks that train eager and compiled, step by step in turn: losses, graphs, and how long.

    python -m labcore.measure.training

In: nothing.  Out: seconds a step, and the ratio of both; the ratio is the median over the steps
after the first ones, as the two runs take turns and a busy machine slows both.
Both begin with the same parameters and see the same data. What is compiled is the loss of a batch
and the optimizer's step; the backward is compiled when it first runs.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import labcore as torch
from labcore.compiler.backends import lookup
from labcore.compiler.compile import state_of

from .networks import Convolutional, Transformer

F = torch.nn.functional
WARM = 3  # steps that may compile


class Counting:
    """inductor; `graphs` is how many it was given."""

    def __init__(self) -> None:
        self.graphs = 0

    def __call__(self, gm: Any, example_inputs: list[Any], **options: Any) -> Callable[..., Any]:
        self.graphs += 1
        return lookup("inductor")(gm, example_inputs, **options)


@dataclass
class Run:
    """What one way of training did; a number a step. `variants`: how often it had compiled by then,
    the loss and the optimizer's step."""

    losses: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    variants: list[tuple[int, int]] = field(default_factory=list)
    graphs: int = 0  # of the loss


class Training:
    """A network and AdamW. `counter`: the backend that compiles both; None leaves them eager."""

    def __init__(self, model: torch.nn.Module, counter: Counting | None = None) -> None:
        self.model, self.counter, self.done = model, counter, Run()
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        self.loss: Any = self._loss
        self.update: Any = self.optimizer.step
        if counter is not None:
            self.loss = torch.compile(self.loss, backend=counter, fullgraph=True)
            self.update = torch.compile(self.update, backend="inductor", fullgraph=True)

    def _loss(self, x: Any, y: Any) -> Any:
        return F.cross_entropy(self.model(x).flatten(0, -2), y.flatten())

    def step(self, x: Any, y: Any) -> None:
        begin = perf_counter()
        loss = self.loss(x, y)
        self.optimizer.zero_grad()
        loss.backward()
        self.update()
        self.done.seconds.append(perf_counter() - begin)
        self.done.losses.append(loss.item())
        if self.counter is not None:
            both = self.loss, self.update
            one, other = (len(state_of(compiled).cache.variants) for compiled in both)
            self.done.variants.append((one, other))
            self.done.graphs = self.counter.graphs


def train(make: Callable[[], torch.nn.Module], batches: Iterator[tuple]) -> tuple[Run, Run]:
    """(eager, compiled)."""
    torch.manual_seed(0)
    first, second = make(), make()
    second.load_state_dict(first.state_dict())
    eager, compiled = Training(first), Training(second, Counting())
    for batch in batches:
        eager.step(*batch)
        compiled.step(*batch)
    return eager.done, compiled.done


def words(steps: int, batch: int = 2, length: int = 64) -> Iterator[tuple]:
    """Sentences in which the next word follows from the last one, and what comes next."""
    for step in range(steps):
        numbers: Any = torch.arange(batch * (length + 1))
        text = (numbers * 7 + step).view(batch, -1) % 32
        yield text[:, :-1].contiguous(), text[:, 1:].contiguous()


def images(steps: int, batch: int = 32) -> Iterator[tuple]:
    """Noise on one of three patterns, and which one."""
    patterns: Any = torch.randn(3, 1, 8, 8)
    numbers: Any = torch.arange(batch)
    for _ in range(steps):
        noise: Any = torch.randn(batch, 1, 8, 8)
        yield patterns[numbers % 3] + noise * 0.5, numbers % 3


def transformer() -> torch.nn.Module:
    return Transformer(32, 128, 4, 2)


def trainings(steps: int = 50) -> dict[str, tuple[Run, Run]]:
    """{network: (eager, compiled)}, on one thread."""
    torch.set_num_threads(1)
    return {
        "transformer, 2 blocks, d=128, 64 words": train(transformer, words(steps)),
        "CNN, 2 convolutions, 32 images": train(Convolutional, images(steps)),
    }


def step_time(run: Run) -> float:
    """Seconds a step, the median after the first ones."""
    return statistics.median(run.seconds[WARM:])


def faster(eager: Run, compiled: Run) -> float:
    """How many times the compiled step's time the eager step takes."""
    return statistics.median(a / b for a, b in zip(eager.seconds[WARM:], compiled.seconds[WARM:]))


if __name__ == "__main__":
    for name, (eager, compiled) in trainings().items():
        one, other = (1e3 * step_time(run) for run in (eager, compiled))
        ratio = faster(eager, compiled)
        print(f"{name:<40}{one:8.2f} ms eager{other:8.2f} ms compiled{ratio:8.2f} x")
