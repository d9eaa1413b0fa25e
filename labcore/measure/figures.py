"""`python -m labcore.measure.figures`: the figures of this machine's card, for `lanes.Figures`.

Out: what an operator, a compiled call, a launch and a replay take the CPU, and what kernels reach.
Method: as in `watched.py`. A launch is what each further kernel of a compiled call adds, the rest
of a call of one kernel is its guards and program; a replay is what it takes beyond those.
"""

from __future__ import annotations

import sys
from dataclasses import fields
from typing import Any

from ..runtime.card import SiliconCard
from ..tensor.cuda import card as card_in_use
from .lanes import Figures
from .watched import device_times, host_time, steps_of

SMALL, LARGE, MATRIX = 1024, 1 << 28, 4096  # elements, elements, rows
REGION = 5  # times a softmax of rows and one of columns: kernels that do not fuse


def figures(of: str, large: int = LARGE, matrix: int = MATRIX) -> Figures:
    """Measure the card in use. `large`: elements of a copy; `matrix`: rows of a square product."""
    import labcore as torch

    card = card_in_use()
    assert isinstance(card, SiliconCard), "the simulated card has no clock"

    def region(x: Any) -> Any:
        for _ in range(REGION):
            x = torch.softmax(torch.softmax(x, -1), 0)
        return x

    def timed(fn: Any, x: Any, **options: Any) -> float:
        call = torch.compile(fn, **options) if options else fn
        for _ in range(5):
            call(x)
        return host_time(card, lambda: call(x))

    def kernel(fn: Any, *given: Any) -> float:
        steps = steps_of(card, lambda: fn(*given))
        return sum(device_times(card, steps.steps))

    with torch.no_grad():
        x, square = torch.ones(SMALL).cuda(), torch.ones(32, 32).cuda()
        plus = lambda x: x + 1
        many = len(steps_of(card, lambda: torch.compile(region)(square)).steps)
        one, all_ = timed(plus, x, mode="default"), timed(region, square, mode="default")
        launch = (all_ - one) / (many - 1)
        call = max(0.0, one - launch)
        replay = max(0.0, timed(region, square, mode="reduce-overhead") - call)
        shortest, operator = kernel(plus, x), timed(plus, x)
        big = torch.empty(large, device="cuda")
        bandwidth = 8 * large / kernel(lambda x: x.clone(), big)
        del big
        rows = torch.ones(matrix, matrix).cuda()
        arithmetic = 2 * matrix**3 / kernel(lambda x: x @ x, rows)
    return Figures(of, operator, call, launch, replay, shortest, bandwidth, arithmetic)


def main() -> None:
    from .. import cuda

    if reason := cuda.use_card():
        sys.exit(f"these are figures of a card, and there is none: {reason}")
    found = figures(cuda.get_device_name())
    for field in fields(found):
        print(f"{field.name:<12}{getattr(found, field.name)}")


if __name__ == "__main__":
    main()
