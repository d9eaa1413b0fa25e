"""Functions and methods in C that step through an iterable, given one that runs code of the
user's.

In: a callee and its arguments.  Out: the polyfill that steps in its place, or None where nothing
is to be run.
Invariant: what the callee changes step by step is changed step by step here.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from functools import partial
from typing import Any

from ..bases import plain
from ..polyfills import iterators
from ..variables import (
    Call,
    Constant,
    DequeVariable,
    DictVariable,
    GeneratorVariable,
    IteratorVariable,
    ListVariable,
    LiveIterator,
    MethodVariable,
    ObjectVariable,
    SetVariable,
    Variable,
    ViewVariable,
)
from .core import Interpreter
from .object_builtins import is_object, python_method
from .polyfilled import as_variable, inlined

Args = list[Variable]
FUNCTIONS = frozenset(
    map(id, (set, frozenset, dict, OrderedDict, bytes, bytearray, math.fsum, math.prod))
)
METHODS = frozenset(
    "join fromkeys union intersection difference symmetric_difference issubset issuperset "
    "isdisjoint".split()
)
STEPWISE: dict[tuple[type, str], Any] = {
    (ListVariable, "extend"): iterators.extend,
    (DequeVariable, "extend"): iterators.extend,
    (DequeVariable, "extendleft"): iterators.extend_left,
    (SetVariable, "update"): iterators.update_set,
    (DictVariable, "update"): iterators.update_dict,
}


def runs_code(vm: Interpreter, variable: Variable) -> bool:
    """Does iterating over it run a generator or a method of the user's?"""
    value = vm.look(variable)
    if isinstance(value, (GeneratorVariable, LiveIterator)):
        return True
    if not isinstance(plain(vm, value, "__iter__"), ObjectVariable):
        return False
    return is_object(vm, value) and python_method(vm, value, "__iter__") is not None


def steps(vm: Interpreter, variable: Variable) -> bool:
    """Is it, or does it run, something that only gives its items one after the other?"""
    one_by_one = isinstance(vm.look(variable), (IteratorVariable, ViewVariable))
    return one_by_one or runs_code(vm, variable)


def consuming(
    vm: Interpreter, function: Any, args: Args, kwargs: dict[str, Variable]
) -> Call | None:
    """function(*args, **kwargs), for one that takes all items first."""
    if id(function) not in FUNCTIONS or not args or not steps(vm, args[0]):
        return None
    if function in (dict, OrderedDict) and is_object(vm, args[0]):
        return inlined(iterators.dict_from, args, kwargs) if function is dict else None
    step = iterators.with_list if function is bytes else iterators.with_items
    return Call(as_variable(step), [Constant(function), *args], kwargs)


def consuming_method(
    vm: Interpreter, owner: Variable, name: str, args: Args, kwargs: dict[str, Variable]
) -> Call | None:
    """owner.name(*args, **kwargs)."""
    stepwise = STEPWISE.get((type(owner), name))
    if stepwise is None and (name not in METHODS or len(args) != 1):
        return None  # before its arguments are looked at: append only keeps what it is given
    if not any(map(partial(runs_code if stepwise else steps, vm), args)):
        return None
    if stepwise is iterators.update_dict and is_object(vm, args[0]):
        stepwise = iterators.update_from
    if stepwise is not None:
        return Call(as_variable(stepwise), [owner, *args], kwargs)
    step = iterators.with_list if name == "join" else iterators.with_items
    return Call(as_variable(step), [MethodVariable(owner, name), *args], kwargs)
