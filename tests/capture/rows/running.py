"""Runs of the rows' programs: their inputs, and all that can be observed of a call.

In: a program, whose parameters are named after the inputs that it wants.  Out: plain data, equal
for two runs that nobody can tell apart.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from types import FunctionType
from typing import Any

from ..observing import observed

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("a2_*.py"))
X = [[-1.5, 0.25, 2.0], [0.75, -0.125, 1.0]]
Y = [[0.5, -2.0, 1.25], [1.0, 3.0, -0.75]]


def inputs(torch: Any) -> dict[str, Any]:
    """New objects, by the names of parameters."""
    x, y = torch.tensor(X), torch.tensor(Y)
    return {
        "x": x,
        "y": y,
        "n": 3,
        "k": 2,
        "f": 0.5,
        "s": "relu",
        "flag": True,
        "nothing": None,
        "numbers": [3, 1, 2],
        "pair": (2, 0.5),
        "table": {"a": 1.0, "b": 2.0},
        "names": {"u", "v"},
        "xs": [x + 1, x + 2, x + 3],
        "params": {"w": x + 0.5, "b": y * 0.5},
        "box": [1],
    }


def load(path: Path, torch: Any) -> dict[str, Any]:
    """The names of a file of programs, executed anew with `torch` being this module."""
    scope = {"torch": torch, "__name__": path.stem}
    exec(compile(path.read_text(), str(path), "exec", dont_inherit=True), scope)
    return scope


def programs(scope: dict[str, Any], path: Path) -> list[FunctionType]:
    """The file's programs, in order."""
    found = [v for k, v in scope.items() if type(v) is FunctionType and k == v.__name__]
    ours = [f for f in found if f.__code__.co_filename == str(path)]
    return [f for f in ours if not f.__name__.startswith("_")]


def arguments(program: Callable[..., Any], torch: Any) -> list[Any]:
    given = inputs(torch)
    return [given[name] for name in signature(program).parameters]


def run(
    function: Callable[..., Any], args: list[Any], scope: dict[str, Any], path: Path
) -> tuple[Any, str]:
    """Value or error, arguments and globals afterwards; and what was printed."""
    world = {name: value for name, value in scope.items() if name.isupper()}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        seen = observed(function, tuple(args), [], world, str(path))
    now = {name: value for name, value in scope.items() if name.isupper()}
    assert now.keys() == world.keys()
    numbers = {name: value for name, value in now.items() if type(value) in (int, str, float)}
    return (seen, numbers), printed.getvalue()
