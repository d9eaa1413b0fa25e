"""The loop: from where the frames stand to the return of the outermost one, or to an instruction
that is CPython's.

In: a function with the values of one call, or the frames of a call on its way.  Out: `Captured`:
the result's variable or the `Break`, and the graph's tracer.
Invariant: nothing of the user's program is executed. It reads the call's values, under guards,
and writes graph nodes.
Callees are frames on the same list, not recursion, so capture needs no Python stack and every
frame is at hand where it stops.
A handler that changes more than its frame's stack and variables calls `changed()` first; when it
then stops, capture starts again and stops before it.
Dynamo does the same in `symbolic_convert.py`, but restarts its analysis at every break.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CellType, FunctionType
from typing import Any

from ...guards import GuardBuilder, Source, kinds, source
from ...tensor.replaced import is_replaced
from ...trace import Origin, in_detail, listening
from ..binding import parameter_names, varargs_name, varkeywords_name
from ..breaks import Break, WouldRaise
from ..bytecode import bytecode
from ..frame import NULL, Continuation, SymbolicFrame, enter
from ..frames import Frame
from ..keys import Question
from ..looking import Looker
from ..numbers import NOTHING_VARIES, Varying
from ..operators import OperatorCalls
from ..strictness import strict
from ..variables import (
    Constant,
    DictVariable,
    FunctionVariable,
    GeneratorVariable,
    Lazy,
    TupleVariable,
    Variable,
)
from ..watch import Watch
from .table import HANDLERS
from .unwinding import unwind

MAX_STEPS = 100_000
MAX_DEPTH = 60
GENERATOR = 0x20
GENERATOR_FLAGS = GENERATOR | 0x80 | 0x200  # generators, coroutines, asynchronous generators
# Methods of a tensor that capture answers for without looking them up.
UNASKED = "bool contains eq getattr getattribute hash iter len".split()
OUR_FOLDER = str(Path(__file__).resolve().parents[2])


@dataclass
class Captured:
    """Where capture ended: with the `result` of the outermost frame, or at a `stop`.

    `standing`: the frames stand at the instruction that stopped it, and could go on from there.
    """

    result: Variable | None
    stop: Break | None
    standing: bool = False


class Interpreter:
    """Captures one call of `function` with `values`, one a parameter slot, or from `reals` on.

    `halt` is a break met in an earlier attempt, with the step it is to be taken at.
    """

    def __init__(
        self,
        function: FunctionType,
        values: tuple[Any, ...],
        builder: GuardBuilder,
        reals: Sequence[Frame] = (),
        varying: Varying = NOTHING_VARIES,
        halt: Break | None = None,
    ) -> None:
        self.builder, self.operators = builder, OperatorCalls(self)
        self.looker = Looker(builder, varying, self.operators.tracer.graph)
        self.classes, self.modes = self.looker.classes, self.operators.modes
        self.reals, self.halt = reals, halt
        self.halt_step = None if halt is None else halt.step
        self.maybe_unbound: set[Variable] = set()
        self.carried: set[int] = set()  # ids of what variables and stacks of real frames hold
        self.born: dict[Variable, int] = {}  # the step that put a variable on a stack
        self.step, self.catches = 0, False
        self.strict = strict()  # is a break here an error?
        self.result: Variable | None = None
        self.frames: list[SymbolicFrame] = []
        self.generators: list[GeneratorVariable] = []  # made inside
        self.derivative: Any = None  # whose backward is being read, see own_derivatives.py
        self.function, self.values = function, values
        self.parameters: tuple[str, ...] = ()  # the check's names of the arguments
        self.look, self.lazy = self.looker.look, self.looker.lazy
        self.effects, self.changed = self.looker.effects, self.looker.effects.changed
        self.answers: dict[Any, Any] = {}  # what code of the user's said of keys, see `asking.py`
        self.watch = Watch(self, in_detail(), OUR_FOLDER) if listening() else None

    def run(self) -> Captured:
        """Interpret to the end. Raises WouldRaise where CPython would raise out of the outermost
        frame."""
        try:
            self.frames += self._resumed() if self.reals else [self._outermost()]
            self.catches = any(frame.table.catching for frame in self.frames)
            stop = self._loop()
            if self.watch is not None and stop is not None and stop is not self.halt:
                self.watch.stopped(begun=stop.half_done is not None)
        except Break as unmovable:
            self.locate(unmovable)
            return Captured(None, unmovable)
        finally:
            if self.watch is not None:
                self.watch.finish()
        if stop is not None:
            self.locate(stop)
        return Captured(self.result, stop, standing=stop is not None)

    @property
    def halted(self) -> bool:
        """Does it stand where an earlier attempt told it to?"""
        return self.halt is not None and self.halt.step == self.halt_step == self.step

    def forget(self) -> None:
        """Let go of the call's values: cycles would keep them until the collector comes, and what
        is left of the interpreter in one must not lead to them. A generator's frame knows who asked
        for its last item, and that frame the generator."""
        for generator in self.generators:
            generator.frame = None
        del self.operators.vm, self.operators.tracer.memory
        if self.watch is not None:
            del self.watch.vm
        vars(self).clear()

    def _resumed(self) -> list[SymbolicFrame]:
        """Frames of a call on its way, nothing in them looked at yet."""
        self._asks_the_lab()
        self.parameters = (self.builder.parameter(source.local("F")),)
        return [self._mirror(n, real) for n, real in enumerate(self.reals)]

    def _asks_the_lab(self) -> None:
        """Raises Break where what an instruction asks of a tensor is a method of the program's."""
        for name in UNASKED:
            if is_replaced(f"__{name}__"):
                raise _at_start(Break("unknown-method", name=f"__{name}__"), self.function)

    def _mirror(self, number: int, real: Frame) -> SymbolicFrame:
        where = Source(f"f{number}", f"{self.parameters[0]}[{number}]")
        home, code = self.builder.load(where), real.code
        cells = {*code.co_cellvars, *code.co_freevars}
        fast: list[Variable] = []
        for slot, (name, value) in enumerate(zip(bytecode(code).slots, real.fast)):
            place = Source(name, f"{{}}.fast[{slot}]", where)
            is_cell = name in cells and type(value) is CellType
            fast.append(
                self.looker.cell(place, name, value) if is_cell else self.lazy(place, value)
            )
        stack: list[Variable] = [
            Constant(NULL)
            if value is NULL
            else self.lazy(Source(f"stack[{n}]", f"{{}}.stack[{n}]", where), value)
            for n, value in enumerate(real.stack)
        ]
        exc = Constant(None) if real.exc is None else self.lazy(where.attribute("exc"), real.exc)
        lent = stack if "LOAD_FAST_AND_CLEAR" in bytecode(code).names else []
        self.maybe_unbound.update(v for v in (*fast, *lent) if isinstance(v, Lazy))
        self.carried.update(map(id, (*real.fast, *real.stack)))
        frame = SymbolicFrame(code, real.namespace, fast, stack, real.offset, exc, home)
        frame.initial = (*fast, exc)
        if number:
            self._same_namespace(frame)
        return frame

    def _same_namespace(self, frame: SymbolicFrame) -> None:
        """An inlined function's globals are part of what its code means."""
        space, name = self.builder.constant(frame.namespace, "G"), frame.code.co_name
        code, words = f"{frame.home}.namespace is {space}", f"the globals of {name} are others"
        self.builder.add(
            kinds.condition("ID_MATCH", name, code, frame.home, "these globals", words, None)
        )

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
        self._asks_the_lab()
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

    def _loop(self) -> Break | None:
        """None: the outermost frame returned. A Break: the frames stand where it happened."""
        for self.step in range(MAX_STEPS):
            frame = self.frames[-1]
            if self.halt is not None and self.halt_step == self.step:
                return self._before_whole_instructions(self.halt)
            if self.watch is not None:
                self.watch.look()
            instruction = frame.table.at[frame.offset]
            self.builder.origin = self.operators.tracer.origin = self.origin()
            self.operators.tracer.step = self.step
            handler = HANDLERS.get(instruction.op)
            if handler is None:
                return Break("opcode", name=instruction.original.opname)
            stack, changes = list(frame.stack), self.effects.count
            try:
                try:
                    target = self._acted(partial(handler, self, frame, instruction))
                except WouldRaise as raised:
                    unwind(self, raised)
                    continue
                except RecursionError:
                    raise Break("operation", what="what contains itself") from None
            except Break as stop:
                frame.stack = stop.half_done or stack
                if self.effects.count != changes:  # it had begun: a new attempt stops before it
                    stop.step = self.step if stop.step is None else min(stop.step, self.step)
                return self._before_whole_instructions(stop)
            if self.result is not None:
                return None
            for variable in self.frames[-1].stack[-3:]:
                self.born.setdefault(variable, self.step)
            if self.frames[-1] is frame:
                frame.offset = frame.table.after[frame.offset] if target is None else target
        raise Break("too-long", limit=MAX_STEPS)

    def _acted(self, act: Callable[[], int | None]) -> int | None:
        """What the act gives; begun anew when code of the user's has to say what a key is."""
        frame = self.frames[-1]
        stack, changes = list(frame.stack), self.effects.count
        try:
            return act()
        except Question as question:
            frame.stack, asked = stack, question.with_traceback(None)
        from .asking import ask  # late: it uses the families of instructions

        return ask(self, asked, act, {}, changes)

    def _before_whole_instructions(self, stop: Break) -> Break:
        """Frames that only a continuation, or code of ours, can go on from are not left standing:
        the instruction that began the outermost of them is CPython's, as a whole."""
        began = next((frame.began for frame in self.frames if frame.whole), None)
        if began is not None and (stop.step is None or began < stop.step):
            self.locate(stop)
            stop.step = began
        return stop

    def locate(self, stop: Break) -> None:
        """Note where it stopped, and the calls that led there, unless that is known already."""
        places = self._places()
        if stop.origin is None and places:
            *stop.callers, stop.origin = places

    def _places(self) -> list[Origin]:
        """Where the frames stand that are the user's, or where the last one does."""
        standing = [f for f in self.frames if not f.code.co_filename.startswith(OUR_FOLDER)]
        return [f.table.origin(f.offset) for f in standing or self.frames[-1:]]

    def origin(self) -> Origin | None:
        """The innermost place that is the user's: not one of the lab's own modules."""
        for frame in reversed(self.frames):
            if not frame.code.co_filename.startswith(OUR_FOLDER):
                return frame.table.origin(frame.offset)
        return self.frames[-1].table.origin(self.frames[-1].offset) if self.frames else None

    def push_frame(
        self,
        function: FunctionVariable,
        arguments: dict[str, Variable],
        then: Continuation | None = None,
    ) -> None:
        """Go on in a callee; `then` takes what it returns. Raises Break where it gets too deep."""
        flags = function.code.co_flags & GENERATOR_FLAGS
        if flags:
            if flags != GENERATOR:
                raise Break("generator", name=function.code.co_qualname)
            self._make_generator(function, arguments, then)
            return
        if len(self.frames) >= MAX_DEPTH:
            raise Break("deep-recursion", limit=MAX_DEPTH)
        frame = enter(function, arguments)
        frame.then, frame.began = then, self.step
        self.frames.append(frame)
        self.catches |= self.frames[-1].table.catching

    def _make_generator(
        self,
        function: FunctionVariable,
        arguments: dict[str, Variable],
        then: Continuation | None,
    ) -> None:
        """Calling a generator function runs nothing of it yet."""
        frame = enter(function, arguments)
        frame.offset = frame.table.body
        made = GeneratorVariable(function, arguments, frame)
        self.generators.append(made)
        if then is None:
            self.frames[-1].stack.append(made)
        else:
            then(self, made)

    def leave(self, value: Variable) -> None:
        """The innermost frame returns `value`."""
        if len(self.frames) == 1:
            self.result = value
            return
        left = self.frames.pop()
        left.finish()
        self.hand_over(left, left.then, value)

    def pause(self, value: Variable) -> None:
        """The innermost frame, a generator's, yields `value`."""
        left = self.frames.pop()
        assert left.generator is not None
        left.generator.running, left.generator.paused = False, left.offset
        left.offset = left.table.after[left.offset]
        self.hand_over(left, left.yields, value)

    def hand_over(
        self, left: SymbolicFrame, then: Continuation | None, value: Variable
    ) -> None:
        """Go on in the caller of a frame that was left, with what it gives."""
        if then is None:
            self.go_on(left, lambda: self.frames[-1].stack.append(value))
        else:
            self.go_on(left, lambda: then(self, value))

    def go_on(self, left: SymbolicFrame, act: Callable[[], int | None]) -> None:
        """`left` is gone: its caller does `act`, and goes on where that says."""
        caller = self.frames[-1]
        try:
            target = self._acted(act)
        except Break as stop:  # too late to stand inside of what has returned
            stop.step = left.began if stop.step is None else min(stop.step, left.began)
            raise
        if self.frames[-1] is caller:
            caller.offset = caller.table.after[caller.offset] if target is None else target


def _at_start(stop: Break, function: FunctionType) -> Break:
    code = function.__code__
    stop.origin = Origin(code.co_filename, code.co_firstlineno, function=code.co_qualname)
    return stop
