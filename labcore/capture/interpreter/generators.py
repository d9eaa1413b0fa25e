"""Generators: frames that are left with a `yield` and entered again.

In: a generator's variable, and what to do with its next item or its end.  Out: its frame on top of
the interpreter's list; YIELD_VALUE takes it off again.
Invariant: items are computed one by one, when somebody asks. Nobody else can stand inside of a
generator's frame, so a break in it makes CPython run the generator from its beginning.
"""

from __future__ import annotations

from types import GeneratorType

from ..breaks import Break, WouldRaise
from ..bytecode import V13, Instruction
from ..frame import Continuation, SymbolicFrame
from ..remaking import type_of_generator
from ..variables import (
    Constant,
    ExceptionVariable,
    GeneratorVariable,
    TracebackVariable,
    Variable,
)
from .core import MAX_DEPTH, Interpreter
from .table import opcode

NONE = Constant(None)


def resume(
    vm: Interpreter,
    generator: GeneratorVariable,
    sent: Variable,
    take: Continuation,
    end: Continuation,
) -> int | None:
    """Go on in the generator: `take` gets what it yields, `end` what it returns."""
    if generator.frame is None:
        return end(vm, NONE)
    if generator.paused is None and not (isinstance(sent, Constant) and sent.value is None):
        raise WouldRaise(TypeError("can't send non-None value to a just-started generator"), True)
    _enter(vm, generator, take, end).stack.append(sent)
    return None


def _enter(
    vm: Interpreter, generator: GeneratorVariable, take: Continuation, end: Continuation
) -> SymbolicFrame:
    frame = generator.frame
    if generator.running:
        raise WouldRaise(ValueError("generator already executing"), exact=True)
    if len(vm.frames) >= MAX_DEPTH:
        raise Break("deep-recursion", limit=MAX_DEPTH)
    assert frame is not None
    vm.changed()
    frame.generator, frame.yields, frame.then, frame.began = generator, take, end, vm.step
    frame.rescues = []
    generator.running = True
    vm.frames.append(frame)
    return frame


def draw(
    vm: Interpreter, generator: GeneratorVariable, then: Continuation | None = None
) -> int | None:
    """next(generator), pushed or given to `then`."""
    return resume(vm, generator, NONE, then or _push, stop_iteration)


def _push(vm: Interpreter, value: Variable) -> None:
    vm.frames[-1].stack.append(value)


def stop_iteration(vm: Interpreter, value: Variable) -> int | None:
    """What a caller of `next` or `send` is told at the end."""
    none = isinstance(value, Constant) and value.value is None
    arguments = [] if none else [value]
    raise WouldRaise(variable=ExceptionVariable(StopIteration, arguments=arguments))


# ---- methods ------------------------------------------------------------------------------------


def generator_method(
    vm: Interpreter, generator: GeneratorVariable, name: str, args: list[Variable]
) -> None:
    """generator.name(...): pushes the result, or goes on in the generator."""
    if name not in ("__iter__", "__next__") and type_of_generator(generator) is not GeneratorType:
        raise Break("unknown-call", name=f"{type_of_generator(generator).__name__}.{name}()")
    if name == "__iter__" and not args:
        return _push(vm, generator)
    if name == "__next__" and not args:
        draw(vm, generator)
    elif name == "send" and len(args) == 1:
        resume(vm, generator, vm.look(args[0]), _push, stop_iteration)
    elif name == "throw" and len(args) in (1, 3):
        _throw(vm, generator, [vm.look(arg) for arg in args])
    elif name == "close" and not args:
        _close(vm, generator)
    else:
        raise Break("unknown-call", name=f"generator.{name}()")
    return None


def _throw(vm: Interpreter, generator: GeneratorVariable, args: list[Variable]) -> None:
    """Raise in the generator, where it stands."""
    error = args[0] if len(args) == 1 else args[1]
    traceback = args[-1]
    own = isinstance(traceback, TracebackVariable) and traceback.error is error
    if not isinstance(error, ExceptionVariable) or len(args) == 3 and not own:
        raise Break("unknown-call", name="generator.throw()")
    _raise_in(vm, generator, _push, stop_iteration)
    raise WouldRaise(variable=error)


def _close(vm: Interpreter, generator: GeneratorVariable) -> None:
    """Leave the generator: its own handlers see a GeneratorExit."""
    if generator.frame is None or generator.paused is None:
        vm.changed()
        generator.frame = None
        return _push(vm, NONE)

    def ignored(vm: Interpreter, value: Variable) -> None:
        raise WouldRaise(RuntimeError("generator ignored GeneratorExit"), exact=True)

    def returned(vm: Interpreter, value: Variable) -> None:
        _push(vm, value if V13 else NONE)

    left = lambda vm: _push(vm, NONE)
    _raise_in(vm, generator, ignored, returned)
    vm.frames[-1].rescues = [(GeneratorExit, left), (StopIteration, left)]
    raise WouldRaise(variable=ExceptionVariable(GeneratorExit))


def _raise_in(
    vm: Interpreter,
    generator: GeneratorVariable,
    take: Continuation,
    end: Continuation,
) -> None:
    """Stand in the generator, for an exception that is raised there next."""
    vm.changed()
    if generator.frame is None or generator.paused is None:
        generator.frame = None
        return
    if generator.frame.table.delegates(generator.paused):
        raise Break("generator", name=generator.title)
    _enter(vm, generator, take, end).offset = generator.paused


# ---- the generator's own instructions -----------------------------------------------------------


@opcode("YIELD_VALUE")
def yield_value(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    if frame.yields is None:
        raise Break("generator", name=frame.code.co_qualname)
    vm.pause(frame.stack.pop())
