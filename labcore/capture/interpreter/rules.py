"""The table of builtins that have a rule: what a call of one gives.

In: a builtin, or a polyfill's primitive.  Out: its rule, by identity. A rule gives the result, or
the call that gives it; or None, when it has pushed it or a frame that will.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..variables import Call, Variable
from .core import Interpreter

Args = list[Variable]
Rule = Callable[[Interpreter, Args, "dict[str, Variable]"], "Variable | Call | None"]
RULES: dict[int, Rule] = {}


def rule(*functions: Any) -> Callable[[Rule], Rule]:
    def register(handler: Rule) -> Rule:
        RULES.update({id(function): handler for function in functions})
        return handler

    return register
