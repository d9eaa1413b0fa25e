"""functools: partial, lru_cache, wraps; and what a function's own `__get__` and `__call__` do.

In: such a call.  Out: a partial or a method made inside, or the call of what is wrapped.
Invariant: a cache is only left out where nobody can tell: between plain values, without effects.
PyTorch leaves every lru_cache out, with a warning.
"""

from __future__ import annotations

import functools
import inspect
from types import BuiltinFunctionType, MethodType
from typing import Any

from ...ops import Op
from .. import objects
from ..attributes import attribute, set_attribute
from ..breaks import Break, WouldRaise
from ..frame import SymbolicFrame
from ..variables import (
    Call,
    Constant,
    DictVariable,
    FunctionVariable,
    ListVariable,
    MethodVariable,
    ObjectVariable,
    SetVariable,
    TupleVariable,
    Variable,
)
from .continuations import call_then
from .control import iterate
from .core import Interpreter
from .fold import is_plain, python_value
from .identity import same
from .rules import Args, rule
from .type_of import is_callable

PARTS = ("func", "args", "keywords")
ASSIGNED, UPDATED = functools.WRAPPER_ASSIGNMENTS, functools.WRAPPER_UPDATES
WITHOUT_DICT = (Op, BuiltinFunctionType)
COPIED = ("__module__", "__name__", "__qualname__", "__doc__")


@rule(inspect.isgeneratorfunction)
def _is_generator_function(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    function = vm.look([*args, *kwargs.values()][0])
    if not isinstance(function, FunctionVariable):
        raise Break("unknown-call", name="inspect.isgeneratorfunction()")
    return Constant(bool(function.code.co_flags & inspect.CO_GENERATOR))


@rule(functools.partial)
def _partial(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    if not args:
        raise WouldRaise(TypeError("type 'partial' takes at least one argument"))
    function, given, keywords = vm.look(args[0]), args[1:], dict(kwargs)
    if isinstance(function, ObjectVariable) and function.cls is functools.partial:
        if set(function.attributes) <= {*PARTS} and not vars(function.value or _EMPTY):
            function, first, others = parts_of(vm, function)
            given, keywords = [*first, *given], {**others, **keywords}
    if not is_callable(vm, function):
        raise WouldRaise(TypeError("the first argument must be callable"), exact=True)
    made = ObjectVariable(functools.partial)
    parts = function, TupleVariable(given), DictVariable({**keywords})
    made.attributes.update(zip(PARTS, parts))
    return made


_EMPTY: functools.partial[None] = functools.partial(lambda: None)


def parts_of(
    vm: Interpreter, made: ObjectVariable
) -> tuple[Variable, list[Variable], dict[Any, Variable]]:
    """(function, arguments, keywords) of a partial."""
    found = objects.instance(vm, made)
    assert found is not None
    function, args, keywords = (objects.generic(vm, found, name) for name in PARTS)
    assert not isinstance(function, Call) and not isinstance(args, Call)
    given = vm.look(keywords) if not isinstance(keywords, Call) else keywords
    assert isinstance(given, DictVariable)
    return function, iterate(vm, args), vm.looker.dict_items(given)


def call_cached(
    vm: Interpreter, frame: SymbolicFrame, function: ObjectVariable, args: Args, kwargs: Any
) -> int | None:
    """A function under lru_cache: what it wraps, if calling that once more changes nothing."""
    given = [vm.look(arg) for arg in (*args, *kwargs.values())]
    for value in given:
        if isinstance(value, (ListVariable, DictVariable, SetVariable)):
            raise WouldRaise(TypeError(f"unhashable type: {value.kind!r}"))
        if not isinstance(value, Constant) or not is_plain(value.value):
            raise Break("operation", what=f"a cached function of a {value.kind}")
    known, changes = objects.instance(vm, function), vm.effects.count
    assert known is not None
    wrapped = objects.own_attribute(vm, known, "__wrapped__")
    if wrapped is None:
        raise Break("unknown-call", name=known.title)

    def check(vm: Interpreter, value: Variable) -> None:
        value = vm.look(value)
        plain = isinstance(value, Constant) and is_plain(value.value)
        if not plain or vm.effects.count != changes:
            raise Break("operation", what="a cached function that does more than compute a value")
        frame.stack.append(value)

    return call_then(vm, wrapped, args, kwargs, check)


def call_function_method(
    vm: Interpreter, function: FunctionVariable, name: str, args: Args, kwargs: dict[str, Variable]
) -> Variable | Call:
    """function.__get__(object, cls), function.__call__(...)."""
    if name == "__call__":
        return Call(function, args, kwargs)
    if name != "__get__" or not 1 <= len(args) <= 2 or kwargs:
        raise Break("unknown-call", name=f"{name} of a function")
    owner = vm.look(args[0])
    nobody = isinstance(owner, Constant) and owner.value is None
    return function if nobody else MethodVariable(owner, function.code.co_name, function)


@rule(MethodType)
def _method_type(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    """types.MethodType(function, owner)."""
    if len(args) != 2 or kwargs:
        raise Break("new-object", name="method")
    function, owner = vm.look(args[0]), args[1]
    if not isinstance(function, FunctionVariable) or same(vm, owner, Constant(None)):
        raise Break("new-object", name="method")
    return MethodVariable(owner, function.code.co_name, function)


@rule(functools.update_wrapper)
def _update_wrapper(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    """functools.update_wrapper(wrapper, wrapped), for functions, operators and builtins."""
    if not args or len(args) + ("wrapped" in kwargs) < 2:
        raise WouldRaise(TypeError("update_wrapper() missing a required argument"))
    wrapper: Any = vm.look(args[0])
    wrapped: Any = vm.look(kwargs["wrapped"] if "wrapped" in kwargs else args[1])
    usual = len(args) <= 2 and isinstance(wrapper, FunctionVariable)
    for name, common in (("assigned", ASSIGNED), ("updated", UPDATED)):
        usual &= name not in kwargs or python_value(vm, kwargs[name]) == common
    if usual and isinstance(wrapped, Constant) and type(wrapped.value) in WITHOUT_DICT:
        return _wraps_constant(vm, wrapper, wrapped)
    usual &= isinstance(wrapped, FunctionVariable)
    if not usual or wrapped.annotated or _is_generic(wrapped.value):
        raise Break("unknown-call", name="functools.update_wrapper()")
    own = wrapped.attributes if wrapped.value is None else vars(wrapped.value)
    if wrapped.value is not None and not own.keys().isdisjoint(COPIED):  # hidden in __dict__
        raise Break("unknown-call", name="functools.update_wrapper()")
    for name in (*COPIED, *(key for key in own if key not in COPIED)):
        set_attribute(vm, wrapper, name, attribute(vm, wrapped, name))
    if wrapped.source is not None:
        annotations = wrapped.source.attribute("__annotations__")
        wrapper.attributes["__annotations__"] = vm.lazy(annotations, wrapped.value.__annotations__)
    set_attribute(vm, wrapper, "__wrapped__", wrapped)
    return wrapper


def _wraps_constant(vm: Interpreter, wrapper: FunctionVariable, wrapped: Constant) -> Variable:
    """For an operator or a builtin, which has nothing but what is copied."""
    for name in COPIED:
        if hasattr(wrapped.value, name):
            set_attribute(vm, wrapper, name, Constant(getattr(wrapped.value, name)))
    set_attribute(vm, wrapper, "__wrapped__", wrapped)
    return wrapper


def _is_generic(function: Any) -> bool:
    return bool(getattr(function, "__type_params__", ()))
