"""What an exception does: it looks for its handler, outwards through the frames.

In: a `WouldRaise` of a handler of the interpreter.  Out: frames that stand at the user's handler.
Invariant: tables, stack depths and `__context__` are CPython's; an exception that nobody handles is
CPython's to raise, by running the whole call, or what is left of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..breaks import Break, WouldRaise
from ..bytecode import V12
from ..classes import mro
from ..frame import SymbolicFrame
from ..variables import Constant, ExceptionVariable, Lazy, Variable
from .letting_go import let_go

if TYPE_CHECKING:
    from .core import Interpreter


def being_handled(vm: Interpreter) -> Variable | None:
    """The exception that `sys.exc_info()` would tell in the innermost frame. Whether a frame
    handles one is the same each time it stands at an instruction, so None needs no guard."""
    for frame in reversed(vm.frames):
        if not (isinstance(frame.exc, (Lazy, Constant)) and frame.exc.value is None):
            return frame.exc
    return None


def unwind(vm: Interpreter, raised: WouldRaise) -> None:
    """Stand at the handler. Raises WouldRaise where there is none."""
    if not any(frame.rescues or frame.table.handler(frame.offset) for frame in vm.frames):
        raise raised
    if let_go(vm, (value for frame in vm.frames for value in frame.stack)):
        raise Break("exception-caught")
    error = raised.variable or _made(raised)
    if not raised.again:
        _set_context(vm, error)
    if not error.raised:
        error.raised = True
        vm.born[error] = vm.step
    while True:
        frame = vm.frames[-1]
        entry = frame.table.handler(frame.offset)
        if entry is not None:
            del frame.stack[entry.depth :]
            frame.stack += [Constant(frame.offset // 2), error] if entry.lasti else [error]
            frame.offset = entry.target
            return
        if len(vm.frames) == 1:
            raise raised
        vm.frames.pop().finish()
        if frame.generator is not None and not V12:
            error = stop_iteration_error(vm, error)
        if _rescued(vm, frame, error):
            return


def _rescued(vm: Interpreter, left: SymbolicFrame, error: ExceptionVariable) -> bool:
    """The instruction that called it may be waiting for this: a loop for StopIteration ..."""
    instead = next((act for kind, act in left.rescues if kind in mro(error.cls)), None)
    if instead is None:
        return False
    try:
        vm.go_on(left, lambda: instead(vm))
    except WouldRaise as another:
        unwind(vm, another)
    return True


def stop_iteration_error(vm: Interpreter, error: ExceptionVariable) -> ExceptionVariable:
    """A StopIteration must not leave a generator: its caller would take it for the end. 3.12 has
    an instruction for that."""
    if not issubclass(error.cls, StopIteration):
        return error
    text = Constant("generator raised StopIteration")
    made = ExceptionVariable(RuntimeError, arguments=[text], raised=True, suppress=True)
    made.cause = made.context = error
    vm.born[made] = vm.born[error]
    return made


def _made(raised: WouldRaise) -> ExceptionVariable:
    """The variable of an error that an instruction raises."""
    from .fold import is_plain, wrapped  # late: it needs the interpreter

    error = raised.error
    if error is None:
        raise Break("exception-caught")
    exact = raised.exact and all(map(is_plain, error.args))
    arguments = [wrapped(value) for value in error.args] if exact else []
    return ExceptionVariable(type(error), arguments=arguments, exact=exact)


def _set_context(vm: Interpreter, error: ExceptionVariable) -> None:
    """`__context__` is what was being handled; a chain of them never leads to itself."""
    context = link = being_handled(vm)
    if context is None or context is error:
        return
    while isinstance(link, ExceptionVariable):
        if link.context is error:
            link.context = None
        link = link.context
    error.context = context
