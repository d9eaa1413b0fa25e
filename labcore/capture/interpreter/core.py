"""The loop: from where the frames stand to the return of the outermost one, or to an instruction
that is CPython's.

In: a function and the values of one call.  Out: `Captured`: the result's variable or the `Break`,
and the graph's tracer.
Invariant: nothing of the user's program is executed. It reads the call's values, under guards,
and writes graph nodes.
Callees are frames on the same list, not recursion, so capture needs no Python stack and every
frame is at hand where it stops.
Dynamo does the same in `symbolic_convert.py`, but restarts its analysis where it breaks; a
handler here changes nothing first.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

from ...guards import GuardBuilder, Source, source
from ...trace import Origin
from ..breaks import Break, WouldRaise
from ..frame import SymbolicFrame, enter
from ..looking import Looker
from ..operators import OperatorCalls
from ..variables import DictVariable, FunctionVariable, TupleVariable, Variable
from .table import HANDLERS

MAX_STEPS = 100_000
MAX_DEPTH = 60
GENERATOR_FLAGS = 0x20 | 0x80 | 0x200  # generators, coroutines, asynchronous generators
VARARGS, VARKEYWORDS = 0x04, 0x08
OUR_FOLDER = str(Path(__file__).resolve().parents[2])


@dataclass
class Captured:
    """Where capture ended: with the `result` of the outermost frame, or at a `stop`."""

    result: Variable | None
    stop: Break | None


class Interpreter:
    """Captures one call of `function` with `values`, one a parameter slot."""

    def __init__(
        self, function: FunctionType, values: tuple[Any, ...], builder: GuardBuilder
    ) -> None:
        self.builder, self.looker = builder, Looker(builder)
        self.operators = OperatorCalls(self)
        self.result: Variable | None = None
        self.frames: list[SymbolicFrame] = []
        self.function, self.values = function, values
        self.parameters: tuple[str, ...] = ()  # the check's names of the arguments
        self.look, self.lazy = self.looker.look, self.looker.lazy

    def run(self) -> Captured:
        """Interpret to the end. Raises WouldRaise where CPython would raise out of the outermost
        frame."""
        try:
            self.frames.append(self._outermost())
            self._loop()
        except Break as stop:
            stop.origin = stop.origin or self.origin()
            return Captured(None, stop)
        return Captured(self.result, None)

    def _outermost(self) -> SymbolicFrame:
        """A call from outside is a call inlined into no frame at all."""
        code, builder = self.function.__code__, self.builder
        sources = {name: source.local(name) for name in parameter_names(code)}
        self.parameters = tuple(builder.parameter(where) for where in sources.values())
        bound: dict[str, Variable] = {
            name: self.lazy(where, value)
            for (name, where), value in zip(sources.items(), self.values)
        }
        cells: list[Variable] = []
        for name, cell in zip(code.co_freevars, self.function.__closure__ or ()):
            where = source.constant(name, builder.constant(cell, f"{name}_cell"))
            cells.append(self.looker.cell(where, name, cell))
        if code.co_flags & GENERATOR_FLAGS:
            raise _at_start(Break("generator", name=code.co_qualname), self.function)
        known = FunctionVariable(code, self.function.__globals__, cells=cells, value=self.function)
        for name, value in zip(sources, self.values):
            if name == varargs_name(code):
                bound[name] = self._varargs(sources[name], value)
            elif name == varkeywords_name(code):
                bound[name] = self._varkeywords(sources[name], value)
        return enter(known, bound)

    def _varargs(self, where: Source, value: tuple[Any, ...]) -> Variable:
        """The call made this tuple, so it is nobody else's: what counts is in it."""
        home = self.builder.load(where)
        self.looker.length(where.name, home, len(value))
        items: list[Variable] = [self.lazy(where.item(n), item) for n, item in enumerate(value)]
        return TupleVariable(items, value, home=home)

    def _varkeywords(self, where: Source, value: dict[str, Any]) -> Variable:
        """The call made this dict: it may be changed, and a new one is as good."""
        self.looker.keys(where.name, self.builder.load(where), value)
        return DictVariable({key: self.lazy(where.item(key), item) for key, item in value.items()})

    def _loop(self) -> None:
        for _ in range(MAX_STEPS):
            frame = self.frames[-1]
            instruction = frame.table.at[frame.offset]
            self.builder.origin = self.operators.tracer.origin = self.origin()
            handler = HANDLERS.get(instruction.op)
            if handler is None:
                raise Break("opcode", name=instruction.original.opname)
            stack = list(frame.stack)
            try:
                target = handler(self, frame, instruction)
            except (Break, WouldRaise) as stop:
                frame.stack = stack
                raise self._caught(stop) from None
            if self.result is not None:
                return
            if self.frames[-1] is frame:
                frame.offset = frame.table.after[frame.offset] if target is None else target
        raise Break("too-long", limit=MAX_STEPS)

    def _caught(self, stop: Break | WouldRaise) -> Break | WouldRaise:
        """An exception that a handler of the user's may catch is no error of the call."""
        if isinstance(stop, WouldRaise) and any(f.table.catches(f.offset) for f in self.frames):
            return Break("exception-caught")
        return stop

    def origin(self) -> Origin | None:
        """The innermost place that is the user's: not one of the lab's own modules."""
        for frame in reversed(self.frames):
            if not frame.code.co_filename.startswith(OUR_FOLDER):
                return frame.table.origin(frame.offset)
        return self.frames[-1].table.origin(self.frames[-1].offset) if self.frames else None

    def push_frame(self, function: FunctionVariable, arguments: dict[str, Variable]) -> None:
        if function.code.co_flags & GENERATOR_FLAGS:
            raise Break("generator", name=function.code.co_qualname)
        if len(self.frames) >= MAX_DEPTH:
            raise Break("deep-recursion", limit=MAX_DEPTH)
        self.frames.append(enter(function, arguments))

    def leave(self, value: Variable) -> None:
        """The innermost frame returns `value`."""
        if len(self.frames) == 1:
            self.result = value
            return
        self.frames.pop()
        caller = self.frames[-1]
        caller.stack.append(value)
        caller.offset = caller.table.after[caller.offset]


def parameter_names(code: Any) -> tuple[str, ...]:
    """Names of the slots a call fills: positional, keyword-only, *args, **kwargs."""
    count = code.co_argcount + code.co_kwonlyargcount
    return code.co_varnames[
        : count + bool(code.co_flags & VARARGS) + bool(code.co_flags & VARKEYWORDS)
    ]


def varargs_name(code: Any) -> str | None:
    return (
        code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
        if code.co_flags & VARARGS
        else None
    )


def varkeywords_name(code: Any) -> str | None:
    return parameter_names(code)[-1] if code.co_flags & VARKEYWORDS else None


def _at_start(stop: Break, function: FunctionType) -> Break:
    code = function.__code__
    stop.origin = Origin(code.co_filename, code.co_firstlineno, function=code.co_qualname)
    return stop
