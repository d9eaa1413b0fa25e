"""Objects of the user's classes, made inside: `__new__` and `__init__`, and what `object` itself
does.

In: a class and the arguments of its call.  Out: an `ObjectVariable` without a value; it is made for
real at the end of the region, if it is still needed then.
Invariant: only a class whose making ends in `object.__new__` is followed: nothing else is known to
make an object of attributes and nothing more.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from types import FunctionType
from typing import Any

from .. import objects, storing
from ..bases import base_of, contents
from ..breaks import Break, WouldRaise
from ..bytecode import Instruction
from ..classes import has_dictionary, has_slots, is_fixed, mro
from ..frame import UNBOUND, SymbolicFrame, is_mark
from ..lab_functions import READ_MODULES
from ..polyfills import copies
from ..variables import (
    Call,
    CellVariable,
    Constant,
    MethodVariable,
    ObjectVariable,
    SuperVariable,
    Variable,
)
from .builtin_calls import Args, rule
from .continuations import call_then
from .core import Interpreter
from .fold import python_value
from .table import opcode


def makes_instances(vm: Interpreter, value: Any) -> bool:
    """Is it a class whose calls are `type.__call__`'s to answer, and its making ours to follow?"""
    if not issubclass(type(value), type) or issubclass(value, BaseException):
        return False
    if value is not object and is_fixed(value) and value.__module__ not in READ_MODULES:
        return False
    return True


TYPE_CALL = vars(type)["__call__"]


def call_class(
    vm: Interpreter,
    frame: SymbolicFrame,
    cls: type,
    args: Args,
    kwargs: dict[str, Variable],
) -> int | None:
    """cls(*args, **kwargs)."""
    call = vm.classes.entry(vm.classes.of(cls), "__call__")
    assert call is not None
    if type(call.raw) is FunctionType:  # the metaclass has a say
        function = vm.lazy(call.source, call.raw)
        push = lambda vm, value: frame.stack.append(value)
        return call_then(vm, function, [objects.class_constant(vm, cls), *args], kwargs, push)
    if call.raw is not TYPE_CALL:
        raise Break("new-object", name=cls.__name__)
    return create(vm, frame, cls, args, kwargs)


def create(
    vm: Interpreter,
    frame: SymbolicFrame,
    cls: type,
    args: Args,
    kwargs: dict[str, Variable],
) -> int | None:
    """type.__call__(cls, *args, **kwargs): `__new__`, and `__init__` on what that makes."""
    new = vm.classes.entry(cls, "__new__")
    assert new is not None
    made = objects.class_constant(vm, cls)

    def initialize(vm: Interpreter, value: Variable) -> int | None:
        return _initialize(vm, frame, cls, vm.look(value), args, kwargs)

    if type(new.raw) is staticmethod:
        function = vm.lazy(new.source.attribute("__func__"), new.raw.__func__)
        return call_then(vm, function, [made, *args], kwargs, initialize)
    init = vm.classes.entry(cls, "__init__")
    if new.raw is object.__new__ and (args or kwargs) and init and init.where is object:
        raise WouldRaise(TypeError(f"{cls.__name__}() takes no arguments"))
    base = base_of(cls)
    if base is not None and new.raw is base.__new__:
        return call_then(vm, Constant(new.raw), [made, *args], kwargs, initialize)
    if new.raw is not object.__new__:
        raise Break("new-object", name=cls.__name__)
    return initialize(vm, allocate(vm, cls))


def allocate(vm: Interpreter, cls: type) -> ObjectVariable:
    """object.__new__(cls)."""
    if vm.classes.is_abstract(cls):
        raise WouldRaise(TypeError(f"Can't instantiate abstract class {cls.__name__}"))
    if vm.classes.entry(cls, "__del__") is not None:  # it is told when nobody holds it any more
        raise Break("new-object", name=cls.__name__)
    return ObjectVariable(cls)


def _initialize(
    vm: Interpreter,
    frame: SymbolicFrame,
    cls: type,
    made: Variable,
    args: Args,
    kwargs: dict[str, Variable],
) -> int | None:
    owner = objects.instance(vm, made)
    if owner is None or not issubclass(owner.cls, cls):
        frame.stack.append(made)  # what __new__ gave instead is not initialized
        return None
    init = objects.special(vm, owner, "__init__")
    assert init is not None
    if isinstance(init, MethodVariable) and isinstance(init.function, Constant):
        if init.function.value is object.__init__:
            frame.stack.append(made)
            return None
        if contents(vm, made) is None:
            raise Break("new-object", name=cls.__name__)

    def check(vm: Interpreter, value: Variable) -> None:
        value = vm.look(value)
        if not isinstance(value, Constant) or value.value is not None:
            raise WouldRaise(TypeError(f"__init__() should return None, not {value.kind!r}"))
        frame.stack.append(made)

    return call_then(vm, init, args, kwargs, check)


# ---- super ---------------------------------------------------------------------------------------


def super_of(vm: Interpreter, cls: Variable, owner: Variable) -> SuperVariable:
    """super(cls, owner). Raises WouldRaise(TypeError) for an owner that is no instance of it."""
    after, found = vm.look(cls), vm.look(owner)
    if not isinstance(after, Constant) or not issubclass(type(after.value), type):
        raise Break("operation", what=f"super of a {after.kind}")
    if isinstance(found, Constant) and issubclass(type(found.value), type):
        if any(place is after.value for place in mro(found.value)):
            return SuperVariable(after.value, found, found.value, True)
    known = objects.asked(vm, found)
    if known is None:
        raise Break("operation", what=f"super of a {found.kind}")
    if not any(place is after.value for place in mro(known.cls)):
        raise WouldRaise(TypeError("super(type, obj): obj must be an instance or subtype of type"))
    return SuperVariable(after.value, found, known.cls, False)


@rule(super)
def _super(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    """Without arguments it takes its class and its object from the frame that calls it."""
    if len(args) == 2 and not kwargs:
        return super_of(vm, *args)
    frame = vm.frames[-1]
    if args or kwargs or "__class__" not in frame.code.co_freevars or not frame.code.co_argcount:
        raise Break("unknown-call", name="super()")
    cell, first = vm.look(frame.fast[frame.table.slots.index("__class__")]), frame.fast[0]
    if isinstance(first, CellVariable):
        first = first.content or first
    if not isinstance(cell, CellVariable) or cell.content is None or is_mark(first, UNBOUND):
        raise Break("unknown-call", name="super()")
    return super_of(vm, cell.content, first)


# ---- object's own methods, called by name or through super() -------------------------------------


@opcode("LOAD_BUILD_CLASS")
def load_build_class(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    raise Break("build-class")


COPY_HOOKS = (
    "__copy__ __deepcopy__ __reduce__ __reduce_ex__ __getstate__ __setstate__ __getnewargs__ "
    "__getnewargs_ex__ __new__ __getattr__ __getattribute__"
).split()


@rule(copies.is_its_attributes)
def _is_its_attributes(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    value = vm.look(args[0])
    if type(value) is not ObjectVariable or not makes_instances(vm, value.cls):
        return Constant(False)
    cls = value.cls
    special = has_slots(cls) or base_of(cls) is not None or cls in copyreg.dispatch_table
    hooks = [vm.classes.entry(cls, name) for name in COPY_HOOKS]
    plain = all(hook is None or hook.where is object for hook in hooks)
    return Constant(plain and not special and has_dictionary(cls))


@rule(object.__new__)
def _new(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    cls = vm.look(args[0]) if args else Constant(None)
    if not isinstance(cls, Constant) or not issubclass(type(cls.value), type):
        raise WouldRaise(TypeError("object.__new__(X): X is not a type object"))
    new = vm.classes.entry(cls.value, "__new__")
    if base_of(cls.value) is not None:  # "is not safe", says CPython
        raise Break("new-object", name=cls.value.__name__)
    overridden = new is not None and type(new.raw) is staticmethod
    if len(args) > 1 or kwargs or not overridden and (new is None or new.raw is not object.__new__):
        raise Break("new-object", name=cls.value.__name__)
    return allocate(vm, cls.value)


@rule(object.__init__)
def _init(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    if len(args) != 1 or kwargs:
        raise Break("unknown-call", name="object.__init__ with arguments")
    return Constant(None)


def _on_object(
    method: Any, act: Callable[[Interpreter, objects.Instance, Args], Variable | Call | None]
) -> None:
    def handle(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable | Call:
        owner = objects.instance(vm, args[0]) if args and not kwargs else None
        if owner is None:
            raise Break("unknown-call", name=f"object.{method.__name__}")
        result = act(vm, owner, args[1:])
        return Constant(None) if result is None else result

    rule(method)(handle)


_on_object(
    object.__setattr__,
    lambda vm, owner, args: storing.generic_store(vm, owner, python_value(vm, args[0]), args[1]),
)
_on_object(
    object.__delattr__,
    lambda vm, owner, args: storing.generic_store(vm, owner, python_value(vm, args[0]), None),
)
_on_object(
    object.__getattribute__,
    lambda vm, owner, args: objects.generic(vm, owner, python_value(vm, args[0])),
)
