"""Every notebook is stored as it ran; the check that says so notices each way of breaking it."""
from __future__ import annotations

import copy
import json
import pathlib
from typing import Any

import pytest

from .notebooks import problems

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))
BOOKS = [path for path in BOOKS if ".ipynb_checkpoints" not in path.parts]


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.name)
def test_a_notebook_is_stored_as_it_ran(path: pathlib.Path) -> None:
    assert problems(json.loads(path.read_text(encoding="utf-8"))) == []


ERROR = {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["no"]}


def book() -> dict[str, Any]:
    return {
        "metadata": {"kernelspec": {"name": "python3"}},
        "cells": [
            {"id": "a", "cell_type": "markdown", "metadata": {}, "source": "# words"},
            cell("b", 1, {"output_type": "stream", "name": "stdout", "text": ["28 -> 12\n"]}),
            cell("c", 2, ERROR, tags=["raises-exception"]),
        ],
    }


def cell(
    id: str, count: int | None, *outputs: dict[str, Any], tags: list[str] = []
) -> dict[str, Any]:
    return {
        "id": id,
        "cell_type": "code",
        "metadata": {"tags": tags},
        "source": "f(x)",
        "execution_count": count,
        "outputs": list(outputs),
    }


def test_a_good_notebook_has_no_problem() -> None:
    assert problems(book()) == []


PATH = {"output_type": "stream", "name": "stdout", "text": "/srv/someone/labcore/ops/op.py:3"}
HOME = {"output_type": "execute_result", "metadata": {}, "data": {"text/plain": "'/home/me/x'"}}


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (cell("b", None), "cell 1: no execution count: nbval would compare nothing"),
        (cell("b", 1, ERROR), "cell 1: raised ValueError: no"),
        (
            cell("b", 1, tags=["raises-exception"]),
            "cell 1: is tagged raises-exception and stores no error",
        ),
        (cell("b", 7), "cells did not run once each from top to bottom: [7, 2]"),
        (cell("a", 1), "cell ids are missing or not unique: differences would be unreadable"),
        (cell("b", 1, PATH), "cell 1: shows a path of one machine"),
        (cell("b", 1, HOME), "cell 1: shows a path of one machine"),
    ],
)
def test_each_way_of_breaking_it_is_named(broken: dict[str, Any], problem: str) -> None:
    notebook = copy.deepcopy(book())
    notebook["cells"][1] = broken
    assert problem in problems(notebook)


def test_another_kernel_is_named() -> None:
    notebook = book()
    notebook["metadata"]["kernelspec"]["name"] = "my-kernel"
    assert problems(notebook) == ["the kernel is not python3"]
