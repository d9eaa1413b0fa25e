"""Calling a compiled function and seeing why it was captured again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labcore.compiler import compile as lab_compile
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.trace import CacheMiss, GraphBreak, record

from ..capture.differential import outcome, same, strict


class Watched:
    """A compiled function that is compared with eager at every call; `reasons` are those of the
    last miss."""

    def __init__(self, function: Callable[..., Any], may_break: bool = False) -> None:
        self.function, self.counter = function, CompileCounter()
        self.compiled = lab_compile(function, backend=self.counter)
        self.reasons: list[str] = []
        self.may_break = may_break

    def __call__(self, *args: Any, **kwargs: Any) -> bool:
        """Did a variant fit?"""
        expected = outcome(self.function, args, kwargs)
        with strict(), record() as trace:
            found = outcome(self.compiled, args, kwargs)
        assert type(expected.error) is type(found.error), found.error
        if expected.error is None:
            same(expected.value, found.value, args)
        if not self.may_break:  # a guard test that runs eagerly tests nothing
            assert [event.what for event in trace.of(GraphBreak)] == []
        misses = trace.of(CacheMiss)
        self.reasons = [reason.split(": ", 1)[1] for miss in misses for reason in miss.reasons]
        return not misses
