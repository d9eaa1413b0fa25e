"""Calls from inside of an instruction: what a handler does with the value once a callee returns.

In: a callable and a continuation.  Out: the callee's frame on the interpreter's list with the
continuation on it; or, where no frame is needed, the continuation is run at once.
Invariant: no handler waits in Python for a callee, and where capture cannot go on inside of such a
callee it stops before the whole instruction.
PyTorch's interpreter calls itself for each inlined function, so that its handlers just wait.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..binding import bind
from ..breaks import WouldRaise
from ..classes import mro
from ..frame import Continuation, Rescue
from ..variables import Call, Variable
from .core import Interpreter
from .polyfilled import as_variable


def call_then(
    vm: Interpreter,
    function: Variable,
    args: list[Variable],
    kwargs: dict[str, Variable],
    then: Continuation,
    rescue: Rescue | None = None,
) -> int | None:
    """Call, and hand what comes back to `then`; or go on in `rescue` when it raises that. Gives
    what a handler is to give."""
    from .calls import call  # late: it uses the families of instructions that use this

    depth = len(vm.frames)
    try:
        call(vm, vm.frames[-1], function, args, kwargs)
    except WouldRaise as raised:
        error = raised.variable.cls if raised.variable is not None else type(raised.error)
        if rescue is None or rescue[0] not in mro(error):
            raise
        return rescue[1](vm)
    if rescue is not None and len(vm.frames) > depth:
        vm.frames[depth].rescues.append(rescue)
    return _go_on(vm, depth, then)


def settled(
    vm: Interpreter, found: Variable | Call, then: Continuation, rescue: Rescue | None = None
) -> int | None:
    """`then` with an attribute, once the function that gives it has been through."""
    if not isinstance(found, Call):
        return then(vm, found)
    other, last, keep = found.otherwise, rescue, found.keep
    if keep is not None:
        then = _keeping(keep, then)
    if other is not None:
        rescue = AttributeError, lambda vm: settled(vm, other, then, last)
    return call_then(vm, found.function, found.args, found.kwargs, then, rescue)


def _go_on(vm: Interpreter, depth: int, then: Continuation) -> int | None:
    """Run `then` on a value that was pushed, or leave it to the frame that was pushed."""
    if len(vm.frames) == depth:
        return then(vm, vm.frames[-1].stack.pop())
    entered = vm.frames[depth]
    entered.then = _after(entered.then, depth, then)
    if entered.yields is not None:
        entered.yields = _after(entered.yields, depth, then)
    return None


def _after(first: Continuation | None, depth: int, then: Continuation) -> Continuation:
    """`then` with what `first` pushes, at once or at the end of a callee."""
    if first is None:
        return then

    def both(vm: Interpreter, value: Variable) -> int | None:
        first(vm, value)
        return _go_on(vm, depth, then)

    return both


def _keeping(keep: Callable[[Variable], None], then: Continuation) -> Continuation:
    def kept(vm: Interpreter, value: Variable) -> int | None:
        keep(value)
        return then(vm, value)

    return kept


def call_polyfill(
    vm: Interpreter,
    function: Callable[..., Any],
    args: list[Variable],
    then: Continuation | None = None,
) -> None:
    """Go on in a Python function of `polyfills/`, which stands for a builtin: read as bytecode,
    never seen by the user."""
    assert isinstance(function, FunctionType)
    known = as_variable(function)
    vm.push_frame(known, bind(vm, known, args, {}), then)
