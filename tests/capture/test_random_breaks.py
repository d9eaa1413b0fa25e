"""Random programs full of breaks against eager, in every observable: values, identity, mutations,
events and their order, printed text, exceptions with their places."""

from __future__ import annotations

import builtins
import linecache
import sys
import warnings
from collections.abc import Callable
from itertools import count
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import labcore as torch
from labcore.compiler import disable, graph_break

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
