"""Keys that hash or compare by code of the user's: the code is read, and the instruction that
wanted the answer is begun anew with it.

In: a `Question`, and the act that raised it: an instruction, or the rest of one.  Out: what the act
gives.
Invariant: dicts and sets of variables are CPython's own, so who is asked what, and in which order,
is as there; each question is asked once in an instruction.  Code that changes anything as it
answers is CPython's, with the whole instruction.
PyTorch's interpreter calls itself for them, out of its keys' own `__hash__` and `__eq__`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..breaks import Break
from ..keys import Question
from ..numbers import as_constant
from ..variables import Constant, Variable
from .continuations import call_then
from .control import on_truth
from .core import Interpreter
from .dunders import compare_objects

Act = Callable[[], "int | None"]
Answers = dict[Any, Any]


def ask(
    vm: Interpreter, question: Question, again: Act, answers: Answers, changes: int
) -> int | None:
    """`again`, once the question is answered; `answers` are what it has already. The stack is as it
    was before the act; `changes`: how many there had been then."""
    left, right = vm.look(question.left), question.right
    if vm.effects.count != changes:
        raise Break("operation", what=f"a {left.kind} as a key, among others")

    def answered(value: Any) -> int | None:
        if vm.effects.count != changes:
            raise Break("operation", what=f"a {left.kind} as a key, whose code has effects")
        answers[question.key] = value
        return _attempt(vm, again, answers)

    def hashed(vm: Interpreter, value: Variable) -> int | None:
        number = as_constant(vm.looker.numbers, vm.look(value))
        assert isinstance(number, Constant)
        return answered(number.value)

    if right is None:
        return call_then(vm, Constant(hash), [left], {}, hashed)
    then = lambda value: on_truth(vm, value, answered)
    return compare_objects(vm, "==", left, vm.look(right), then=then)


def _attempt(vm: Interpreter, act: Act, answers: Answers) -> int | None:
    frame = vm.frames[-1]
    stack, changes, vm.answers = list(frame.stack), vm.effects.count, answers
    try:
        return act()
    except Question as another:
        frame.stack, question = stack, another.with_traceback(None)
    finally:
        vm.answers = {}
    return ask(vm, question, act, answers, changes)
