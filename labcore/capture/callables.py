"""Functions that mean something of their own while capturing: `is_compiling`, disabled and
compiled functions.

In: a meaning, registered beside the function.  Out: what a call of it becomes.
Invariant: a meaning belongs to one function object, or to all that have one code; `functools.wraps`
copies attributes, so attributes would not do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from .breaks import Break
from .substitutes import substitute_of
from .variables import Constant, FunctionVariable, Variable

if TYPE_CHECKING:
    from .interpreter.core import Interpreter

# Gives the call's result, or a function to be called in its place; may raise Break.
Meaning = Callable[
    ["Interpreter", FunctionVariable, "list[Variable]", "dict[str, Variable]"], Variable
]
# Modules that look for their caller's frame. Of an inlined function the caller has none.
LOOKS_AT_CALLERS = frozenset("bdb inspect pdb traceback unittest".split())
TELLS_WHERE = frozenset(("logging", "warnings"))  # these do so to tell it with what they write
FRAME_NAMES = frozenset("_getframe _getframemodulename currentframe".split())
# Of Python's library, what is read as bytecode. All else is a machine of its own (asyncio, json,
# threading ...), whose insides are nobody's tensors: a call of it is CPython's, as in PyTorch.
READ = frozenset(
    "_collections_abc abc bisect collections contextlib copy dataclasses enum fractions functools "
    "genericpath heapq itertools keyword math ntpath numbers operator os posixpath reprlib "
    "statistics string types typing".split()
)
NOT_READ = sys.stdlib_module_names - READ
_meanings: WeakKeyDictionary[FunctionType, Meaning] = WeakKeyDictionary()
_by_code: dict[CodeType, Meaning] = {}


def means(function: Callable, meaning: Meaning) -> None:
    """From now on capture treats a call of `function` as `meaning` says."""
    assert isinstance(function, FunctionType)
    _meanings[function] = meaning


def means_by_code(code: CodeType, meaning: Meaning) -> None:
    """The same for each function that has this code."""
    _by_code[code] = meaning


def means_something(function: FunctionType) -> bool:
    known = function in _meanings or function.__code__ in _by_code
    return known or substitute_of(function) is not None


def means_constant(function: Callable, value: Callable[[], object]) -> None:
    """A call of `function` is the constant that `value()` gives at capture."""
    means(function, lambda vm, called, args, kwargs: Constant(value()))


def means_operator(function: Callable) -> None:
    """`function` only rewrites its arguments into calls of operators, as a method of Tensor
    does."""
    means(function, lambda vm, called, args, kwargs: vm.operators.call(function, args, kwargs))


def special_function(
    vm: Interpreter, function: FunctionVariable, args: list[Variable], kwargs: dict[str, Variable]
) -> Variable | None:
    """What a call of a function with a meaning becomes, or None for any other function."""
    if function.value is None:
        return None
    meaning = _meanings.get(function.value) or _by_code.get(function.code)
    if meaning is not None:
        return meaning(vm, function, args, kwargs)
    from .lab_functions import is_of_the_lab  # late: it registers its meanings here

    module = str(function.namespace.get("__name__")).partition(".")[0]
    name = f"{module}.{function.code.co_qualname}()"
    if module in TELLS_WHERE:
        raise Break("side-effect-call", name=name)
    if module in LOOKS_AT_CALLERS or FRAME_NAMES & {*function.code.co_names}:
        raise Break("caller-frame", name=name)
    if module in NOT_READ:
        raise Break("unknown-call", name=name)
    if is_of_the_lab(function.value):
        raise Break("unknown-call", name=f"torch.{function.code.co_name}()")
    return None
