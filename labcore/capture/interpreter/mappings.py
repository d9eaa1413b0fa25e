"""OrderedDict and defaultdict: what they do that a dict does not.

In: a call of one of the classes, or of a method.  Out: a dict's variable with its class, for a
defaultdict with the factory of what is missing.
Invariant: anything else about them is a dict's (see `dicts.py`).
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable

from ..breaks import Break, WouldRaise
from ..keys import held, key_of, key_variable
from ..polyfills import iterators
from ..variables import (
    Call,
    Constant,
    DictVariable,
    FunctionVariable,
    MethodVariable,
    TupleVariable,
    Variable,
)
from . import dicts
from .builtin_calls import Args, rule
from .consumers import steps
from .continuations import call_then
from .control import truth
from .core import Interpreter
from .identity import same
from .methods import NONE, Kwargs, Methods
from .object_builtins import is_object
from .polyfilled import inlined


@rule(OrderedDict)
def _ordered_dict(vm: Interpreter, args: Args, kwargs: Kwargs) -> Variable:
    made = DictVariable(OrderedDict(), cls=OrderedDict)
    dicts.update(vm, made, args, kwargs)
    return made


@rule(defaultdict)
def _default_dict(vm: Interpreter, args: Args, kwargs: Kwargs) -> Variable | Call:
    if len(args) == 2 and steps(vm, args[1]) and not is_object(vm, args[1]):
        return inlined(iterators.with_items_second, [Constant(defaultdict), *args], kwargs)
    factory = args[0] if args else Constant(None)
    value = vm.look(factory)
    callable_ = isinstance(value, (FunctionVariable, MethodVariable)) or (
        isinstance(value, Constant) and (value.value is None or callable(value.value))
    )
    if not callable_:
        raise Break("new-object", name="defaultdict")
    made = DictVariable({}, cls=defaultdict, factory=factory)
    dicts.update(vm, made, args[1:], kwargs)
    return made


def default_item(
    vm: Interpreter, owner: DictVariable, key: Variable, then: Callable[[Variable], int | None]
) -> int | None:
    """`then` with owner[key] of a defaultdict: what is not there is made, and put there. Raises
    WouldRaise."""
    name = key_of(vm, key)
    if vm.looker.has_key(owner, name) or owner.factory is None:
        return then(vm.looker.item(owner, name))
    if same(vm, owner.factory, Constant(None)):
        raise WouldRaise(KeyError(held(name)), exact=not isinstance(name, Variable))

    def keep(vm: Interpreter, made: Variable) -> int | None:
        vm.looker.set_item(owner, name, made)
        return then(made)

    return call_then(vm, owner.factory, [], {}, keep)


def _move_to_end(
    vm: Interpreter, owner: DictVariable, key: Variable, last: Variable = Constant(True)  # noqa: B008
) -> Variable:
    name, at_end = key_of(vm, key), truth(vm, last)
    items = vm.looker.dict_items(owner)
    if name not in items:
        raise WouldRaise(KeyError(held(name)), exact=not isinstance(name, Variable))
    place = key_variable(vm.builder, name)
    vm.looker.write(owner, f"{{}}.move_to_end({{}}, {at_end})", place)
    assert isinstance(items, OrderedDict)
    items.move_to_end(name, at_end)
    return NONE


def _popitem(
    vm: Interpreter, owner: DictVariable, last: Variable = Constant(True)  # noqa: B008
) -> Variable:
    at_end, items = truth(vm, last), vm.looker.dict_items(owner)
    if not items:
        raise WouldRaise(KeyError("dictionary is empty"), exact=True)
    vm.looker.write(owner, f"{{}}.popitem({at_end})")
    assert isinstance(items, OrderedDict)
    key, value = items.popitem(at_end)
    return TupleVariable([key_variable(vm.builder, key), value])


ORDERED: Methods = {"move_to_end": _move_to_end, "popitem": _popitem}
