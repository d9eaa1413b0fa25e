"""Which operators a student's function calls, while they are carried out as ever.

In: a block of code.  Out: `Noted`: their names, which of them write, how many elements were read.
Invariant: it stands on top of the interpreter that is in force and hands every call down to it, so
what a function computes does not change by being watched.
"""

from __future__ import annotations

from typing import Any

from ...ops import Op
from ...ops.dispatch import current, interpreting

READS_NOTHING = frozenset(("view", "detach", "factory", "composite"))  # composites call others


class Noted:
    """What operators did in this thread within the block: `with Noted() as noted: ...`."""

    def __init__(self) -> None:
        self.called: list[str] = []
        self.writing: list[str] = []
        self.reads = 0
        self._below = current()
        self._block = interpreting(self)

    def call(self, op: Op, args: tuple, kwargs: dict[str, Any]) -> Any:
        self.called.append(op.name)
        if op.mutates:
            self.writing.append(op.name)
        if op.kind not in READS_NOTHING:
            self.reads += sum(t.numel() for t in _tensors((*args, *kwargs.values())))
        assert self._below is not None, "eager mode is at the bottom"
        return self._below.call(op, args, kwargs)

    def __enter__(self) -> Noted:
        self._block.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._block.__exit__(*error)


def _tensors(values: Any) -> list[Any]:
    from ... import Tensor

    found: list[Any] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            found += _tensors(value)
    return found
