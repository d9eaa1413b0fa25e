"""Numbers that are not constants of the variant."""

from __future__ import annotations

from dataclasses import dataclass

from ...guards import Source
from ...shapes import SymNumber
from .values import Variable


@dataclass(eq=False, slots=True)
class NumberVariable(Variable):
    """An int or a float: an input, which has a source, or computed from inputs. `value` is what it
    is at this call."""

    number: SymNumber
    value: int | float
    source: Source | None = None

    @property
    def kind(self) -> str:
        return type(self.value).__name__

    @property
    def source_name(self) -> str:
        """What the user calls an input."""
        assert self.source is not None
        return self.source.name
