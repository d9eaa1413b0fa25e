"""Python functions and what belongs to them.

Invariant: a function from outside is known by its code and globals; its defaults and cells are
read, and guarded, when used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from ...guards import Source
from .values import Mutable, Variable


@dataclass(eq=False, slots=True)
class CellVariable(Mutable):
    """A closure's cell. `content` is None while it is empty."""

    content: Variable | None


@dataclass(eq=False, slots=True)
class FunctionVariable(Variable):
    """A Python function, the user's (`value`, `source`) or one made inside (with all parts, and the
    `attributes` it was given)."""

    code: CodeType
    namespace: dict[str, Any]
    defaults: list[Variable] = field(default_factory=list)
    keyword_defaults: dict[str, Variable] = field(default_factory=dict)
    cells: list[Variable] = field(default_factory=list)
    annotated: bool = False
    value: Any = None
    source: Source | None = None
    attributes: dict[str, Variable] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return f"function {self.code.co_name}"


@dataclass(eq=False, slots=True)
class MethodVariable(Variable):
    """`owner.name`, waiting to be called: a Python function with its first argument, or a method
    of a builtin type."""

    owner: Variable
    name: str
    function: Variable | None = None

    @property
    def kind(self) -> str:
        return f"method {self.name}"


@dataclass(eq=False, slots=True)
class SuperVariable(Variable):
    """super(after, owner): attributes of `owner` as its class `cls` has them behind `after`; with
    `of_class`, `owner` is that class itself."""

    after: type
    owner: Variable
    cls: type
    of_class: bool


@dataclass(eq=False, slots=True)
class Call:
    """No value yet: what this call of a Python function will give, once the interpreter has been
    through it. `otherwise`: what is asked when it raises AttributeError; `keep` is told the value,
    once there is one."""

    function: Variable
    args: list[Variable]
    kwargs: dict[str, Variable] = field(default_factory=dict)
    otherwise: Call | None = None
    keep: Callable[[Variable], None] | None = None

    @property
    def plain(self) -> bool:
        """Is what it returns all there is to it?"""
        return self.otherwise is None and self.keep is None
