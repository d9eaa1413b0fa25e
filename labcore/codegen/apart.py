"""Columns that add up in float64 get a loop of their own, where the loop computes in float32.

In: a kernel's syntax tree as it is compiled.  Out: the same kernel, in which

    for i1 in range(n):                            for i1 in range(n):
        tmp0 = exp(x[n*i0 + i1])                       tmp0 = exp(x[n*i0 + i1])
        tmp1 = float64(tmp0)               becomes     kept[i1] = tmp0
        t[i1] = radd(t[i1], tmp1)                  for i1 in range(n):
                                                       t[i1] = radd(t[i1], float64(kept[i1]))

for pieces of n so short that `kept` stays in the first cache. For a loop with both types in it gets
vectors of as many elements as fit of the wider one, so everything else would take twice as long.
Invariant: all values have the same bits; what is moved is read by nothing else in the loop.
The method is known as loop distribution; LLVM distributes loops for memory alone.
"""

from __future__ import annotations

import ast
from collections import Counter

from .. import dtypes
from .ranges import DEAR, STRIP, ends
from .templates import filled, unused

TYPES = {t.name: t.name for t in dtypes.ALL} | {f"of_{t.name}": "float32" for t in dtypes.HALVES}
WORTH = 8  # statements, or one that takes long

PIECES = """
for {piece} in range((({end}) - {begin} + {last}) // {size}):
    {start} = {begin} + {size} * {piece}
    for {column} in range({start}, min({start} + {size}, {end})):
        body
    for {column} in range({start}, min({start} + {size}, {end})):
        adds
"""
WHOLE = """
for {column} in range({begin}, {end}):
    body
for {column} in range({begin}, {end}):
    adds
"""
KEEP = "{kept}[{column} - {start}] = {value}"
ADD = "{cell} = radd({cell}, float64({kept}[{column} - {start}]))"
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)


def sums_apart(kernel: ast.FunctionDef) -> ast.FunctionDef:
    """The kernel, changed: with loops of their own for sums of columns."""
    return ast.fix_missing_locations(_Loops(kernel).visit(kernel))


class _Loops(ast.NodeTransformer):
    def __init__(self, kernel: ast.FunctionDef) -> None:
        self.types = {a.arg: str(getattr(a.annotation, "value", "")) for a in kernel.args.args}
        self.names = {n.id for n in ast.walk(kernel) if isinstance(n, ast.Name)} | set(self.types)
        for line in ast.walk(kernel):
            if isinstance(line, ast.Assign) and _called(line.value) == "strip_of":
                assert isinstance(line.value, ast.Call)
                array = ast.unparse(line.value.args[0])
                self.types[ast.unparse(line.targets[0])] = self.types[array]
        self.single = next((name for name, kind in self.types.items() if kind == "float32*"), "")

    def visit_For(self, loop: ast.For) -> ast.AST | list[ast.stmt]:
        lines = [line for line in loop.body if isinstance(line, ast.Assign)]
        if len(lines) < len(loop.body) or not self.single:
            return self.generic_visit(loop)
        sums = self._sums(lines)
        rest = [line for line in lines if not any(line in pair for pair in sums)]
        if not sums or not _worth(rest):
            return loop
        return self._distributed(loop, rest, sums)

    def _sums(self, lines: list[ast.Assign]) -> list[tuple[ast.Assign, ast.Assign]]:
        """(tmp1 = float64(tmp0), total[i1] = radd(total[i1], tmp1)), each pair of those."""
        made = {ast.unparse(line.targets[0]): line for line in lines}
        used = Counter(n.id for line in lines for n in ast.walk(line) if isinstance(n, ast.Name))
        found = []
        for line in lines:
            cell, wide = line.targets[0], _added(line)
            cast = made.get(wide)
            if cast is None or not isinstance(cell, ast.Subscript) or used[wide] != 2:
                continue
            alone = used[ast.unparse(cell.value)] == 2
            if alone and _called(cast.value) == "float64" and self._is_single(cast.value, made):
                found.append((cast, line))
        return found

    def _is_single(self, cast: ast.expr, made: dict[str, ast.Assign]) -> bool:
        """Is what becomes float64 a float32 that the loop computes?"""
        assert isinstance(cast, ast.Call)
        (value,) = cast.args
        return isinstance(value, ast.Name) and self._type(value, made) == "float32"

    def _type(self, value: ast.expr, made: dict[str, ast.Assign]) -> str:
        """Of a value, as far as it follows from the types of arrays; else ""."""
        if isinstance(value, ast.Name):
            line = made.get(value.id)
            return self._type(line.value, made) if line else ""
        if isinstance(value, ast.Subscript):
            return self.types.get(ast.unparse(value.value), "").removesuffix("*")
        if isinstance(value, ast.BinOp) and isinstance(value.op, ARITHMETIC):
            kinds = {self._type(value.left, made), self._type(value.right, made)}
            return kinds.pop() if len(kinds) == 1 else ""
        if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
            return self._type(value.operand, made)
        if isinstance(value, ast.IfExp):
            return self._type(value.body, made)
        if isinstance(value, ast.Call):
            word = _called(value)
            return TYPES.get(word) or self._type(value.args[0], made)
        return ""

    def _distributed(
        self, loop: ast.For, rest: list[ast.Assign], sums: list[tuple[ast.Assign, ast.Assign]]
    ) -> list[ast.stmt]:
        begin, end = ends(loop)
        short = begin == "0" and end.isdigit() and int(end) <= STRIP
        names = {"column": ast.unparse(loop.target), "begin": begin, "end": end,
                 "piece": unused("piece", self.names), "size": STRIP, "last": STRIP - 1,
                 "start": "0" if short else unused("start", self.names)}
        memory, adds = list[ast.stmt](), list[ast.stmt]()
        body: list[ast.stmt] = [*rest]
        for cast, line in sums:
            assert isinstance(cast.value, ast.Call)
            kept, value = unused("kept", self.names), ast.unparse(cast.value.args[0])
            given = {**names, "kept": kept, "value": value,
                     "cell": ast.unparse(line.targets[0])}
            memory += filled(f"{kept} = strip_of({self.single})", loop)
            body += filled(KEEP.format(**given), cast)
            adds += filled(ADD.format(**given), line)
        text = (WHOLE if short else PIECES).format(**names)
        return [*memory, *filled(text, loop, body=body, adds=adds)]


def _worth(lines: list[ast.Assign]) -> bool:
    """Is there enough that would be held up?"""
    called = {_called(node) for line in lines for node in ast.walk(line)}
    return len(lines) >= WORTH or bool(called & DEAR)


def _called(node: ast.AST) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def _added(line: ast.Assign) -> str:
    """tmp1 of `total[i1] = radd(total[i1], tmp1)`, else ""."""
    if _called(line.value) != "radd":
        return ""
    assert isinstance(line.value, ast.Call)
    cell, more = map(ast.unparse, line.value.args)
    return more if cell == ast.unparse(line.targets[0]) else ""
