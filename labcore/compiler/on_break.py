"""`error_on_graph_break`: for a block or a function, a graph break is an error, or none.

In: True or False.  Out: a context manager that is a decorator too.
Invariant: a block that is captured leaves the flag as CPython would: setting it is an effect of
the region. `fullgraph=True` is for the whole function and outranks it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..capture import means
from ..capture.classes import read_class
from ..capture.interpreter.fold import python_value
from ..capture.strictness import set_strict, strict
from ..capture.variables import Constant, FunctionVariable, Variable
from ..guards import kinds


@read_class
class error_on_graph_break:
    """Inside the block, or in calls of the decorated function, a graph break raises Unsupported
    (`True`) or does not (`False`). Eagerly it does nothing."""

    def __init__(self, error: bool) -> None:
        self.error, self.before = bool(error), False

    def __enter__(self) -> None:
        self.before = set_strict(self.error)

    def __exit__(self, *exception: object) -> None:
        set_strict(self.before)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        error = self.error

        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with error_on_graph_break(error):
                return function(*args, **kwargs)

        return decorated


def _set_in_capture(
    vm: Any, called: FunctionVariable, args: list[Variable], kwargs: dict[str, Variable]
) -> Variable:
    wanted = bool(python_value(vm, args[0]))
    asks, words = vm.builder.constant(strict, "strict"), "error_on_graph_break is another one now"
    code, expected = f"{asks}() is {strict()}", f"error_on_graph_break({strict()})"
    vm.builder.add(
        kinds.condition("GLOBAL_STATE", "error_on_graph_break", code, asks, expected, words, None)
    )
    before, vm.strict = vm.strict, wanted
    vm.effects.add(f"{vm.builder.constant(set_strict, 'set_strict')}({wanted})")
    return Constant(before)


means(set_strict, _set_in_capture)
