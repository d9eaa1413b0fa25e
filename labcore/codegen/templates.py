"""Statements from a text with holes, for what changes the syntax tree of a kernel.

In: a text, the statement whose place in the kernel the new ones take, statements for the holes.
Out: statements, which count to that place's line.
"""

from __future__ import annotations

import ast


def filled(text: str, near: ast.stmt, **holes: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a text, in which a name alone on a line stands for others."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        ast.copy_location(node, near)
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            if isinstance(lines := getattr(node, name, None), list):
                setattr(node, name, [each for line in lines for each in _hole(line, holes)])
    return tree.body


def _hole(line: ast.stmt, holes: dict[str, list[ast.stmt]]) -> list[ast.stmt]:
    if isinstance(line, ast.Expr) and isinstance(line.value, ast.Name):
        return holes[line.value.id]
    return [line]


def unused(wanted: str, names: set[str]) -> str:
    """The name, with an underscore where it is taken; it is taken from now on."""
    while wanted in names:
        wanted += "_"
    names.add(wanted)
    return wanted
