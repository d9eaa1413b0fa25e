"""Builtins that are read as Python: from `polyfills.py`, or from the library's own Python version
of a function that CPython has in C.

In: a builtin.  Out: the Python function to inline in its place.
Invariant: the code objects carry the name of `polyfills.py`, which keeps their frames from the
user's sight (see `SymbolicFrame.whole`).
"""

from __future__ import annotations

import builtins
import functools
import importlib
import inspect
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from .. import polyfills
from ..breaks import Break
from ..frame import POLYFILLS
from ..variables import Call, Constant, FunctionVariable, Variable

# Modules that define everything in Python first, and then take what C has of it.
HAVE_TWINS = {"operator": "_operator", "heapq": "_heapq", "bisect": "_bisect"}
FUNCTOOLS = ("reduce",)
PRIMITIVES = frozenset(
    map(id, (polyfills.order, polyfills.is_number))
)  # which a rule computes, where it can


def polyfill(function: Any) -> FunctionType | None:
    """The Python function that stands for a builtin, or None."""
    name = str(getattr(function, "__name__", ""))
    module = getattr(function, "__module__", None)
    if module == "builtins" and vars(builtins).get(name) is function:
        found = vars(polyfills).get(name)
    elif module == "_functools" and name in FUNCTOOLS:
        found = twin("functools", module)[name]
    else:
        found = next((twin(m, c).get(name) for m, c in HAVE_TWINS.items() if c == module), None)
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
    exec(compile(source, POLYFILLS, "exec"), scope)
    return scope


def as_variable(function: FunctionType) -> FunctionVariable:
    """The function as a callee, all of it known."""
    defaults: list[Variable] = [Constant(value) for value in function.__defaults__ or ()]
    named = {name: Constant(value) for name, value in (function.__kwdefaults__ or {}).items()}
    return FunctionVariable(function.__code__, function.__globals__, defaults, {**named})


def inlined(function: Any, args: list[Variable], kwargs: dict[str, Variable]) -> Call:
    """A call of the polyfill. Raises Break for one that does not fit its parameters: CPython then
    says what is wrong with it."""
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        raise Break("unknown-call", name=f"{function.__name__}() with such arguments") from None
    return Call(as_variable(function), args, kwargs)


def own_name(namespace: dict[str, Any], name: str) -> Variable:
    """What a name means in a polyfill: nobody can change it, so nothing is guarded."""
    value = namespace[name] if name in namespace else getattr(builtins, name)
    if type(value) is FunctionType and id(value) not in PRIMITIVES:
        return as_variable(value)
    return Constant(value)
