"""Calls of builtins, of methods of builtin types, and of operators.

Invariant: a builtin is computed only from plain values or from what the variables know; anything
else is a Break.
"""

from __future__ import annotations

import builtins
import itertools
import math
import operator
from types import GeneratorType, MethodDescriptorType, WrapperDescriptorType
from typing import Any

from ...ops import Op
from .. import objects
from ..bases import base_of
from ..breaks import Break, WouldRaise
from ..numbers import lifted
from ..polyfills import iterators, methods, selections
from ..variables import (
    BytearrayVariable,
    Call,
    Constant,
    DequeVariable,
    DictVariable,
    IteratorVariable,
    ListVariable,
    NumberVariable,
    ObjectVariable,
    SetVariable,
    TensorVariable,
    TupleVariable,
    Variable,
    ViewVariable,
)
from .arithmetic import symbolic
from .bytearrays import bytearray_method
from .consumers import consuming, consuming_method
from .control import iterate, iterator
from .core import Interpreter
from .deques import backwards, deque_method
from .dicts import dict_method, fromkeys, update
from .enums import as_index, computed
from .equality import spelled_out
from .fold import called_with
from .generators import stop_iteration
from .iteration import all_items, ask_iterator, push, take_next
from .lists import list_method
from .methods import by_rule
from .object_builtins import is_object, on_object
from .operators import binary
from .polyfilled import as_variable, inlined, polyfill, twin
from .pure import TYPES, is_pure
from .rules import RULES, Args as Args, Rule as Rule, rule as rule
from .searching import SEARCHES, SEQUENCES, search
from .sets import make_set, set_method
from .type_of import type_of

EFFECT_NAMES = "breakpoint input open print __import__"
FRAME_READERS = "dir eval exec globals locals vars"


def _builtins(names: str) -> list[Any]:
    return [getattr(builtins, name) for name in names.split()]


EFFECTS = frozenset(map(id, _builtins(EFFECT_NAMES)))
READERS = frozenset(map(id, _builtins(FRAME_READERS)))
GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)
# Methods of builtin containers that an instruction or a builtin means.
SPECIAL_METHODS = {
    "__len__": len,
    "__iter__": iter,
    "__contains__": operator.contains,
    "__getitem__": operator.getitem,
    "__setitem__": operator.setitem,
    "__delitem__": operator.delitem,
}
FROM_A_HEAP = ("heappop", "heapreplace")
METHODS_IN_C = (MethodDescriptorType, WrapperDescriptorType)


def call_builtin(
    vm: Interpreter, function: Any, args: Args, kwargs: dict[str, Variable]
) -> Variable | Call | None:
    """function(*args, **kwargs), for a function that is no Python function."""
    if isinstance(function, Op):
        return vm.operators.call(function, args, kwargs)
    stepping = consuming(vm, function, args, kwargs)
    if stepping is not None:
        return stepping
    found = RULES.get(id(function))
    if found is not None:
        return found(vm, args, kwargs)
    name = getattr(function, "__name__", type(function).__name__)
    if id(function) in EFFECTS:
        raise Break("side-effect-call", name=f"{name}()")
    if id(function) in READERS:
        raise Break("caller-frame", name=f"{name}()")
    replacement = polyfill(function)
    if replacement is not None:
        if getattr(function, "__module__", "") == "_heapq" and args:
            heap = vm.look(args[0])
            if not isinstance(heap, ListVariable):  # C is more strict
                raise Break("unknown-call", name=f"{name}() of what is no list")
            if name in FROM_A_HEAP and not vm.looker.items(heap):  # in other words than Python's
                raise WouldRaise(IndexError("index out of range"), exact=True)
        return inlined(replacement, args, kwargs)
    if any(function is getter for getter in GETTERS):  # classes, made as the user's are
        return Call(Constant(twin("operator", "_operator")[name]), args, kwargs)
    if type(function) in METHODS_IN_C and args:
        return _unbound(vm, function, args, kwargs)
    if is_pure(function):
        return fold_call(vm, function, args, kwargs)
    if not callable(function):
        raise WouldRaise(TypeError(f"{name!r} object is not callable"))
    if issubclass(type(function), type):
        error = issubclass(function, BaseException)
        raise Break("exception" if error else "new-object", name=name)
    raise Break("unknown-call", name=f"{_full_name(function)}()")


def _full_name(function: Any) -> str:
    """As a program names a function in C: time.perf_counter, str.join."""
    name = getattr(function, "__qualname__", type(function).__name__)
    module = getattr(function, "__module__", None)
    return name if module in (None, "builtins") else f"{module}.{name}"


def _unbound(
    vm: Interpreter, function: Any, args: Args, kwargs: dict[str, Variable]
) -> Variable | Call:
    """str.upper(text), list.index(items, 1): the method of a builtin type, called on its owner."""
    owner = vm.look(args[0])
    if isinstance(owner, ObjectVariable) and function.__objclass__ is base_of(owner.cls):
        return _of_base(vm, owner, function.__name__, args[1:], kwargs)
    members = None if kwargs else computed(vm, (function.__name__,), function, owner, *args[1:])
    if members is not None:
        return members
    if is_object(vm, owner) or not issubclass(type_of(vm, owner), function.__objclass__):
        if isinstance(owner, ObjectVariable) and type(owner.value) is GeneratorType:
            raise Break("generator", name=owner.value.__qualname__)
        if function.__name__ in ("__iter__", "__next__") and isinstance(owner, ObjectVariable):
            raise Break("iterator", name=f"a {owner.kind}")
        raise Break("unknown-call", name=f"{function.__qualname__}()")
    if type_of(vm, owner) is not function.__objclass__:
        raise Break("unknown-call", name=f"{function.__qualname__}() of a subclass's instance")
    return call_method(vm, owner, function.__name__, args[1:], kwargs)


def _of_base(
    vm: Interpreter, owner: ObjectVariable, name: str, args: Args, kwargs: dict[str, Variable]
) -> Variable | Call:
    from .derived import base_method  # late: it calls methods of what is in the object

    return base_method(vm, owner, name, args, kwargs)


def fold_call(
    vm: Interpreter, function: Any, args: Args, kwargs: dict[str, Variable]
) -> Variable | Call:
    """function(*args, **kwargs), for one that is pure."""
    name = _full_name(function)
    if function is range:
        args = [as_index(vm, arg) for arg in args]
    if any(isinstance(vm.look(a), TensorVariable) for a in args):
        if function in (int, float, bool, complex):
            raise Break("tensor-to-python", name=f"__{name}__")
        if function is abs:
            return vm.operators.method(vm.look(args[0]), "abs", [])  # type: ignore[arg-type]
        if function is pow and len(args) == 2 and not kwargs:
            return binary(vm, "**", *args)
        raise Break("unknown-call", name=f"{name}() with a tensor")
    if args and not kwargs and is_object(vm, args[0]):
        return on_object(vm, function, args)
    if not kwargs:
        found = symbolic(vm, function, [vm.look(arg) for arg in args])
        if found is not None:
            return found
    return called_with(vm, f"{name}()", function, args, kwargs)


# ---- sizes and items ----------------------------------------------------------------------------


@rule(len)
def _len(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable | Call:
    if len(args) == 1 and not kwargs:
        value = vm.look(args[0])
        if isinstance(value, TensorVariable):
            if not value.meta.shape:
                raise WouldRaise(TypeError("len() of a 0-d tensor"))
            return lifted(value.meta.shape[0])
        if isinstance(value, DictVariable):
            return Constant(vm.looker.mapping_length(value))
        if isinstance(value, SetVariable):
            return Constant(vm.looker.set_length(value))
        if isinstance(value, (ListVariable, DequeVariable)):
            length = vm.looker.symbolic_length(value)
            if length is not None:
                return length
        if isinstance(value, (TupleVariable, ListVariable, DequeVariable, ViewVariable)):
            return Constant(len(iterate(vm, value)))
    return fold_call(vm, len, args, kwargs)


def _make_sequence(kind: type[TupleVariable] | type[ListVariable]) -> Rule:
    def make(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable | None:
        if kwargs or len(args) > 1:
            raise WouldRaise(TypeError("expected at most 1 argument"))
        if not args:
            return kind([])
        given = vm.look(args[0])
        if kind is TupleVariable and isinstance(given, TupleVariable) and given.cls is tuple:
            return given  # as CPython does
        all_items(vm, args[0], lambda items: push(vm, kind(items)), room=True)
        return None

    return make


RULES[id(tuple)], RULES[id(list)] = _make_sequence(TupleVariable), _make_sequence(ListVariable)


@rule(dict)
def _dict(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    made = DictVariable({})
    update(vm, made, args, kwargs)
    return made


@rule(set)
def _set(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    if kwargs:
        raise WouldRaise(TypeError("set() takes no keyword arguments"))
    return make_set(vm, args)


@rule(reversed)
def _reversed(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    value = vm.look(args[0])
    if isinstance(value, IteratorVariable):
        raise WouldRaise(TypeError("an iterator is not reversible"))
    if isinstance(value, DequeVariable):
        return backwards(vm, value)
    items = iterator(vm, value).items
    return IteratorVariable(items, len(items) - 1, -1)


@rule(iter)
def _iter(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Call | None:
    if len(args) == 2 and not kwargs:
        return inlined(iterators.called_until, args, kwargs)
    if len(args) != 1 or kwargs:
        raise Break("unknown-call", name="iter() with such arguments")
    ask_iterator(vm, args[0], push)
    return None


@rule(bool)
def _bool(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable | Call:
    value = vm.look(args[0]) if len(args) == 1 and not kwargs else None
    if isinstance(value, (TensorVariable, NumberVariable, type(None))):
        return fold_call(vm, bool, args, kwargs)
    return Call(as_variable(methods.truth), args)


@rule(next)
def _next(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> None:
    if len(args) not in (1, 2) or kwargs:
        raise Break("unknown-call", name="next() with such arguments")

    def end(vm: Interpreter, value: Variable) -> None:
        if len(args) == 1:
            stop_iteration(vm, value)
        push(vm, args[1])

    take_next(vm, args[0], push, end)


# ---- methods of builtin types -------------------------------------------------------------------


def _of_class(
    vm: Interpreter, cls: type, name: str, args: Args, kwargs: dict[str, Variable]
) -> Variable | Call:
    """cls.name(...), for a constructor of a builtin type: int.from_bytes, dict.fromkeys."""
    if cls is itertools.chain and name == "from_iterable":
        return inlined(selections.from_iterable, args, kwargs)
    if name == "fromkeys" and base_of(cls) is dict:
        made = objects.class_constant(vm, cls)
        return inlined(methods.fromkeys, [made, *args], kwargs)
    if cls is dict and name == "fromkeys":
        return by_rule(vm, {name: fromkeys}, Constant(dict), name, args, kwargs)
    function = getattr(cls, name) if cls in TYPES else None
    if function is None or not is_pure(function):
        raise Break("unknown-call", name=f"{cls.__name__}.{name}()")
    return fold_call(vm, function, args, kwargs)


def call_method(
    vm: Interpreter, owner: Variable, name: str, args: Args, kwargs: dict[str, Variable]
) -> Variable | Call:
    """owner.name(...), for a tuple, list, dict or plain value."""
    if isinstance(owner, ObjectVariable) and base_of(owner.cls) is not None:
        return _of_base(vm, owner, name, args, kwargs)
    stepping = consuming_method(vm, owner, name, args, kwargs)
    if stepping is not None:
        return stepping
    if name in SPECIAL_METHODS and not kwargs and not isinstance(owner, Constant):
        return Call(Constant(SPECIAL_METHODS[name]), [owner, *args])
    if name in SEARCHES and isinstance(spelled_out(owner), SEQUENCES):
        return search(vm, spelled_out(owner), name, args, kwargs)
    if isinstance(owner, Constant) and issubclass(type(owner.value), type):
        return _of_class(vm, owner.value, name, args, kwargs)
    if isinstance(owner, DictVariable):
        return dict_method(vm, owner, name, args, kwargs)
    if isinstance(owner, ListVariable):
        return list_method(vm, owner, name, args, kwargs)
    if isinstance(owner, DequeVariable):
        return deque_method(vm, owner, name, args, kwargs)
    if isinstance(owner, BytearrayVariable):
        return bytearray_method(vm, owner, name, args, kwargs)
    if isinstance(owner, SetVariable):
        return set_method(vm, owner, name, args, kwargs)
    if name == "numel" and isinstance(owner, TupleVariable):
        found = symbolic(vm, math.prod, [owner])
        if found is not None:
            return found
    call = lambda own, *values, **names: getattr(own, name)(*values, **names)
    return called_with(vm, f"{name}()", call, [owner, *args], kwargs)
