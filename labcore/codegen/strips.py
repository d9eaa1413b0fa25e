"""Loops over short rows, as loops over strips: several rows, one behind the other, are a long one.

In: a kernel's syntax tree as it is compiled, and how many turns the loop has that threads share.
Out: the same kernel, in which two loops

    for i0 in range(s0):                            for i1 in range(side * s1):  # side rows
        for i1 in range(s1):             become         out[s1*first + i1] = (
            out[s1*i0 + i1] = x[s1*i0 + i1] + b[i1]         x[s1*first + i1] + b_strip[i1])

A loop has to begin and to end, which takes as long as some dozen turns: its vectors take so many
elements at a time, what remains is done one by one. With rows of 5 elements there is nothing else.
What all rows read (b) is laid side by side once. A column adds up in as many places as there are
rows in a strip, which are added up at the end; so its sum has another order, as in vectors.
Where sizes are symbols both forms are compiled, and the kernel looks at how long its rows are.
Invariants: elements are written in the order in which the two loops write them; nothing but such
sums, which words like `radd` allow to reorder, has other bits.
The method is known as loop collapsing; LLVM has no pass for loops over what repeats.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass, field

from .. import dtypes
from ..fusion.primitives import identity
from ..shapes import Expr
from . import spelling
from .ranges import BEGIN, END, STRIP, bound, ends
from .templates import filled, unused

SHORT = STRIP // 4  # rows up to this length are short
ENOUGH = 8 * STRIP  # elements that are worth laying something side by side
WORDS = {"radd": "sum", "rmul": "prod", "rmax": "amax", "rmin": "amin"}

WHICH = """
if {condition}:
    strips
else:
    rows
"""
STRIPS = """
{side} = {strip} // ({length})
lay
for {block} in range((({rows}) + {side} - 1) // {side}):
    {first} = {start} + {side} * {block}
    for {column} in range(({length}) * min({side}, {stop} - {first})):
        body
fold
"""
# What is read in each row, and where columns add up: the strip's first row takes what is there.
LAY = """
{strip} = strip_of({array})
for {row} in range({side}):
    for {column} in range({length}):
        {strip}[({length}) * {row} + {column}] = {value}
"""
FOLD = """
for {row} in range({side}):
    for {column} in range({length}):
        {cell} = {word}({cell}, {strip}[({length}) * {row} + {column}])
"""


def in_strips(
    kernel: ast.FunctionDef, shared: Expr | None
) -> tuple[ast.FunctionDef, list[tuple[str, str]]]:
    """The kernel, changed: with strips instead of loops over short rows, where there are such; and
    of each how long a row is, and what the kernel asks: "" where sizes say enough."""
    loops = _Loops(kernel, shared)
    return ast.fix_missing_locations(loops.visit(kernel)), loops.found


@dataclass
class _Pair:
    """A loop over rows, the loop over columns in it, and what the kernel's numbers are called."""

    rows: ast.For
    columns: ast.For
    row: str
    column: str
    length: Expr
    whole: str  # what must hold for the inner loop to go over whole rows
    repeated: dict[tuple[str, str], ast.Subscript] = field(default_factory=dict)
    totals: dict[tuple[str, str], str] = field(default_factory=dict)  # -> the word that adds up


class _Loops(ast.NodeTransformer):
    def __init__(self, kernel: ast.FunctionDef, shared: Expr | None) -> None:
        self.shared = shared
        self.found: list[tuple[str, str]] = []
        self.types = {
            a.arg: str(a.annotation.value).removesuffix("*") for a in kernel.args.args
            if isinstance(a.annotation, ast.Constant)
        }
        self.numbers = {a for a in self.types if self.types[a] == "int64"}
        self.names = {n.id for n in ast.walk(kernel) if isinstance(n, ast.Name)} | set(self.types)

    def visit_For(self, loop: ast.For) -> ast.AST | list[ast.stmt]:
        pair = self._pair(loop)
        if pair is None or not self._fits(pair):
            self.numbers = self.numbers | {ast.unparse(loop.target)}
            return self.generic_visit(loop)
        begin, end = ends(loop)
        condition = self._condition(pair, end if begin == "0" else f"({end} - {begin})")
        if condition is None:
            return loop
        self.found.append((str(pair.length), condition))
        strips = self._strips(pair, begin, end)
        if not condition:
            return strips
        return filled(WHICH.format(condition=condition), loop, strips=strips, rows=[loop])

    # ---- which loops ----

    def _pair(self, loop: ast.For) -> _Pair | None:
        """The loop, if there is another one in it and nothing else."""
        inner = loop.body[0]
        if len(loop.body) != 1 or not isinstance(inner, ast.For):
            return None
        if not all(isinstance(line, ast.Assign) for line in inner.body):
            return None
        begin, end = ends(inner)
        length, whole = end, ""
        if begin == BEGIN:
            assert self.shared is not None
            length, whole = str(self.shared), f"{BEGIN} == 0 and {END} == {self.shared}"
        try:
            size = bound(ast.parse(length, mode="eval").body, self.numbers)
        except ValueError:
            return None
        if ast.unparse(loop.target) in size.symbols:
            return None
        row, column = ast.unparse(loop.target), ast.unparse(inner.target)
        return _Pair(loop, inner, row, column, size, whole)

    def _fits(self, pair: _Pair) -> bool:
        """Does each access go on from row to row, or repeat in each, and does nothing else depend
        on where in a row it is? Notes what repeats."""
        used = [(access, line) for line in pair.columns.body for access in _accesses(line)]
        if not all(self._access(pair, access, line) for access, line in used):
            return False
        places = sum(_mentions(pair, access.slice) for access, _ in used)
        if places != sum(_mentions(pair, line) for line in pair.columns.body):
            return False
        names = [ast.unparse(access.value) for access, _ in used]
        stored = {ast.unparse(a.value) for a, _ in used if isinstance(a.ctx, ast.Store)}
        read, adding = ({name for name, _ in each} for each in (pair.repeated, pair.totals))
        alone = all(names.count(name) == 2 for name in adding)  # it is read and written, no more
        return alone and not (stored & read) and not _carries(pair)

    def _access(self, pair: _Pair, access: ast.Subscript, line: ast.stmt) -> bool:
        try:
            at = bound(access.slice, self.numbers | {pair.row, pair.column})
        except ValueError:
            return False
        down, along = at.coeff(pair.row), at.coeff(pair.column)
        if {pair.row, pair.column} & (down.symbols | along.symbols):
            return False
        if down == along * pair.length and along.terms:
            return True
        key, word = (ast.unparse(access.value), ast.unparse(access.slice)), _adds_up(line, access)
        if word:
            pair.totals[key] = word
        else:
            pair.repeated[key] = access
        return not down.terms and (word != "" or isinstance(access.ctx, ast.Load))

    def _condition(self, pair: _Pair, rows: str) -> str | None:
        """What the kernel has to ask: nothing, if sizes say enough; None, if they say no."""
        length, tests = pair.length.const, [pair.whole] if pair.whole else []
        if length is not None and not 0 < length <= SHORT:
            return None
        if length is None:
            tests.append(f"0 < {pair.length} <= {SHORT}")
        elements = f"{rows} * {_factor(pair.length)}"
        count = _constant(elements)
        if count is not None and count < ENOUGH:
            return None
        if count is None:
            tests.append(f"{elements} >= {ENOUGH}")
        return " and ".join(tests)

    # ---- what they become ----

    def _strips(self, pair: _Pair, begin: str, end: str) -> list[ast.stmt]:
        side, block, first = (unused(n, self.names) for n in ("side", "strip", "first"))
        strips = {(array, at): unused(f"{array}_strip", self.names)
                  for array, at in (*pair.repeated, *pair.totals)}
        names = {
            "side": side, "block": block, "first": first, "length": str(pair.length),
            "row": pair.row, "column": pair.column, "strip": STRIP,
            "rows": f"{end} - {begin}", "start": begin, "stop": end,
        }
        lay, fold = list[ast.stmt](), list[ast.stmt]()
        for key, strip in strips.items():
            array, at = key
            value = f"{array}[{at}]"
            more = {**names, "strip": strip, "array": array, "cell": value}
            if key in pair.totals:
                dtype = getattr(dtypes, self.types[array])
                value = spelling.constant(identity(WORDS[pair.totals[key]], dtype), dtype)
                fold += filled(FOLD.format(**more, word=pair.totals[key]), pair.rows)
            lay += filled(LAY.format(**more, value=value), pair.rows)
        body = [_Moved(pair, strips, first).visit(copy.deepcopy(line))
                for line in pair.columns.body]
        return filled(STRIPS.format(**names), pair.rows, lay=lay, body=body, fold=fold)


class _Moved(ast.NodeTransformer):
    """A statement of a turn: the row is the strip's first, what repeats is read from strips."""

    def __init__(self, pair: _Pair, strips: dict[tuple[str, str], str], first: str) -> None:
        self.pair, self.strips, self.first = pair, strips, first

    def visit_Subscript(self, access: ast.Subscript) -> ast.Subscript:
        strip = self.strips.get((ast.unparse(access.value), ast.unparse(access.slice)))
        if strip is not None:
            access.value = ast.copy_location(ast.Name(strip, ast.Load()), access.value)
            access.slice = ast.copy_location(
                ast.Name(self.pair.column, ast.Load()), access.slice)
            return access
        self.generic_visit(access)
        return access

    def visit_Name(self, name: ast.Name) -> ast.Name:
        if name.id == self.pair.row:
            name.id = self.first
        return name


def _factor(size: Expr) -> str:
    return str(size) if len(size.terms) == 1 else f"({size})"


def _constant(text: str) -> int | None:
    try:
        return bound(ast.parse(text, mode="eval").body, set()).const
    except ValueError:
        return None


def _carries(pair: _Pair) -> bool:
    """Is a variable handed on from turn to turn?"""
    lines = [line for line in pair.columns.body if isinstance(line, ast.Assign)]
    made = {t.id for line in lines for t in line.targets if isinstance(t, ast.Name)}
    later = set[str]()  # what is read before the loop's next turn makes it
    for line in reversed(lines):
        later -= {t.id for t in line.targets if isinstance(t, ast.Name)}
        later |= {n.id for n in ast.walk(line.value) if isinstance(n, ast.Name)} & made
    return bool(later)


def _mentions(pair: _Pair, node: ast.AST) -> int:
    """How often it says one of the two loop variables."""
    named = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    return sum(n.id in (pair.row, pair.column) for n in named)


def _accesses(line: ast.stmt) -> Iterator[ast.Subscript]:
    return (n for n in ast.walk(line) if isinstance(n, ast.Subscript))


def _adds_up(line: ast.stmt, access: ast.Subscript) -> str:
    """The word of `total[i1] = radd(total[i1], tmp0)`, for both accesses to the total."""
    if not isinstance(line, ast.Assign) or not isinstance(line.value, ast.Call):
        return ""
    cell, call = ast.unparse(line.targets[0]), line.value
    word = ast.unparse(call.func)
    same = ast.unparse(access) == cell == ast.unparse(call.args[0]) if call.args else False
    return word if word in WORDS and same else ""
