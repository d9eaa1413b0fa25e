"""Facts and results, and how a student's function is asked.

In: a student's function or value.  Out: a `Result` whose text is for people and whose `passed` is
for programs.
Invariant: `checked` turns everything a student can do wrong into a Result; only our own bugs raise.
"""
from __future__ import annotations

import math
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from numbers import Real
from pathlib import Path
from typing import Any

LAB = Path(__file__).parents[2]  # the package: a student has no use for a line of it
LONGEST = 160  # letters of an answer that are shown


@dataclass(frozen=True)
class Fact:
    """One thing a check looked at; numbers are equal when they agree to `tolerance`."""

    name: str
    expected: Any
    found: Any
    tolerance: float = 1e-6

    @property
    def holds(self) -> bool:
        if is_number(self.expected) and is_number(self.found):
            return math.isclose(self.expected, self.found, rel_tol=self.tolerance)
        try:
            return bool(self.expected == self.found)
        except Exception:  # of several truths, as an array has: whatever it is, it is not equal
            return False

    def __str__(self) -> str:
        mark = "ok " if self.holds else "NO "
        return f"{mark} {self.name}: expected {self.expected}, found {self.found}"


@dataclass(frozen=True)
class Result:
    """The outcome of a check: facts, and the likely belief behind a wrong one."""

    facts: tuple[Fact, ...]
    belief: str = ""

    @property
    def passed(self) -> bool:
        return bool(self.facts) and all(fact.holds for fact in self.facts)

    def __repr__(self) -> str:
        if not self.facts:
            return "Not begun: replace the ... in this cell and run it again."
        if self.passed:
            return "\n".join([*map(str, self.facts), "Public checks passed."])
        return "\n".join([*map(str, self.facts), self.belief or "Not yet: see the facts above."])


NOT_BEGUN = Result(())


class _NotBegun(Exception):
    """The answer is still `...`."""


class Unusable(Exception):
    """The answer is not of the form that was asked for."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(f"expected {expected}, found {found}")
        self.expected, self.found = expected, found


def checked(check: Callable[..., Result]) -> Callable[..., Result]:
    """A check that tells about an answer it cannot use instead of failing itself."""

    @wraps(check)
    def run(*answers: Any) -> Result:
        try:
            return check(*answers)
        except _NotBegun:
            return NOT_BEGUN
        except Unusable as unusable:
            return Result((Fact("the answer", unusable.expected, unusable.found),))

    return run


def ask(function: Any, *args: Any) -> Any:
    """Call a student's function. Its error, `...` or None is an outcome of the check."""
    _callable(function, "a function", "hand over the function, not what it returns")
    try:
        answer = function(*args)
    except Unusable:  # a check's own word, from within
        raise
    except Exception as error:
        line = _line_of_theirs(error)
        place = f" at `{line}`" if line else ""
        raise Unusable("an answer", f"{type(error).__name__}: {error}{place}") from None
    return begun(answer)


def make(kind: Any, *args: Any) -> Any:
    """An object of a student's class, asked for as `ask` does."""
    _callable(kind, "a class", "hand over the class, not one of its objects")
    return ask(kind, *args)


def _callable(answer: Any, form: str, hint: str) -> None:
    if answer is ...:
        raise _NotBegun
    if not callable(answer):
        raise Unusable(form, f"{shown(answer)}: {hint}")


def _line_of_theirs(error: Exception) -> str:
    """The last line on the way to the error that is not the lab's own; "" if none is known."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if LAB not in Path(frame.filename).parents]
    return (theirs[-1].line or "") if theirs else ""


def begun(answer: Any) -> Any:
    """The answer, if there is one."""
    if answer is ... or (isinstance(answer, (tuple, list)) and any(a is ... for a in answer)):
        raise _NotBegun
    if answer is None:
        raise Unusable("an answer", "None: is a `return` missing?")
    return answer


def numbers(answer: Any, count: int) -> tuple[Any, ...]:
    """The answer as `count` numbers. Raises Unusable for anything else."""
    form = f"{count} numbers"
    try:
        values = tuple(answer)
    except TypeError:
        raise Unusable(form, shown(answer)) from None
    other = [value for value in values if not is_number(value)]
    if other:
        raise Unusable(form, f"{kind_of(other[0])} among them: {shown(answer)}")
    if len(values) != count:
        raise Unusable(form, f"{len(values)}: {shown(answer)}")
    return values


def is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def shown(value: Any) -> str:
    """A value in one line that fits a line of facts."""
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def kind_of(value: Any) -> str:
    """What a value is, with its article: "an int", "a list"."""
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
