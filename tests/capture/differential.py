"""Run a function eagerly and compiled, and demand the same: results, identity, structure,
exceptions."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from labcore.compiler import compile as lab_compile, state
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.tensor import Tensor
from labcore.trace import GraphBreak, record


@contextlib.contextmanager
def strict() -> Iterator[None]:
    """A contradiction between capture and CPython is an error."""
    before, state.strict = state.strict, True
    try:
        yield
    finally:
        state.strict = before


@dataclass
class Outcome:
    """What a call gave: a value or an exception."""

    value: Any = None
    error: BaseException | None = None


def outcome(function: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Outcome:
    try:
        return Outcome(function(*args, **kwargs))
    except Exception as error:
        return Outcome(error=error)


def same(a: Any, b: Any, inputs: tuple) -> None:
    """Equal in type, structure and value; an input is the very same object."""
    assert type(a) is type(b), (a, b)
    if any(a is value for value in inputs):
        assert a is b
    if isinstance(a, Tensor):
        assert (a.shape, a._stride, a.dtype, a.requires_grad) == (
            b.shape,
            b._stride,
            b.dtype,
            b.requires_grad,
        )
        np.testing.assert_array_equal(a.array, b.array)
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y, inputs)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key], inputs)
    elif isinstance(a, float):
        assert a.hex() == b.hex()
    elif isinstance(a, types.FunctionType):
        assert a.__code__ is b.__code__ and a.__defaults__ == b.__defaults__
    else:
        assert a == b


@dataclass
class Report:
    """How the compiled function did it."""

    counter: CompileCounter
    breaks: list[GraphBreak]

    @property
    def ops(self) -> list[str]:
        return (
            [node.target.__name__ for node in self.counter.graphs[-1].graph.calls]
            if self.counter.graphs
            else []
        )


def check(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Report:
    """Call it twice compiled (captured, then warm) and compare with eager."""
    counter = CompileCounter()
    compiled = lab_compile(function, backend=counter)
    expected = outcome(function, args, kwargs)
    with strict(), record() as trace:
        found = [outcome(compiled, args, kwargs)]
    with strict():
        found.append(outcome(compiled, args, kwargs))
    for got in found:
        if expected.error is not None:
            assert type(got.error) is type(expected.error), got.error
            assert str(got.error) == str(expected.error)
        else:
            if got.error is not None:
                raise got.error
            same(expected.value, got.value, (*args, *kwargs.values()))
    return Report(counter, trace.of(GraphBreak))


def captured(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Report:
    """The same, with no graph break."""
    report = check(function, *args, **kwargs)
    assert not report.breaks, report.breaks
    return report
