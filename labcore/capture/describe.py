"""Values and variables in a few words, for people.

In: a value of the user's, or what capture knows of one.  Out: a short text.
Invariant: no code of the user's runs: exact builtin types are shown, of all else only the type.
"""

from __future__ import annotations

from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

from ..guards.kinds import ATOMS, is_too_long
from ..tensor import Tensor
from ..tensor.parameter import TENSORS
from .frames import NULL, UNBOUND
from .variables import (
    CellVariable,
    Constant,
    DequeVariable,
    DictVariable,
    FunctionVariable,
    Lazy,
    ListVariable,
    MethodVariable,
    TensorVariable,
    TupleVariable,
    Variable,
)

MOST = 28  # characters of a constant
_NAME = type.__dict__["__name__"].__get__  # not a metaclass's idea of it


def describe_value(value: Any) -> str:
    """A tensor by type and shape, an atom by its repr, a container by its length."""
    kind = type(value)
    if issubclass(kind, Tensor):
        return str(value.meta) if kind in TENSORS else _NAME(kind)
    if kind in ATOMS and not is_too_long(value):
        return _short(repr(value))
    if kind in (list, tuple, dict, set, frozenset):
        return f"{kind.__name__} of {len(value)}"
    if kind in (FunctionType, BuiltinFunctionType):
        return f"{value.__name__}()"
    if kind is MethodType:
        return f"method {getattr(value.__func__, '__name__', '?')}()"
    if kind is ModuleType:
        return f"module {value.__dict__.get('__name__', '?')}"
    if kind is CellType:
        return _cell(value)
    if issubclass(kind, type):
        return f"class {_NAME(value)}"
    return _NAME(kind)


def _cell(cell: CellType) -> str:
    try:
        return describe_value(cell.cell_contents)
    except ValueError:
        return "empty"


def _short(text: str) -> str:
    return text if len(text) <= MOST else text[: MOST - 1] + "…"


def describe(variable: Variable) -> list[str]:
    """[kind, text] of a variable. The kinds are those a picture tells apart: lazy, constant,
    tensor, function, container, mark, other.
    """
    if isinstance(variable, Lazy):
        if variable.seen is None:
            return ["lazy", variable.source.name]
        return describe(variable.seen)
    if isinstance(variable, TensorVariable):
        return ["tensor", _tensor(variable)]
    if isinstance(variable, Constant):
        if variable.value is NULL or variable.value is UNBOUND:
            return ["mark", str(variable.value)]
        return ["constant", describe_value(variable.value)]
    if isinstance(variable, FunctionVariable):
        return ["function", f"{variable.code.co_name}()"]
    if isinstance(variable, MethodVariable):
        return ["function", f"{describe(variable.owner)[1].split(':')[0]}.{variable.name}()"]
    if isinstance(variable, CellVariable):
        return ["other", "empty cell"] if variable.content is None else describe(variable.content)
    if isinstance(variable, (TupleVariable, ListVariable, DequeVariable, DictVariable)):
        items = variable.items
        return ["container", variable.kind if items is None else f"{variable.kind} of {len(items)}"]
    return ["other", variable.kind]


def _tensor(variable: TensorVariable) -> str:
    """The node's name, or the input's, with type and shape."""
    name = (
        variable.node.name
        if variable.node is not None
        else variable.source.name
        if variable.source is not None
        else ""
    )
    return f"{name}: {variable.meta}" if name else str(variable.meta)
