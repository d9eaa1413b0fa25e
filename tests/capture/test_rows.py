"""Every construct of Python that is to be captured, each in a program of its own: compiled and
eager agree in everything observable, and the breaks are the documented ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import labcore as torch
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.trace import GraphBreak, record

from .differential import strict
from .rows.running import FILES, arguments, load, programs, run


def _cases() -> list[Any]:
    cases = []
    for path in FILES:
        for program in programs(load(path, torch), path):
            why = getattr(program, "pending", None)
            marks = [pytest.mark.xfail(reason=why, strict=True)] if why else []
            name = program.__name__
            cases.append(pytest.param(path, name, marks=marks, id=f"{path.stem}-{name}"))
    return cases


@pytest.mark.parametrize(("path", "name"), _cases())
def test_program(path: Path, name: str) -> None:
    eager, scope = load(path, torch), load(path, torch)
    counter = CompileCounter()
    compiled = torch.compile(scope[name], backend=counter)
    breaks = []
    for _ in range(2):  # captured, then warm
        expected = run(eager[name], arguments(eager[name], torch), eager, path)
        with strict(), record() as trace:
            found = run(compiled, arguments(eager[name], torch), scope, path)
        assert found == expected
        breaks.append(trace.of(GraphBreak))
    assert tuple(b.break_id for b in breaks[0]) == getattr(scope[name], "breaks", ()), breaks[0]
