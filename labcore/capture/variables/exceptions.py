"""Exceptions that the captured code makes or raises.

Invariant: one that was raised has a traceback, which only CPython can make; so it never leaves the
region, and capture stops before the instruction that raised it where it would have to.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .values import ObjectVariable, Variable


@dataclass(eq=False, slots=True)
class ExceptionVariable(ObjectVariable):
    """An exception made inside. `exact`: its `arguments` are those that CPython would give it.

    `plain`: its class makes it of its arguments alone. `cause` and `context` are None where the
    attribute is; `suppress` is `__suppress_context__`.
    """

    arguments: list[Variable] = field(default_factory=list)
    exact: bool = True
    plain: bool = True
    raised: bool = False
    cause: Variable | None = None
    context: Variable | None = None
    suppress: bool = False

    @property
    def kind(self) -> str:
        return f"{self.cls.__name__} exception"


@dataclass(eq=False, slots=True)
class TracebackVariable(Variable):
    """The traceback of an exception made inside: it can be handed around, not looked at."""

    error: ExceptionVariable
