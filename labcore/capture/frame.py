"""Frames of variables: CPython's frames, mirrored slot by slot.

In: a function and its bound arguments.  Out: a `SymbolicFrame`, which the interpreter moves along.
Invariant: `fast` and `stack` have CPython's layout at every offset, so a real frame can be made
from them where capture stops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

from ..guards.variant import Mark
from .bytecode import Bytecode, bytecode
from .frames import NULL as NULL, UNBOUND as UNBOUND
from .variables import CellVariable, Constant, FunctionVariable, GeneratorVariable, Variable

if TYPE_CHECKING:
    from .interpreter.core import Interpreter

# What to do with the value a callee returns, its frame being gone: push something on the caller's
# stack, or enter another callee. Gives the offset to go on at in the caller, None for the next.
Continuation = Callable[["Interpreter", Variable], "int | None"]
# What to do instead when a callee raises an exception of a class; as a continuation does.
Rescue = tuple[type[BaseException], Callable[["Interpreter"], "int | None"]]
POLYFILLS = str(Path(__file__).with_name("polyfills"))


@dataclass(eq=False)
class SymbolicFrame:
    """`offset` is the instruction that comes next; a frame waiting for a callee stands at its
    call.

    `exc` is the exception being handled.  `home` is the check's name of the real frame that this
    one goes on from, with `initial` for what it held; both are empty for a frame entered here.
    `then` takes what it returns, instead of the caller's stack, and `rescues` what it raises;
    `began` is the step that entered it. One of a generator has `yields`, which takes what
    it yields.
    """

    code: CodeType
    namespace: dict[str, Any]
    fast: list[Variable]
    stack: list[Variable] = field(default_factory=list)
    offset: int = 0
    exc: Variable = field(default_factory=lambda: Constant(None))
    home: str = ""
    initial: tuple[Variable, ...] = ()
    then: Continuation | None = None
    rescues: list[Rescue] = field(default_factory=list)
    began: int = 0
    generator: GeneratorVariable | None = None
    yields: Continuation | None = None
    table: Bytecode = field(init=False)

    def __post_init__(self) -> None:
        self.table = bytecode(self.code)

    @property
    def whole(self) -> bool:
        """Is it part of one instruction of the user's, between whose halves nobody can stop? A real
        frame has no continuation, and Python of ours in place of a builtin is not to be seen."""
        return self.then is not None or self.ours

    @property
    def ours(self) -> bool:
        """Is its code Python of ours in place of a builtin?"""
        return self.code.co_filename.startswith(POLYFILLS)

    def finish(self) -> None:
        """It is left for ever."""
        if self.generator is not None:
            self.generator.frame, self.generator.running = None, False

    def pop(self, count: int) -> list[Variable]:
        """The topmost values, in the order in which they were pushed."""
        values = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return values


def is_mark(variable: Variable, mark: Mark) -> bool:
    return isinstance(variable, Constant) and variable.value is mark


def enter(function: FunctionVariable, arguments: dict[str, Variable]) -> SymbolicFrame:
    """The frame of a call whose parameters are bound already."""
    code = function.code
    names = bytecode(code).slots
    fast: list[Variable] = [arguments.get(name, Constant(UNBOUND)) for name in names]
    for slot, name in enumerate(names):
        if name in code.co_cellvars:
            fast[slot] = CellVariable(None if is_mark(fast[slot], UNBOUND) else fast[slot])
    if code.co_freevars:
        fast[-len(code.co_freevars) :] = function.cells
    return SymbolicFrame(code, function.namespace, fast)
