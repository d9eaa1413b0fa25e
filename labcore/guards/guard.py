"""One condition that a captured program rests on.

In: what capture looked at.  Out: `code`, a Python condition for the generated check, and words
for when it fails.
Invariant: whoever changes something a captured program depends on makes at least one of its
guards false.
PyTorch has some fifty kinds in a C++ tree of guard managers; here a check is one Python function,
one line a guard.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..trace import GuardRecord, Origin

# How a guard is said; a kind that is not here is said by its code.
WORDS = {
    "GRAD_MODE": "{expected}",
    "TENSOR_MATCH": "{source} is {expected}",
    "SIZE_MATCH": "{source}.size() == {expected}",
    "STRIDE_MATCH": "{source}.stride() == {expected}",
    "EQUALS_MATCH": "{source} == {expected}",
    "BOOL_MATCH": "{source} is {expected}",
    "NONE_MATCH": "{source} is {expected}",
    "ID_MATCH": "{source} is {expected}",
    "BUILTIN_MATCH": "{source} is {expected}",
    "CLOSURE_MATCH": "{source} has {expected}",
    "TYPE_MATCH": "type({source}) is {expected}",
    "SHAPE_ENV": "{expected}",
    "SEQUENCE_LENGTH": "len({source}) == {expected}",
    "DICT_KEYS_MATCH": "the keys of {source} are {expected}",
    "DICT_CONTAINS": "{source} has {expected}",
    "HASATTR": "{source} has {expected}",
    "NOT_PRESENT_IN_DICT": "{source} has {expected}",
    "CLASS_ATTRIBUTE": "{source} is {expected}",
    "DUPLICATE_INPUT": "{source}: {expected}",
    "NO_TENSOR_ALIASING": "{source}: {expected}",
    "ITERATOR_MATCH": "{source}: {expected}",
    "NOT_INFERENCE": "{source} is {expected}",
    "BOUND": "{source} is {expected}",
    "GLOBAL_STATE": "{expected}",
}


@dataclass(frozen=True)
class Mismatch:
    """Why a guard failed, in words."""

    expected: str
    actual: str
    reason: str


@dataclass(frozen=True)
class Guard:
    """`code` holds as long as the captured program is valid.

    type: the kind, named as in PyTorch ("TENSOR_MATCH").  source: the user's name of what is
    looked at.
    subject: the expression whose value `mismatch` explains.  origin: the user's place that needs
    the guard.  axes: of a guard on sizes or strides, the constant for each axis.  key: a condition
    that says as much as this guard and those beside it with the same key, all at once.
    """

    type: str
    source: str
    code: str
    subject: str
    expected: str
    mismatch: Callable[[Any], Mismatch] = field(compare=False)
    origin: Origin | None = field(default=None, compare=False)
    axes: tuple[int | None, ...] = field(default=(), compare=False)
    key: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.type}: {self.code}"

    @property
    def words(self) -> str:
        """The condition as a reader says it: "x.size() == (4,)"."""
        return WORDS.get(self.type, "{code}").format_map(vars(self))

    def record(self) -> GuardRecord:
        """The guard as plain data, for the trace."""
        return GuardRecord(
            self.type, self.source, self.words, self.code, self.expected, self.origin
        )
