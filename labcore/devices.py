"""Where a tensor lives: `device("cpu")`, `device("cuda")`.

Invariant: the devices that tensors have are two objects, `cpu` and `cuda`, so they compare by `is`;
"cpu" has no index, "cuda" has 0: one card.
Whether there is a card to live on, `labcore.cuda` finds out when one is first asked for; asking for
one that is not there is an error that says what to do.
"""
from __future__ import annotations

NO_CARD = (
    "device 'cuda' is not available: {reason}. For an NVIDIA card install the extra, "
    "make env EXTRAS=\"--extra cuda\", and NVIDIA's driver (580 or newer). Without a card, call "
    "labcore.cuda.simulate(): tensors on 'cuda' then live in the memory of a simulated grid, which "
    "runs the printed kernels and checks them"
)


APART = (
    "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
)


class device:
    """A device type and, for an accelerator, its index.

    Raises RuntimeError for a device that is not there, with what to do about it.
    """

    __slots__ = ("type", "index")
    type: str
    index: int | None

    in_use = False  # is there a card, of silicon or of Python, that tensors live on?

    def __init__(self, type: str | device, index: int | None = None) -> None:
        name = str(type)
        if name in ("cuda", "cuda:0") and index in (None, 0):
            if not device.in_use:
                from .cuda import use_card  # the finished package knows how to look for one

                if reason := use_card():
                    raise RuntimeError(NO_CARD.format(reason=reason))
            self.type, self.index = "cuda", 0
        elif name == "cpu":
            self.type, self.index = name, index
        else:
            found = name if index is None else f"{name}:{index}"
            raise RuntimeError(
                f"device {found!r} is not available: the lab runs on 'cpu' and 'cuda'"
            )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"


def _known(type: str, index: int | None) -> device:
    found = object.__new__(device)
    found.type, found.index = type, index
    return found


cpu = _known("cpu", None)
cuda = _known("cuda", 0)


def placing(device_: device | str | None) -> dict[str, str]:
    """What an operator that makes a tensor from nothing is told of where it shall lie: of the card;
    nothing else would change what it makes.

    Raises RuntimeError for a device that is not there.
    """
    on_card = device_ is not None and device(device_).type == "cuda"
    return {"device": str(cuda)} if on_card else {}
