"""Methods of builtin containers: one function each, in a table for each type."""

from __future__ import annotations

from collections.abc import Callable

from ..breaks import Break
from ..variables import Constant, Variable
from .core import Interpreter
from .fitting import fit

NONE = Constant(None)  # an argument that was not given
Args = list[Variable]
Kwargs = dict[str, Variable]
Methods = dict[str, Callable[..., Variable]]


def by_rule(
    vm: Interpreter, methods: Methods, owner: Variable, name: str, args: Args, kwargs: Kwargs
) -> Variable:
    """owner.name(*args, **kwargs). Raises Break for a method without a rule, or a call that its
    rule's parameters do not fit: CPython then says what is wrong with it."""
    method = methods.get(name)
    if method is None:
        raise Break("unknown-call", name=f"{owner.kind}.{name}()")
    fit(f"{owner.kind}.{name}", method, [vm, owner, *args], kwargs)
    return method(vm, owner, *args, **kwargs)


def slots(count: int) -> str:
    """Places for items in the template of an effect."""
    return ", ".join(["{}"] * count)
