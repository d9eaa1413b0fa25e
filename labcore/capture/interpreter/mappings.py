"""OrderedDict and defaultdict: what they do that a dict does not.

In: a call of one of the classes, or of a method.  Out: a dict's variable with its class, for a
defaultdict with the factory of what is missing.
Invariant: anything else about them is a dict's (see `dicts.py`).
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict

from ..breaks import Break, WouldRaise
from ..keys import held, key_of, key_variable
from ..variables import Constant, DictVariable, TupleVariable, Variable
from . import dicts
from .builtin_calls import Args, call_builtin, rule
from .control import truth
from .core import Interpreter
from .identity import same
from .methods import NONE, Kwargs, Methods

FACTORIES = (list, dict, set, tuple, int, float, str, bool)  # which need no code of the user's


@rule(OrderedDict)
def _ordered_dict(vm: Interpreter, args: Args, kwargs: Kwargs) -> Variable:
    made = DictVariable(OrderedDict(), cls=OrderedDict)
    dicts.update(vm, made, args, kwargs)
    return made


@rule(defaultdict)
def _default_dict(vm: Interpreter, args: Args, kwargs: Kwargs) -> Variable:
    factory = args[0] if args else Constant(None)
    if not same(vm, factory, Constant(None)):
        value = vm.look(factory)
        if not isinstance(value, Constant) or value.value not in FACTORIES:
            raise Break("new-object", name="defaultdict")
    made = DictVariable({}, cls=defaultdict, factory=factory)
    dicts.update(vm, made, args[1:], kwargs)
    return made


def missing(vm: Interpreter, owner: DictVariable, key: Variable) -> Variable:
    """owner[key] of a defaultdict: what is not there is made, and put there. Raises WouldRaise."""
    name = key_of(vm, key)
    if vm.looker.has_key(owner, name) or owner.factory is None:
        return vm.looker.item(owner, name)
    if same(vm, owner.factory, Constant(None)):
        raise WouldRaise(KeyError(held(name)), exact=not isinstance(name, Variable))
    factory = vm.look(owner.factory)
    if not isinstance(factory, Constant) or not any(factory.value is cls for cls in FACTORIES):
        raise Break("unknown-call", name="a defaultdict's factory")
    made = call_builtin(vm, factory.value, [], {})
    assert isinstance(made, Variable)
    vm.looker.set_item(owner, name, made)
    return made


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
