"""The dispatch table: from an instruction's name (in the dialect of `bytecode.py`) to the
function that interprets it.

Invariant: what a handler does to its frame's stack is put back when it raises `Break`; before it
changes anything else it calls `vm.changed()`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..bytecode import Instruction
from ..frame import SymbolicFrame

if TYPE_CHECKING:
    from .core import Interpreter

# Returns the offset to jump to, or None to go on with the next instruction.
Handler = Callable[["Interpreter", SymbolicFrame, Instruction], "int | None"]
HANDLERS: dict[str, Handler] = {}


def opcode(*names: str) -> Callable[[Handler], Handler]:
    """Register a handler for instructions."""

    def register(handler: Handler) -> Handler:
        for name in names:
            assert name not in HANDLERS, f"two handlers for {name}"
            HANDLERS[name] = handler
        return handler

    return register
