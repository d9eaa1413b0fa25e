"""Where a tensor lives: `device("cpu")`.

Invariant: equal devices are equal objects; "cpu" has no index.
The CUDA target comes with its own printer and runtime; asking for it without them is an error that
says so.
"""
from __future__ import annotations


class device:
    """A device type and, for an accelerator, its index."""

    __slots__ = ("type", "index")
    type: str
    index: int | None

    def __init__(self, type: str | device, index: int | None = None) -> None:
        name = type.type if isinstance(type, device) else type
        if name != "cpu":
            raise RuntimeError(
                f"device {name!r} is not available: this build of the lab runs on 'cpu'"
            )
        self.type, self.index = name, index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __repr__(self) -> str:
        return f"device(type={self.type!r})"

    def __str__(self) -> str:
        return self.type


cpu = device("cpu")
