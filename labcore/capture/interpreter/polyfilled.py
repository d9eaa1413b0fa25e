"""Builtins that are read as Python: from `polyfills/`, or from the library's own Python version
of a function that CPython has in C.

In: a builtin.  Out: the Python function to inline in its place.
Invariant: the code objects carry the name of that folder, which keeps their frames from the
user's sight (see `SymbolicFrame.whole`).
"""

from __future__ import annotations

import builtins
import copy
import functools
import importlib
import itertools
import operator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from ..callables import means
from ..frame import POLYFILLS
from ..polyfills import (
    copies,
    derivatives,
    iterators,
    methods,
    reductions,
    searches,
    selections,
    sorting,
)
from ..variables import Call, Constant, FunctionVariable, Variable
from .fitting import fit

# Modules that define everything in Python first, and then take what C has of it.
HAVE_TWINS = {"_operator": "operator", "_heapq": "heapq", "_bisect": "bisect"}
FUNCTOOLS = ("reduce",)
# Which a rule computes, where it can.
PRIMITIVES = frozenset(
    map(
        id,
        (
            iterators.room_for,
            sorting.order,
            sorting.too_many,
            reductions.is_number,
            copies.is_atom,
            copies.is_its_attributes,
            methods.refuse,
            derivatives.begin,
            derivatives.refuse,
            derivatives.finish,
            searches.missing,
            selections.check,
        ),
    )
)


def polyfill(function: Any) -> FunctionType | None:
    """The Python function that stands for a builtin, or None."""
    name = str(getattr(function, "__name__", ""))
    module = str(getattr(function, "__module__", ""))
    found = None
    if module == "builtins" and vars(builtins).get(name) is function:
        found = vars(reductions).get(name) or vars(iterators).get(name)
    elif module == "itertools" and vars(itertools).get(name) is function:
        found = vars(selections).get(name)
    elif module == "_functools" and name == "cmp_to_key":
        found = reductions.cmp_to_key
    elif module == "_functools" and name in FUNCTOOLS:
        found = twin("functools", module)[name]
    elif module == "_collections" and name == "_count_elements":
        found = iterators._count_elements
    elif module in HAVE_TWINS and function is not operator.index:  # its twin asks an int, too
        found = twin(HAVE_TWINS[module], module).get(name)
    elif function == itertools.chain.from_iterable:
        found = selections.from_iterable
    return found if type(found) is FunctionType else None


@functools.cache
def twin(name: str, accelerator: str) -> dict[str, Any]:
    """A module's names as they are without its C accelerator."""

    def without(module: str, *args: Any) -> ModuleType:
        if module == accelerator:
            raise ImportError(f"{module} is left out")
        return builtins.__import__(module, *args)

    path = importlib.import_module(name).__file__
    assert path is not None
    source = Path(path).read_text()
    scope = {"__builtins__": {**vars(builtins), "__import__": without}, "__name__": name}
    exec(compile(source, f"{POLYFILLS}/{name}.py", "exec"), scope)
    return scope


def as_variable(function: Any) -> FunctionVariable:
    """The function as a callee, all of it known."""
    defaults: list[Variable] = [Constant(value) for value in function.__defaults__ or ()]
    named = {name: Constant(value) for name, value in (function.__kwdefaults__ or {}).items()}
    return FunctionVariable(function.__code__, function.__globals__, defaults, {**named})


def inlined(function: Any, args: list[Variable], kwargs: dict[str, Variable]) -> Call:
    """A call of the polyfill. Raises Break for one that does not fit its parameters: CPython then
    says what is wrong with it."""
    fit(function.__name__, function, args, kwargs)
    return Call(as_variable(function), args, kwargs)


def own_name(namespace: dict[str, Any], name: str) -> Variable:
    """What a name means in a polyfill: nobody can change it, so nothing is guarded."""
    value = namespace[name] if name in namespace else getattr(builtins, name)
    if type(value) is FunctionType and id(value) not in PRIMITIVES:
        return as_variable(value)
    return Constant(value)


def _install() -> None:
    """Python functions of the library that read the interpreter's insides."""
    for function, replacement in ((copy.copy, copies.copy), (copy.deepcopy, copies.deepcopy)):
        known = as_variable(replacement)
        means(function, lambda vm, called, args, kwargs, known=known: known)  # type: ignore[misc]


_install()
