"""Attributes: of tensors, modules, functions, methods and containers; those of objects and classes
are in `objects.py`.

In: a variable and a name.  Out: the attribute's variable, under a guard only when it is looked at
later; or a `Call` that gives it.
Invariant: no code of the user's runs.
"""

from __future__ import annotations

import keyword
from collections import OrderedDict, defaultdict, deque
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING

from ..guards import Source, kinds, source
from ..ops import Op
from ..tensor import Tensor
from ..tensor.methods import Methods
from ..tensor.missing import Missing
from ..tensor.replaced import is_replaced
from ..tensor.size import Size
from . import objects, storing, tape_facts
from .breaks import Break, WouldRaise, no_rule
from .classes import static_entry
from .numbers import as_constant, lifted
from .objects import Found
from .variables import (
    BytearrayVariable,
    Call,
    Constant,
    DequeVariable,
    DictVariable,
    ExceptionVariable,
    FunctionVariable,
    GeneratorVariable,
    Lazy,
    ListVariable,
    MethodVariable,
    ModeVariable,
    NumberVariable,
    ObjectVariable,
    SetVariable,
    SliceVariable,
    SuperVariable,
    TensorVariable,
    TupleVariable,
    Variable,
)

if TYPE_CHECKING:
    from .interpreter.core import Interpreter

# What is known of a tensor without its numbers.
TENSOR_FACTS = {
    "shape": lambda meta: Size(meta.shape),
    "dtype": lambda meta: meta.dtype,
    "device": lambda meta: meta.device,
    "ndim": lambda meta: meta.ndim,
    "itemsize": lambda meta: meta.dtype.itemsize,
    "nbytes": lambda meta: meta.nbytes,
}
GENERATOR_METHODS = ("__iter__", "__next__", "close", "send", "throw")
TENSOR_VIEWS = ("T", "mT", "data")
SETTABLE = ("__name__", "__qualname__", "__module__", "__doc__")  # of a function made inside
FUNCTION_FACTS = frozenset(
    "__name__ __qualname__ __module__ __doc__ __defaults__ __kwdefaults__ __code__".split()
)


def attribute(vm: Interpreter, variable: Variable, name: str) -> Variable:
    """variable.name, where no code of the user's has to run for it."""
    found = find(vm, variable, name)
    if isinstance(found, Call):
        raise Break("attribute", name=name, what=f"a {vm.look(variable).kind}")
    return found


def find(vm: Interpreter, variable: Variable, name: str) -> Found:
    """variable.name, or the call that gives it. Raises WouldRaise(AttributeError)."""
    found = _find(vm, variable, name)
    if isinstance(found, Lazy):
        vm.looker.presence.asked_for(found)
    return found


def _find(vm: Interpreter, variable: Variable, name: str) -> Found:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise Break("attribute", name=name, what=f"a {variable.kind}")  # only getattr can ask this
    owner = vm.look(variable)
    if isinstance(variable, Lazy) and type(variable.value) is ModuleType:
        return _of_module(vm, variable.value, name, variable.source.name)
    if isinstance(owner, ExceptionVariable):
        from .interpreter.exception_values import exception_attribute  # late: it needs this

        known = exception_attribute(vm, owner, name)
        if known is not None:
            return known
    found = objects.instance(vm, owner)
    if found is not None:
        return objects.find(vm, found, name)
    if name == "__class__" and not is_class(owner):
        from .interpreter.type_of import type_of  # late: it needs this

        return objects.class_constant(vm, type_of(vm, owner))
    if isinstance(owner, TensorVariable):
        return _of_tensor(vm, owner, name)
    if isinstance(owner, NumberVariable) and name == "real":
        return owner
    if isinstance(owner, SliceVariable) and name in SliceVariable.NAMES:
        return owner.parts[SliceVariable.NAMES.index(name)]
    owner = as_constant(vm.looker.numbers, owner)
    if isinstance(owner, ModeVariable):
        return vm.modes.read(name)
    if isinstance(owner, GeneratorVariable) and name in GENERATOR_METHODS:
        return MethodVariable(owner, name)
    if isinstance(owner, Constant):
        return _of_constant(vm, owner, name)
    if isinstance(owner, FunctionVariable):
        return _of_function(vm, owner, name)
    if isinstance(owner, MethodVariable) and isinstance(owner.function, FunctionVariable):
        return _of_method(vm, owner, owner.function, name)
    if isinstance(owner, SuperVariable):
        return objects.find_super(vm, owner, name)
    if isinstance(
        owner, (TupleVariable, ListVariable, DictVariable, SetVariable, BytearrayVariable)
    ):
        if isinstance(owner, TupleVariable) and owner.cls not in (tuple, Size):
            return objects.find(vm, objects.Instance(owner, owner.cls, owner.value), name)
        kind = type(owner.value) if owner.value is not None else _TYPES[type(owner)]
        if isinstance(owner, DictVariable):
            kind = owner.cls
            if kind is defaultdict and name == "default_factory":
                return owner.factory or Constant(None)
            if not hasattr(dict, name) and not hasattr(OrderedDict, name):
                raise Break("attribute", name=name, what=f"a {owner.kind}")
        return _of_container(owner, kind, name)
    if isinstance(owner, DequeVariable):
        return Constant(owner.maxlen) if name == "maxlen" else _of_container(owner, deque, name)
    raise Break("attribute", name=name, what=f"a {owner.kind}")


def _of_container(owner: Variable, kind: type, name: str) -> Variable:
    """What its builtin type has, which the type's own attributes (`list.__name__`) are not."""
    where, entry = static_entry(kind, name)
    if where is None:
        raise WouldRaise(AttributeError(name))
    if entry is None or type(entry) is str:  # __hash__, __doc__
        return Constant(entry)
    if not callable(entry):
        raise Break("attribute", name=name, what=f"a {owner.kind}")
    return MethodVariable(owner, name)


def set_attribute(
    vm: Interpreter, variable: Variable, name: str, value: Variable | None
) -> Call | None:
    """variable.name = value, or None: del variable.name; or the call that does it."""
    owner = vm.look(variable)
    found = objects.instance(vm, owner)
    if isinstance(owner, ModeVariable):
        vm.changed()
        vm.modes.write(name, None if value is None else vm.look(value), vm.step)
        return None
    if isinstance(owner, ExceptionVariable):
        from .interpreter.exception_values import sets_fact  # late: it needs this

        if sets_fact(vm, owner, name, value):
            return None
    if isinstance(owner, TensorVariable):
        tape_facts.set_tape_fact(vm, owner, name, value)
        return None
    if _is_module(owner):
        _store_in_module(vm, owner, name, value)
        return None
    if isinstance(owner, FunctionVariable) and owner.value is None and value is not None:
        if name not in SETTABLE and static_entry(FunctionType, name)[0]:
            raise Break("mutation", what=f"attribute {name!r} of a {owner.kind}")
        vm.changed()
        owner.attributes[name] = value
        return None
    if isinstance(owner, Constant) and is_class(owner):
        storing.store_in_class(vm, owner, name, value)
        return None
    if found is None:
        raise Break("mutation", what=f"attribute {name!r} of a {owner.kind}")
    return storing.store(vm, found, name, value)


def _store_in_module(
    vm: Interpreter, owner: Variable, name: str, value: Variable | None
) -> None:
    assert isinstance(owner, Constant)
    if value is None:
        vm.looker.presence.asked_for(attribute(vm, owner, name))
    vm.looker.store_name(vars(owner.value), name, value)


def _of_function(vm: Interpreter, owner: FunctionVariable, name: str) -> Variable:
    if name in ("__get__", "__call__"):
        return MethodVariable(owner, name)
    if owner.value is None:
        return _of_new_function(owner, name)
    if owner.source is None:
        raise Break("attribute", name=name, what=f"a {owner.kind}")
    if name in vars(owner.value):
        return vm.lazy(owner.source.attribute(name), vars(owner.value)[name])
    if name in FUNCTION_FACTS:
        return vm.lazy(owner.source.attribute(name), getattr(owner.value, name))
    if static_entry(FunctionType, name)[0]:
        raise Break("attribute", name=name, what=f"a {owner.kind}")
    _guard_absent(vm, owner.source.name, owner.home, name)
    raise WouldRaise(AttributeError(f"'function' object has no attribute {name!r}", name=name))


def _of_new_function(owner: FunctionVariable, name: str) -> Variable:
    if name in owner.attributes:
        return owner.attributes[name]
    code = owner.code
    match name:
        case "__name__" | "__qualname__":
            return Constant(code.co_name if name == "__name__" else code.co_qualname)
        case "__module__":
            return Constant(owner.namespace.get("__name__"))
        case "__doc__":
            first = code.co_consts[0] if code.co_consts else None
            return Constant(first if type(first) is str else None)
        case "__code__":
            return Constant(code)
        case "__defaults__":
            return TupleVariable(list(owner.defaults)) if owner.defaults else Constant(None)
    if static_entry(FunctionType, name)[0]:
        raise Break("attribute", name=name, what=f"a {owner.kind}")
    raise WouldRaise(AttributeError(f"'function' object has no attribute {name!r}", name=name))


def _guard_absent(vm: Interpreter, title: str, home: str, name: str) -> None:
    code, words = f"not hasattr({home}, {name!r})", f"{title!r} now has the attribute {name!r}"
    expected, origin = f"no attribute {name!r}", vm.builder.origin
    vm.builder.add(kinds.condition("HASATTR", title, code, home, expected, words, origin))


def _of_method(
    vm: Interpreter, owner: MethodVariable, function: FunctionVariable, name: str
) -> Variable:
    """A bound method has its object and function; the rest is the function's."""
    if name == "__self__":
        return owner.owner
    return function if name == "__func__" else _of_function(vm, function, name)


def has_attribute(vm: Interpreter, variable: Variable, name: str) -> bool:
    """hasattr(variable, name), under a guard that the answer is still the same."""
    try:
        attribute(vm, variable, name)
    except WouldRaise as missing:
        if not isinstance(missing.error, AttributeError):
            raise
        return False
    return True


def is_class(variable: Variable) -> bool:
    """Is it a class, whatever that says of itself?"""
    return isinstance(variable, Constant) and issubclass(type(variable.value), type)


def _is_module(variable: Variable) -> bool:
    return isinstance(variable, Constant) and type(variable.value) is ModuleType


_TYPES: dict[type, type] = {
    TupleVariable: tuple,
    BytearrayVariable: bytearray,
    ListVariable: list,
    DictVariable: dict,
    SetVariable: set,
}


def _of_tensor(vm: Interpreter, owner: TensorVariable, name: str) -> Variable:
    raw = static_entry(Tensor, name)[1] if is_replaced(name) else None
    if type(raw) is FunctionType:
        where = source.constant(f"Tensor.{name}", vm.builder.constant(raw, name))
        return MethodVariable(owner, name, vm.look(vm.lazy(where, raw)))
    if raw is not None:
        raise no_rule(name)
    if name in tape_facts.FACTS:
        return tape_facts.tape_fact(vm, owner, name)
    if name in TENSOR_FACTS:
        return lifted(TENSOR_FACTS[name](owner.meta))
    if name in TENSOR_VIEWS:
        return vm.operators.get(owner, name)
    cls, entry = static_entry(Tensor, name)
    if cls is None or isinstance(entry, Missing):
        raise WouldRaise(AttributeError(f"'Tensor' object has no attribute {name!r}"))
    if callable(getattr(Tensor, name)) or hasattr(Methods, name):
        return MethodVariable(owner, name)
    raise no_rule(name)


def _of_module(vm: Interpreter, module: ModuleType, name: str, title: str) -> Variable:
    """What a module has, which is known by identity: read from its dict, for attributes of a
    module with a `__getattr__`, such as the lab's, take twice as long."""
    own = vm.builder.constant(module, module.__name__)
    where = source.constant(title, own)
    space = source.constant(title, vm.builder.constant(vars(module), f"{own}_dict"))
    ours = module.__name__.partition(".")[0] == __name__.partition(".")[0]
    if not ours:
        vm.classes.of(module)
    written = vm.looker.written_names(vars(module))
    if name in written:
        value = written[name]
        if value is None:
            raise Break("attribute", name=name, what=f"module {module.__name__}")
        return value
    if name in vars(module):
        return vm.lazy(_entry(space, name), vars(module)[name])
    if ours:  # its __getattr__ only imports rooms of the lab: a name it refuses is not there
        try:
            value = getattr(module, name)  # from now on it may be in the dict
            there = name in vars(module)
            return vm.lazy(_entry(space, name) if there else where.attribute(name), value)
        except AttributeError as error:
            _guard_absent(vm, where.name, vm.builder.load(where), name)
            raise WouldRaise(error) from None
    if hasattr(ModuleType, name) or "__getattr__" in vars(module):
        raise Break("attribute", name=name, what=f"module {module.__name__}")
    _guard_absent(vm, where.name, vm.builder.load(where), name)
    raise WouldRaise(AttributeError(f"module {module.__name__!r} has no attribute {name!r}"))


def _entry(space: Source, name: str) -> Source:
    """An attribute of a module, in its dict."""
    return Source(f"{space.name}.{name}", f"{{}}[{name!r}]", space, fallible=True)


def _of_class(vm: Interpreter, owner: Constant, name: str) -> Found:
    """cls.name; where that is a call, its AttributeError asks the metaclass, too."""
    found = objects.find_in_class(vm, owner, name)
    if isinstance(found, Call):
        meta = objects.Instance(owner, vm.classes.of(owner.value))
        answers = objects.special(vm, meta, "__getattr__")
        found.otherwise = None if answers is None else Call(answers, [Constant(name)])
    return found


def _of_constant(vm: Interpreter, owner: Constant, name: str) -> Found:
    value = owner.value
    if _is_module(owner):
        return _of_module(vm, value, name, value.__name__)
    if issubclass(type(value), type):
        return _of_class(vm, owner, name)
    from .interpreter.fold import is_plain, wrapped

    named = isinstance(value, (Op, BuiltinFunctionType)) and name in SETTABLE
    if not named and not is_plain(value):
        raise Break("attribute", name=name, what=f"a {owner.kind}")
    try:
        found = getattr(value, name)
    except AttributeError as error:
        raise WouldRaise(error) from None
    return (
        MethodVariable(owner, name) if callable(found) and not is_plain(found) else wrapped(found)
    )


def calling_method(vm: Interpreter, owner: ObjectVariable) -> Variable:
    """What a call of an object calls: the class's `__call__`, whatever the instance has."""
    found = special_method(vm, owner, "__call__")
    if found is None:
        raise WouldRaise(TypeError(f"{owner.cls.__name__!r} object is not callable"))
    if isinstance(found, MethodVariable) and isinstance(found.function, Constant):  # C
        named = owner.source is not None and not owner.source.name.startswith("stack[")
        raise Break("unknown-call", name=owner.place.name if named else f"a {owner.kind}")
    return found


def special_method(vm: Interpreter, owner: Variable, name: str) -> Variable | None:
    """The method that an instruction calls: its class's, whatever the instance has. None: it has
    none, or is no object of a user's class."""
    known = objects.instance(vm, owner)
    return None if known is None else objects.special(vm, known, name)
