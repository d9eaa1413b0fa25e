"""A call in words: what was called, and one text an argument.

In: the function that was compiled, and the values of its parameters.  Out: texts, such as
`Net(float32[4], {'relu': True})`.
Invariant: nothing of the user's runs: only builtin containers are looked into, and what stands in
an object's own `__dict__`; nothing depends on an address.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, repeat
from types import FunctionType, ModuleType
from typing import Any

from ..capture.binding import (
    keyword_only_names,
    parameter_names,
    varargs_name,
    varkeywords_name,
)
from ..capture.describe import describe_value
from ..guards.kinds import ATOMS, is_too_long
from ..tensor import Tensor

MOST = 3  # items of a container, and attributes of an object, that are told
MORE = 8  # of them that can tell two calls apart
LONG = 60  # characters of an argument
BRACKETS: dict[type, tuple[str, str]] = {tuple: ("(", ")"), list: ("[", "]"), dict: ("{", "}")}


@dataclass
class ShownCall:
    """`inputs` has one text an argument; `leaves` has what they hold, by the names that guards
    have for it, such as "options['relu']"."""

    function: str
    inputs: list[str] = field(default_factory=list)
    leaves: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, value: Any, keyword: str = "") -> None:
        self.inputs.append(keyword + show_value(value))
        self.leaves |= dict(islice(_leaves(name, value), MORE))


def show_call(function: FunctionType, slots: tuple[Any, ...]) -> ShownCall:
    """`slots` are the values of the parameters, as `parameter_names` orders them. A `__call__` is
    shown as the object that is called."""
    code = function.__code__
    values = dict(zip(parameter_names(code), slots, strict=False))
    shown = ShownCall(function.__qualname__)
    if function.__name__ == "__call__" and code.co_argcount:
        shown.function = describe_value(values.pop(code.co_varnames[0]))
    keywords = {name: values.pop(name) for name in keyword_only_names(code) if name in values}
    more, rest = varkeywords_name(code), varargs_name(code)
    keywords |= values.pop(more) if more else {}
    others = values.pop(rest) if rest else ()
    for name, value in values.items():
        shown.add(name, value)
    for place, value in enumerate(others):
        shown.add(f"{rest}[{place}]", value)
    for name, value in keywords.items():
        shown.add(name, value, f"{name}=")
    return shown


def show_value(value: Any) -> str:
    """An argument in a few words: builtin containers and objects with what they hold first."""
    text = _show(value)
    return text if len(text) <= LONG else text[: LONG - 1] + "…"


def _show(value: Any) -> str:
    kind = type(value)
    if kind in ATOMS and not is_too_long(value):
        return repr(value)
    if kind in BRACKETS:
        first, last = BRACKETS[kind]
        comma = "," if kind is tuple and len(value) == 1 else ""
        names = (f"{describe_value(key)}: " for key in value) if kind is dict else repeat("")
        return f"{first}{_listed(names, _items(value), len(value))}{comma}{last}"
    said, attributes = describe_value(value), _attributes(value)
    names = (f"{name}=" for name in attributes)
    told = _listed(names, attributes.values(), len(attributes))
    return f"{said}({told})" if attributes else said


def _listed(names: Iterable[str], values: Iterable[Any], count: int) -> str:
    told = [f"{name}{describe_value(value)}" for name, value in islice(zip(names, values), MOST)]
    return ", ".join([*told, *([f"… {count} in all"] if count > MOST else [])])


def _leaves(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if type(value) in BRACKETS:
        keys = map(describe_value, value) if type(value) is dict else map(str, range(len(value)))
        yield f"len({name})", str(len(value))
        for key, item in zip(keys, _items(value)):
            yield f"{name}[{key}]", describe_value(item)
        return
    attributes = _attributes(value)
    yield name, describe_value(value)
    for key, item in attributes.items():
        yield f"{name}.{key}", describe_value(item)


def _items(container: Any) -> Iterable[Any]:
    return container.values() if type(container) is dict else container


def _attributes(value: Any) -> dict[str, Any]:
    """What stands in an object's own `__dict__`, but for private names."""
    if issubclass(type(value), (Tensor, type, ModuleType, FunctionType)):
        return {}
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:  # it has slots, or is a builtin
        return {}
    return {name: item for name, item in own.items() if type(name) is str and name[:1] != "_"}
