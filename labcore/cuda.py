"""`labcore.cuda`: the card, or the simulated one, as PyTorch's `torch.cuda` is asked for it.

In: `simulate()`.  Out: from then on `device="cuda"` is a place for tensors, whose operators and
compiled functions run as printed kernels on the grid simulator.
Left out: streams, events, memory statistics, and cards of silicon: kernels can be compiled for one
(`labcore.codegen.cuda.cubin`), launching them there is not part of the lab yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .runtime import cards

if TYPE_CHECKING:
    from .simulator import Launch


def simulate(wanted: bool = True) -> None:
    """Use the grid simulator as the card. False: there is no card again; tensors that live on it
    stay readable."""
    from .codegen.cuda.eager import carry
    from .tensor.cuda import install

    install(carry if wanted else None)
    cards.use_simulator(wanted)


def is_available() -> bool:
    """Is there a place for tensors called "cuda"?"""
    return cards.device.simulated


def device_count() -> int:
    return int(is_available())


def synchronize() -> None:
    """The simulated card is never behind. Raises RuntimeError when there is no card."""
    cards.device("cuda")


@contextmanager
def record(watch: int | None = None) -> Iterator[list[Launch]]:
    """The launches made inside, in order. `watch`: the block of each launch of which every request
    of a warp is kept, too."""
    found: list[Launch] = []
    with cards.recording(found, watch):
        yield found
