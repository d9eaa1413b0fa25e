"""Attributes: of tensors, modules, functions and plain objects.

In: a variable and a name.  Out: the attribute's variable, under a guard only when it is looked at
later.
Invariant: no code of the user's runs. Where Python's lookup would run some (a property,
`__getattr__`), capture stops.
"""

from __future__ import annotations

import abc
import enum
import keyword
from types import FunctionType, MemberDescriptorType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from ..guards import Source, kinds
from ..tensor import Tensor
from ..tensor.methods import Methods
from ..tensor.size import Size
from .breaks import Break, WouldRaise
from .variables import (
    Constant,
    DictVariable,
    FunctionVariable,
    Lazy,
    ListVariable,
    MethodVariable,
    ObjectVariable,
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
    "requires_grad": lambda meta: meta.requires_grad,
    "itemsize": lambda meta: meta.dtype.itemsize,
    "nbytes": lambda meta: meta.nbytes,
}
TENSOR_VIEWS = ("T", "mT")
PLAIN_METACLASSES = (type, abc.ABCMeta)


def attribute(vm: Interpreter, variable: Variable, name: str) -> Variable:
    """variable.name."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise Break("attribute", name=name, what=f"a {variable.kind}")  # only getattr can ask this
    if isinstance(variable, Lazy) and type(variable.value) is ModuleType:
        # The module itself is not guarded: what counts is what the whole path leads to.
        return _of_module(vm, variable.value, name, variable.source)
    owner = vm.look(variable)
    if isinstance(owner, TensorVariable):
        return _of_tensor(vm, owner, name)
    if isinstance(owner, ObjectVariable):
        return _of_object(vm, owner, name)
    if isinstance(owner, Constant):
        return _of_constant(vm, owner, name)
    if isinstance(owner, (TupleVariable, ListVariable, DictVariable)):
        kind = type(owner.value) if owner.value is not None else _TYPES[type(owner)]
        if not hasattr(kind, name):
            raise WouldRaise(AttributeError(name))
        return MethodVariable(owner, name)
    if (
        isinstance(owner, FunctionVariable)
        and owner.value is not None
        and name in vars(owner.value)
    ):
        assert owner.source is not None
        return vm.lazy(owner.source.attribute(name), vars(owner.value)[name])
    raise Break("attribute", name=name, what=f"a {owner.kind}")


def has_attribute(vm: Interpreter, variable: Variable, name: str) -> bool:
    """hasattr(variable, name), under a guard that the answer is still the same."""
    try:
        found = attribute(vm, variable, name)
    except WouldRaise:
        owner = vm.look(variable)
        where = variable.source if isinstance(variable, Lazy) else getattr(owner, "source", None)
        if isinstance(owner, ObjectVariable) or _is_module(owner):
            subject = where.name if where is not None else owner.home
            code = f"not hasattr({owner.home}, {name!r})"
            words = f"{subject!r} now has the attribute {name!r}"
            expected, origin = f"no attribute {name!r}", vm.builder.origin
            vm.builder.add(
                kinds.condition("HASATTR", subject, code, owner.home, expected, words, origin)
            )
        return False
    if isinstance(found, Lazy):
        vm.builder.load(found.source)  # a load that fails is a guard that fails
    return True


def _is_module(variable: Variable) -> bool:
    return isinstance(variable, Constant) and type(variable.value) is ModuleType


_TYPES: dict[type, type] = {TupleVariable: tuple, ListVariable: list, DictVariable: dict}


def _of_tensor(vm: Interpreter, owner: TensorVariable, name: str) -> Variable:
    if name in TENSOR_FACTS:
        return Constant(TENSOR_FACTS[name](owner.meta))
    if name in TENSOR_VIEWS:
        return vm.operators.get(owner, name)
    if not hasattr(Tensor, name):
        raise WouldRaise(AttributeError(f"'Tensor' object has no attribute {name!r}"))
    if callable(getattr(Tensor, name)) or hasattr(Methods, name):
        return MethodVariable(owner, name)
    raise Break("unknown-method", name=name)


def _of_module(vm: Interpreter, module: ModuleType, name: str, source: Source) -> Variable:
    if name in vars(module):
        return vm.lazy(source.attribute(name), vars(module)[name])
    ours = module.__name__.partition(".")[0] == __name__.partition(".")[0]
    if ours:  # its __getattr__ only imports rooms of the lab: a name it refuses is not there
        try:
            return vm.lazy(source.attribute(name), getattr(module, name))
        except AttributeError as error:
            raise WouldRaise(error) from None
    if hasattr(ModuleType, name) or "__getattr__" in vars(module):
        raise Break("attribute", name=name, what=f"module {module.__name__}")
    raise WouldRaise(AttributeError(f"module {module.__name__!r} has no attribute {name!r}"))


def _of_constant(vm: Interpreter, owner: Constant, name: str) -> Variable:
    value = owner.value
    if _is_module(owner):
        from ..guards import source

        return _of_module(vm, value, name, source.constant(value.__name__, owner.home))
    if issubclass(type(value), type):
        return _of_class(vm, owner, name)
    from .interpreter.fold import is_plain, wrapped

    if not is_plain(value):
        raise Break("attribute", name=name, what=f"a {owner.kind}")
    try:
        found = getattr(value, name)
    except AttributeError as error:
        raise WouldRaise(error) from None
    return (
        MethodVariable(owner, name) if callable(found) and not is_plain(found) else wrapped(found)
    )


def _of_object(vm: Interpreter, owner: ObjectVariable, name: str) -> Variable:
    """Python's lookup on a plain object: data descriptors, the instance, the class."""
    value, kind = owner.value, owner.cls
    where, shared = class_attribute(kind, name)
    if class_attribute(kind, "__getattribute__")[0] not in (object, SimpleNamespace):
        raise Break("attribute", name=name, what=f"a {owner.kind}")
    if hasattr(type(shared), "__set__") or hasattr(type(shared), "__delete__"):
        if type(shared) is MemberDescriptorType:  # a __slots__ entry is plain data
            return _read(vm, owner, name)
        raise Break("attribute", name=name, what=f"a {owner.kind}")
    own = _own_attributes(value)
    if name in own:
        return vm.lazy(owner.place.attribute(name), own[name])
    if where is None:
        if any("__getattr__" in vars(c) for c in kind.__mro__):
            raise Break("attribute", name=name, what=f"a {owner.kind}")
        raise WouldRaise(AttributeError(f"{kind.__name__!r} object has no attribute {name!r}"))
    _guard_not_own(vm, owner, name)
    return _from_class(vm, owner, kind, name, shared)


def _from_class(
    vm: Interpreter, owner: ObjectVariable, kind: type, name: str, shared: Any
) -> Variable:
    if type(kind) not in PLAIN_METACLASSES:  # another may answer for the class
        raise Break("attribute", name=name, what=f"a {owner.kind}")
    builder = vm.builder
    source = Source(
        f"{kind.__name__}.{name}", f"{builder.constant(kind, kind.__name__)}.{name}", fallible=True
    )
    if type(shared) is FunctionType:
        return MethodVariable(owner, name, vm.look(vm.lazy(source, shared)))
    if type(shared) is staticmethod:
        return vm.lazy(source, shared.__func__)
    if hasattr(type(shared), "__get__"):
        raise Break("attribute", name=name, what=f"a {owner.kind}")
    return vm.lazy(source, shared)


def _of_class(vm: Interpreter, owner: Constant, name: str) -> Variable:
    """Class.name: an enum's member, a function, a plain value."""
    cls = owner.value
    if type(cls) is enum.EnumMeta and name in cls.__members__:
        return Constant(
            cls.__members__[name], home=vm.builder.constant(cls.__members__[name], name)
        )  # for ever
    where, shared = class_attribute(cls, name)
    if type(cls) not in PLAIN_METACLASSES or where is None:
        raise Break("attribute", name=name, what=f"class {cls.__name__}")
    source = Source(
        f"{cls.__name__}.{name}", f"{vm.builder.constant(cls, cls.__name__)}.{name}", fallible=True
    )
    if type(shared) is staticmethod or type(shared) is FunctionType:
        return vm.lazy(source, getattr(shared, "__func__", shared))
    if hasattr(type(shared), "__get__"):
        raise Break("attribute", name=name, what=f"class {cls.__name__}")
    return vm.lazy(source, shared)


def _read(vm: Interpreter, owner: ObjectVariable, name: str) -> Variable:
    try:
        return vm.lazy(owner.place.attribute(name), getattr(owner.value, name))
    except AttributeError as error:
        raise WouldRaise(error) from None


def _own_attributes(value: Any) -> dict[str, Any]:
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}


def _guard_not_own(vm: Interpreter, owner: ObjectVariable, name: str) -> None:
    if not hasattr(owner.value, "__dict__"):
        return
    code = f"{name!r} not in {owner.home}.__dict__"
    words = f"{owner.place.name!r} now has its own attribute {name!r}"
    vm.builder.add(
        kinds.condition(
            "NOT_PRESENT_IN_DICT",
            owner.place.name,
            code,
            owner.home,
            f"no own attribute {name!r}",
            words,
            vm.builder.origin,
        )
    )


def calling_method(vm: Interpreter, owner: ObjectVariable) -> Variable:
    """What a call of an object calls: the class's `__call__`, whatever the instance has."""
    found = special_method(vm, owner, "__call__")
    if found is None:
        raise WouldRaise(TypeError(f"{owner.cls.__name__!r} object is not callable"))
    return found


def special_method(vm: Interpreter, owner: ObjectVariable, name: str) -> Variable | None:
    """The method that an instruction calls: its class's, whatever the instance has. None: it has
    none. Raises Break for one that is no Python function."""
    kind = owner.cls
    where, shared = class_attribute(kind, name)
    if where is None:
        return None
    if type(shared) is not FunctionType:
        named = owner.place.name if name == "__call__" else f"{kind.__name__}.{name}"
        raise Break("unknown-call", name=named)
    return _from_class(vm, owner, kind, name, shared)


def class_attribute(kind: type, name: str) -> tuple[type | None, Any]:
    """The class of the MRO that defines `name`, and its raw value."""
    for cls in kind.__mro__:
        if name in vars(cls):
            return cls, vars(cls)[name]
    return None, None
