"""Python arithmetic on constants, done while capturing.

Invariant: only values of the interpreter's own immutable types and of the lab's are computed
with, so no user code runs.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

from ... import devices, dtypes
from ...guards.kinds import ATOMS, is_too_long
from ...tensor.size import Size
from ..breaks import Break, WouldRaise
from ..keys import key_variable
from ..variables import (
    BytearrayVariable,
    Constant,
    DequeVariable,
    DictVariable,
    IteratorVariable,
    ListVariable,
    NumberVariable,
    SetVariable,
    SliceVariable,
    TupleVariable,
    Variable,
)
from .arithmetic import symbolic
from .core import Interpreter

PLAIN = frozenset(
    {*ATOMS, dtypes.dtype, devices.device, slice, CodeType, re.Pattern, re.Match, re.RegexFlag}
)
MATCHES: Any = type(re.finditer("", ""))


def is_plain(value: Any) -> bool:
    """Immutable, printable, and computing with it runs no code of the user's."""
    kind = type(value)
    if is_too_long(value):
        return False
    if kind is tuple or kind is Size:
        return all(map(is_plain, value))
    return kind in PLAIN or kind is frozenset and all(map(is_plain, value))


def python_value(vm: Interpreter, variable: Variable) -> Any:
    """The plain Python value of a variable. Raises Break when it has none."""
    value = vm.look(variable)
    if isinstance(value, Constant) and is_plain(value.value):
        return value.value
    if isinstance(value, NumberVariable):
        return vm.looker.numbers.constant(value).value
    if isinstance(value, TupleVariable) and value.cls in (tuple, Size):
        items = tuple(python_value(vm, item) for item in value.items)
        return Size(items) if value.cls is Size else items
    if isinstance(value, ListVariable):
        return [python_value(vm, item) for item in vm.looker.items(value)]
    if isinstance(value, DequeVariable):
        plain = [python_value(vm, item) for item in vm.looker.queue(value)]
        return deque(plain, value.maxlen)
    if isinstance(value, BytearrayVariable):
        return bytearray(value.items)
    if isinstance(value, DictVariable) and value.cls is dict:
        pairs = vm.looker.dict_items(value).items()
        keys = [python_value(vm, key_variable(vm.builder, key)) for key, _ in pairs]
        return dict(zip(keys, [python_value(vm, item) for _, item in pairs]))
    if isinstance(value, SetVariable) and all(map(is_plain, elements := vm.looker.elements(value))):
        return elements  # itself, for a copy may have another order
    if isinstance(value, SliceVariable):
        return slice(*(python_value(vm, part) for part in value.parts))
    raise Break("operation", what=f"a {value.kind} where a constant is needed")


def folded(
    vm: Interpreter, what: str, function: Callable[..., Any], *variables: Variable
) -> Variable:
    """The constant that `function` gives, or a symbolic number where it is given some. Raises
    WouldRaise for what it raises."""
    found = symbolic(vm, function, [vm.look(variable) for variable in variables])
    if found is not None:
        return found
    values = []
    for variable in variables:
        try:
            values.append(python_value(vm, variable))
        except Break as stop:
            if stop.id == "varying-number":
                raise
            raise Break("operation", what=f"{what} of a {vm.look(variable).kind}") from None
    try:
        result = function(*values)
    except Exception as error:
        raise WouldRaise(error, exact=True) from None
    return wrapped(result)


def called_with(
    vm: Interpreter,
    what: str,
    function: Callable[..., Any],
    args: Sequence[Variable],
    kwargs: dict[str, Variable],
) -> Variable:
    """What a call of the function gives, as `folded`."""
    count, names = len(args), list(kwargs)
    call = lambda *values: function(*values[:count], **dict(zip(names, values[count:])))
    return folded(vm, what, call, *args, *kwargs.values())


def wrapped(value: Any) -> Variable:
    """A variable for a plain value that was just computed; a new list is one made inside."""
    if type(value) is list:
        return ListVariable([wrapped(item) for item in value])
    if type(value) is dict:
        return DictVariable({key: wrapped(item) for key, item in value.items()})
    if type(value) is bytearray:
        return BytearrayVariable(value)
    if type(value) is MATCHES:
        return IteratorVariable([wrapped(match) for match in value])
    if not is_plain(value):
        raise Break("operation", what=f"a constant of type {type(value).__name__}")
    return Constant(value)
