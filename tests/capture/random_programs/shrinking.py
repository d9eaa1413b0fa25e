"""The smallest program that still shows it.

In: source text, and a check that says whether a text is still of interest.  Out: shorter text.
Statements are left out, compound ones are replaced by what is in them, expressions by their parts;
each change stays if the check still says yes.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any

Check = Callable[[str], bool]


def shrunk(source: str, check: Check, rounds: int = 4) -> str:
    """`check` must say yes to `source` as `ast` prints it."""
    tree = ast.parse(source)
    if not check(ast.unparse(tree)):
        return source
    for _ in range(rounds):
        before = ast.unparse(tree)
        tree = _without_statements(tree, check)
        tree = _with_less(tree, check)
        if ast.unparse(tree) == before:
            break
    return ast.unparse(tree)


def _bodies(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Each list of statements: the node and the field that has it."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            if isinstance(getattr(node, name, None), list):
                yield node, name


def _holds(tree: ast.AST, check: Check) -> bool:
    try:
        return check(ast.unparse(ast.fix_missing_locations(tree)))
    except (SyntaxError, RecursionError, ValueError, TypeError):
        return False


def _without_statements(tree: ast.Module, check: Check) -> ast.Module:
    size = 16
    while size:
        place = 0
        while True:
            changed = copy.deepcopy(tree)
            spot = _chunk(changed, place, size)
            if spot is None:
                break
            if spot and _holds(changed, check):
                tree = changed
            else:
                place += 1
        size //= 2
    return tree


def _chunk(tree: ast.Module, place: int, size: int) -> bool | None:
    """Leave out the chunk of that number, from the end. None: there is no such chunk."""
    spots = [
        (node, name, first)
        for node, name in _bodies(tree)
        for first in range(0, len(getattr(node, name)), size)
    ]
    if place >= len(spots):
        return None
    node, name, first = spots[-1 - place]
    body = getattr(node, name)
    kept = body[:first] + body[first + size :]
    needed = name == "body" and not isinstance(node, ast.Module)
    if needed and not kept:
        if len(body) == 1 and isinstance(body[0], ast.Pass):
            return False
        kept = [ast.Pass()]
    setattr(node, name, kept)
    return True


def _with_less(tree: ast.Module, check: Check) -> ast.Module:
    """Compound statements become their bodies, expressions one of their parts."""
    number = 0
    while True:
        changed = copy.deepcopy(tree)
        ways = list(_replacements(changed))
        if number >= len(ways):
            return tree
        ways[number]()
        if _holds(changed, check):
            tree = changed
        else:
            number += 1


def _replacements(tree: ast.AST) -> Iterator[Callable[[], None]]:
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr) and not isinstance(node, ast.expr_context):
                for less in _less(value):
                    yield lambda n=node, f=name, v=less: setattr(n, f, v)
            elif isinstance(value, list):
                yield from _in_list(value)


def _in_list(values: list[Any]) -> Iterator[Callable[[], None]]:
    for place, value in enumerate(values):
        if isinstance(value, ast.expr):
            for less in _less(value):
                yield lambda v=less, p=place: values.__setitem__(p, v)
        elif isinstance(value, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
            yield lambda v=value, p=place: values.__setitem__(slice(p, p + 1), v.body)


def _less(value: ast.expr) -> Iterator[ast.expr]:
    """Parts of an expression, and constants, smaller than it."""
    if isinstance(value, (ast.Constant, ast.Name)) or not hasattr(value, "lineno"):
        return
    yield ast.Constant(None)
    for part in ast.iter_child_nodes(value):
        if isinstance(part, ast.expr):
            yield part
