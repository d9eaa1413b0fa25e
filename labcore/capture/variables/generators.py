"""Generators that the captured code makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .functions import FunctionVariable
from .values import Variable

if TYPE_CHECKING:
    from ..frame import SymbolicFrame


@dataclass(eq=False, slots=True)
class GeneratorVariable(Variable):
    """A generator made inside: a frame that is left and entered again. `frame` is None once it has
    ended; `paused` is the offset of the `yield` where it stands, None before it began.

    `function` and `arguments` make it anew, as long as it did not begin.
    """

    function: FunctionVariable
    arguments: dict[str, Variable]
    frame: SymbolicFrame | None
    paused: int | None = None
    running: bool = False

    @property
    def kind(self) -> str:
        return f"generator {self.function.code.co_name}"
