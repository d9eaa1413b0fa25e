"""bytearray: made, changed and read.

In: its variable and arguments.  Out: the result; a real bytearray is changed, and for one from
outside an effect is written down.
Invariant: what is in it is plain, so a real one does everything; one from outside is guarded by all
that it holds.
"""

from __future__ import annotations

from typing import Any

from ..breaks import WouldRaise
from ..variables import BytearrayVariable, Constant, Variable
from .core import Interpreter
from .fold import folded, python_value, wrapped
from .methods import Args, Kwargs, slots
from .rules import rule

CHANGING = frozenset("append clear extend insert pop remove reverse __iadd__ __imul__".split())


@rule(bytearray)
def _bytearray(vm: Interpreter, args: Args, kwargs: Kwargs) -> Variable:
    names, count = list(kwargs), len(args)
    make = lambda *given: bytearray(*given[:count], **dict(zip(names, given[count:])))
    return folded(vm, "bytearray()", make, *args, *kwargs.values())


def bytearray_method(
    vm: Interpreter, owner: BytearrayVariable, name: str, args: Args, kwargs: Kwargs
) -> Variable:
    """owner.name(*args, **kwargs)."""
    if name not in CHANGING or kwargs:
        names, count = list(kwargs), 1 + len(args)
        call = lambda own, *given: getattr(own, name)(
            *given[: count - 1], **dict(zip(names, given[count - 1 :]))
        )
        return folded(vm, f"bytearray.{name}()", call, owner, *args, *kwargs.values())
    result = _change(vm, owner, f"{{}}.{name}({slots(len(args))})", name, args)
    return owner if result is owner.items else wrapped(result)


def set_item(vm: Interpreter, owner: BytearrayVariable, key: Variable, value: Variable) -> None:
    """owner[key] = value."""
    _change(vm, owner, "{}[{}] = {}", "__setitem__", [key, value])


def delete_item(vm: Interpreter, owner: BytearrayVariable, key: Variable) -> None:
    """del owner[key]."""
    _change(vm, owner, "del {}[{}]", "__delitem__", [key])


def _change(
    vm: Interpreter, owner: BytearrayVariable, template: str, name: str, args: Args
) -> Any:
    given = [python_value(vm, arg) for arg in args]
    vm.changed()
    try:
        result = getattr(owner.items, name)(*given)
    except (IndexError, TypeError, ValueError, OverflowError) as error:
        raise WouldRaise(error, exact=True) from None
    vm.looker.write(owner, template, *(Constant(value) for value in given))
    return result
