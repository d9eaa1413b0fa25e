"""`labcore.cuda`: the card, or the simulated one, as PyTorch's `torch.cuda` is asked for it.

In: nothing, or `simulate()`.  Out: `device="cuda"` is a place for tensors, whose operators and
compiled functions run as printed kernels: on the machine's first NVIDIA card, where the extra
`cuda` and the driver are installed, or on the grid simulator.
The card is looked for when somebody first asks for it. All work is done in one stream.
Left out: further cards, streams and events of the user's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .runtime import cards
from .tensor.cuda import card, card_in_use, install

if TYPE_CHECKING:
    from .runtime.card import SiliconCard

_silicon: SiliconCard | None = None
_simulated: dict[bool, Any] = {}


def simulate(wanted: bool = True, driver: bool = False) -> None:
    """Use the grid simulator as the card. False: no longer; tensors that live there stay readable,
    and whoever asks for "cuda" next gets the machine's card, if it has one. `driver`: with a driver
    between, so that launches can be recorded and replayed; then what they touch is not counted."""
    from .codegen.cuda.eager import carry
    from .codegen.cuda.paper import paper_card
    from .codegen.cuda.simulated import SimulatedCard

    if driver not in _simulated:
        _simulated[driver] = paper_card() if driver else SimulatedCard()
    if wanted:
        install(_simulated[driver], carry)
    elif card_in_use() in _simulated.values():
        install(None, None)


def use_card() -> str:
    """Put the machine's card to use. Returns why there is none; "" if there is one."""
    global _silicon
    from .runtime.driver import NoCard, open_driver

    if _silicon is None:
        try:
            driver = open_driver()
        except NoCard as none:
            return str(none)
        from .codegen.cuda.build import build
        from .runtime.card import SiliconCard

        _silicon = SiliconCard(driver, build)
    from .codegen.cuda.eager import carry

    install(_silicon, carry)
    return ""


def is_available() -> bool:
    """Is there a place for tensors called "cuda"?"""
    return card_in_use() is not None or not use_card()


def device_count() -> int:
    return int(is_available())


def get_device_name(device: Any = None) -> str:
    """Raises RuntimeError when there is no card."""
    return card().name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Which instructions it has, as (9, 0) for an H200. Raises RuntimeError for a simulated one."""
    return _of_silicon().driver.cc


def synchronize() -> None:
    """Wait until the card has done all it was given; the simulated one is never behind. Raises
    RuntimeError when there is no card, and what went wrong in a kernel."""
    card().synchronize()


def memory_allocated() -> int:
    """Bytes of the card in tensors, rounded up as they are handed out."""
    return _of_silicon().allocator.used


def memory_reserved() -> int:
    """Bytes of the card that this process has from the driver, idle ones included."""
    return _of_silicon().allocator.reserved


def empty_cache() -> None:
    """Give idle memory back to the driver."""
    _of_silicon().allocator.empty_cache()


def _of_silicon() -> SiliconCard:
    from .runtime.card import SiliconCard

    found = card()
    if not isinstance(found, SiliconCard):
        raise RuntimeError("the simulated card has the host's memory and no such figures")
    return found


@contextmanager
def record(watch: int | None = None) -> Iterator[list[Any]]:
    """The launches made inside, in order: a `simulator.Launch` with all that was counted, or, on a
    card of silicon, a `runtime.cards.Launched`. `watch`: the block of each simulated launch of
    which every request of a warp is kept, too."""
    found: list[Any] = []
    with cards.recording(found, watch):
        yield found
