"""Random programs full of breaks against eager, in every observable: values, identity, mutations,
events and their order, printed text, exceptions with their places."""

from __future__ import annotations

import builtins
import contextlib
import linecache
import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import count
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import labcore as torch
from labcore.capture import Break, Stop, region
from labcore.capture.interpreter import Interpreter
from labcore.compiler import disable, graph_break
from labcore.trace import record

from .breaking_programs import program
from .differential import strict
from .observing import observed

_numbers = count()


class Box:
    def __init__(self, x: Any) -> None:
        self.x, self.hits, self.items = x, 0, []

    def step(self, x: Any) -> None:
        self.hits = self.hits + 1
        self.x = x + self.hits


def load(source: str, path: str, events: list[Any]) -> dict[str, Any]:
    """The program in a module of its own; what it logs and prints is an event."""
    scope = {
        "torch": torch,
        "disable": disable,
        "graph_break": graph_break,
        "sys": sys,
        "log": events.append,
        "noise": lambda k: events.append(("noise", k)) or k,
        "print": lambda *args: events.append(("print", *args)),
    }
    exec(builtins.compile(source, path, "exec"), scope)
    return scope


def inputs(n: int) -> tuple[Any, ...]:
    x = torch.tensor([1.0, -2.0]) * (n + 1)
    y = torch.tensor([0.5, 3.0])
    items = [y, x] if n != 3 else []
    return x, x if n == 2 else y, n, items, {"b": y} if n else {}, Box(x)


@contextlib.contextmanager
def stopping_anywhere(random: Random, often: float) -> Iterator[None]:
    """Regions end where they need not, too: before any instruction, or in an escape."""

    class Halting(Interpreter):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            if self.halt is None and random.random() < often:
                self.halt = Break("graph-break-call", reason="Just so.")
                self.halt.step = random.randint(0, 60)

    def resting(*args: Any) -> Stop:
        stop = Stop(*args)
        stop.rest |= not stop.truth_only and random.random() < often / 4
        return stop

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(region, "Interpreter", Halting)
        patch.setattr(region, "Stop", resting)
        yield


def differences(source: str, cases: tuple[int, ...], backend: str = "eager") -> list[Any]:
    """Runs of the eager and of the compiled program that can be told apart."""
    path, found = f"<breaking program {next(_numbers)}>", []
    linecache.cache[path] = (len(source), None, source.splitlines(True), path)
    events: list[Any] = []
    scope = load(source, path, events)
    compiled = torch.compile(scope["f"], backend=backend)
    for n in cases:
        runs = []
        for function in (scope["f"], compiled):
            events.clear()
            scope["COUNT"] = 0
            with record() if n == 2 else contextlib.nullcontext():
                runs.append(run(function, n, events, scope, path))
        if repr(runs[0]) != repr(runs[1]):
            found.append((n, runs[0], runs[1]))
    return found


def run(
    function: Callable[..., Any], n: int, events: list[Any], scope: dict[str, Any], path: str
) -> Any:
    with strict(), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        seen = observed(function, inputs(n), events, {}, path)
    return seen, scope["COUNT"]


@pytest.mark.fuzz
@settings(suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**40))
def test_random_programs_with_breaks(seed):
    source = program(Random(seed))
    found = differences(source, (0, 1, 2, 3, 4, 1))
    assert not found, f"{source}\n{found[0]}"


@pytest.mark.fuzz
@settings(suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**40))
def test_random_programs_that_stop_anywhere(seed):
    source, random = program(Random(seed)), Random(seed)
    with stopping_anywhere(random, random.choice((0.2, 0.9))):
        found = differences(source, (0, 1, 2, 3, 4, 1))
    assert not found, f"{source}\n{found[0]}"
