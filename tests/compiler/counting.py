"""Counts the graphs of `count_programs.py`, in any framework with torch's names.

In: a framework's module.  Out: {function: graphs handed to the backend}, every call made twice.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("count_programs.py")


def programs(torch: Any) -> dict[str, Any]:
    """The file's names, with `torch` being this module."""
    scope: dict[str, Any] = {"torch": torch}
    exec(compile(FILE.read_text(), str(FILE), "exec"), scope)
    return scope


def count_graphs(torch: Any, name: str) -> int:
    """Raises AssertionError where a compiled call gives or logs something else than an eager one.
    """
    scope = programs(torch)
    function = scope[name]
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(function, backend=counter, dynamic=None)
    for text in scope["CALLS"][name] * 2:
        outcomes = []
        for run in (function, compiled):
            scope["LOG"].clear()
            args = eval(f"({text},)", scope)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the recompile limit is one of the cases
                outcomes.append((repr(run(*args)), repr(args), list(scope["LOG"])))
        assert outcomes[0] == outcomes[1]
    return counter.frame_count
