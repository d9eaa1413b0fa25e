"""`Size`: the shape of a tensor, a tuple with a few manners.

Invariant: it is a tuple and equals one; slicing, adding and repeating keep the type, as in PyTorch.
"""

from __future__ import annotations

from math import prod
from typing import Any


class Size(tuple):
    """Sizes, outermost axis first."""

    __slots__ = ()

    def numel(self) -> int:
        """How many elements a tensor of this shape has."""
        return prod(self)

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if type(found) is tuple else found

    def __add__(self, other: tuple) -> Size:
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Size:
        return Size((*other, *self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: Any) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        # The lab is imported `as torch`, so this text can be pasted back.
        return f"torch.Size({list(self)})"
