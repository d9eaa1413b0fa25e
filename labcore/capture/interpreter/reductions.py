"""sum, min, max and sorted of plain values: computed by the builtin itself. Everything else is the
polyfill's.

Invariant: min, max and sorted choose among variables, so the very objects come out.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

from ..breaks import Break
from ..polyfills import reductions as polyfills, selections, sorting
from ..variables import (
    Call,
    Constant,
    ListVariable,
    NumberVariable,
    TupleVariable,
    Variable,
)
from .arithmetic import symbolic
from .builtin_calls import Args, Rule, rule
from .core import Interpreter
from .fold import folded, python_value
from .operators import binary
from .polyfilled import inlined

Kwargs = dict[str, Variable]


def _items(vm: Interpreter, variable: Variable) -> list[Variable] | None:
    """The items of a tuple, list or constant sequence."""
    value = vm.look(variable)
    if isinstance(value, TupleVariable):
        return value.items
    if isinstance(value, ListVariable):
        return vm.looker.items(value)
    if isinstance(value, Constant) and type(value.value) in (tuple, range, str, bytes):
        return [Constant(item) for item in value.value]
    return None


def _plain(vm: Interpreter, items: list[Variable]) -> list[Any] | None:
    """Values that need no symbols; numbers that vary are compared one by one."""
    if any(isinstance(vm.look(item), NumberVariable) for item in items):
        return None
    try:
        return [python_value(vm, item) for item in items]
    except Break:
        return None


@rule(sum)
def _sum(vm: Interpreter, args: Args, kwargs: Kwargs) -> Variable | Call:
    items = _items(vm, args[0]) if args else None
    start = kwargs.get("start", args[1] if len(args) > 1 else Constant(0))
    if items is not None and len(args) + len(kwargs) <= 2:
        given = [vm.look(item) for item in [start, *items]]
        if all(item.kind == "int" for item in given):  # and some of them may vary
            return reduce(partial(binary, vm, "+"), given[1:], given[0])
        if all(map(_is_number, given)) or _refused(given[0]):
            return folded(vm, "sum()", lambda first, *rest: builtins.sum(rest, first), *given)
        if not items:
            return start
    return inlined(polyfills.sum, args, kwargs)


def _is_number(value: Variable) -> bool:
    return isinstance(value, NumberVariable) or (
        isinstance(value, Constant) and polyfills.is_number(value.value)
    )


@rule(polyfills.is_number)
def _is_number_rule(vm: Interpreter, args: Args, kwargs: Kwargs) -> Variable:
    value = vm.look(args[0])
    return Constant(_is_number(value))


def _refused(start: Variable) -> bool:
    """sum() adds no texts."""
    return isinstance(start, Constant) and type(start.value) in (str, bytes)


def _extreme(function: Callable[..., Any], replacement: Any) -> Rule:
    """Plain values are compared by the builtin."""

    def decide(vm: Interpreter, args: Args, kwargs: Kwargs) -> Variable | Call:
        items = args if len(args) > 1 else _items(vm, args[0]) if args else None
        found = None if kwargs or not items else symbolic(vm, function, list(map(vm.look, items)))
        if found is not None:
            return found
        values = None if kwargs or items is None else _plain(vm, items)
        if values is None:
            return inlined(replacement, args, kwargs)
        if not values:
            return folded(vm, f"{function.__name__}()", lambda: function(()))
        choose = lambda: function(range(len(values)), key=values.__getitem__)
        place = folded(vm, f"{function.__name__}()", choose)
        assert items is not None
        return items[python_value(vm, place)]

    return decide


rule(min)(_extreme(min, polyfills.min))
rule(max)(_extreme(max, polyfills.max))


@rule(sorting.order)
def _order(vm: Interpreter, args: Args, kwargs: Kwargs) -> Variable | Call:
    """Where each item goes: the builtin sorts the places of ranks that are plain values."""
    items = _items(vm, args[0])
    ranks = None if items is None else _plain(vm, items)
    if ranks is None:
        return inlined(sorting.order, args, kwargs)
    return folded(
        vm,
        "sorted()",
        lambda reverse: sorted(range(len(ranks)), key=ranks.__getitem__, reverse=reverse),
        args[1],
    )


@rule(sorting.too_many)
def _too_many(vm: Interpreter, args: Args, kwargs: Kwargs) -> Variable:
    what = f"a sort of more than {sorting.LIMIT} items that compare by code of the user's"
    raise Break("operation", what=what)


@rule(selections.check)
def _check(vm: Interpreter, args: Args, kwargs: Kwargs) -> Variable:
    function = vm.look(args[0])
    assert isinstance(function, Constant)

    def call(*values: Any) -> None:
        count = len(values) - len(kwargs)
        function.value(*values[:count], **dict(zip(kwargs, values[count:])))

    given = [*args[1:], *kwargs.values()]
    return folded(vm, f"{function.value.__name__}()", call, *given)
