"""Generators that the captured code makes."""

from __future__ import annotations

from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING

from .functions import FunctionVariable
from .values import Variable

if TYPE_CHECKING:
    from ..frame import SymbolicFrame


# The code of generators that are read in place of a builtin, whose iterator they stand for.
STANDS_FOR: dict[CodeType, type] = {}


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
        cls = STANDS_FOR.get(self.function.code)
        return f"{cls.__name__} object" if cls else f"generator {self.function.code.co_name}"

    @property
    def title(self) -> str:
        """What the user called."""
        cls = STANDS_FOR.get(self.function.code)
        return f"{cls.__name__}()" if cls else self.function.code.co_qualname
