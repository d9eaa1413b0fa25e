"""What functions of Python's library mean that read what capture knows without them.

In: `inspect.isgeneratorfunction`, the `dispatch` that `functools.singledispatch` makes for each
generic function, and functions of module re.  Out: a constant, under guard.
Invariant: a generic function's registry is asked by its own code, here and in the guard. Functions
that only compute plain values from plain values are called while capturing.
"""

from __future__ import annotations

import functools
import inspect
import re
from typing import Any

from ..guards import kinds, source
from .breaks import Break
from .callables import means, means_by_code
from .variables import Constant, FunctionVariable, MethodVariable, Variable

DISPATCH: Any = functools.singledispatch(lambda value: value)
GENERATOR = inspect.CO_GENERATOR


def _is_generator_function(
    vm: Any, called: FunctionVariable, args: list[Variable], kwargs: dict[str, Variable]
) -> Variable:
    (given,) = [*args, *kwargs.values()]
    found = vm.look(given)
    while isinstance(found, MethodVariable) and found.function is not None:
        found = vm.look(found.function)
    if not isinstance(found, FunctionVariable):
        raise Break("unknown-call", name=f"inspect.{called.code.co_name}() of a {found.kind}")
    return Constant(bool(found.code.co_flags & GENERATOR))


def _implementation(
    vm: Any, called: FunctionVariable, args: list[Variable], kwargs: dict[str, Variable]
) -> Variable:
    """dispatch(cls): the function that is registered for the class."""
    cls = vm.look(args[0]) if len(args) == 1 and not kwargs else Constant(None)
    if not isinstance(cls, Constant) or not issubclass(type(cls.value), type):
        raise Break("unknown-call", name="dispatch() of what is no class")
    found = called.value(cls.value)
    name, kind = getattr(found, "__name__", "implementation"), cls.value.__name__
    dispatch, key, own = (
        vm.builder.constant(value, hint)
        for value, hint in ((called.value, "dispatch"), (cls.value, kind), (found, name))
    )
    code, words = f"{dispatch}({key}) is {own}", f"another function is registered for {kind}"
    origin = vm.builder.origin
    vm.builder.add(kinds.condition("ID_MATCH", kind, code, dispatch, name, words, origin))
    return vm.lazy(source.constant(name, own), found)  # not looked at: it is not called yet


def _computed(
    vm: Any, called: FunctionVariable, args: list[Variable], kwargs: dict[str, Variable]
) -> Variable:
    """A function that does nothing else."""
    from .interpreter.fold import called_with  # late: it needs the interpreter

    title = f"{called.namespace['__name__']}.{called.code.co_name}()"
    return called_with(vm, title, called.value, args, kwargs)


for _function in (
    re.compile, re.escape, re.findall, re.finditer, re.fullmatch, re.match, re.search, re.split,
    re.sub, re.subn,
):  # fmt: skip
    means(_function, _computed)
means(inspect.isgeneratorfunction, _is_generator_function)
means_by_code(DISPATCH.dispatch.__code__, _implementation)
