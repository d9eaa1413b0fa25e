"""The loops of a kernel's text: how often they run, and which of them threads may share.

In: a kernel's syntax tree.  Out: how much work it is, and, of a kernel that says `prange`, one that
runs a range of that loop.
`for i0 in prange(262144)` says that no turn needs what another one does. It is compiled as
`for i0 in range(begin, end)`, with two parameters more, which `runtime/threads.py` fills in; run as
Python, `prange` is `range`. numba's word means the same, but its own threads cannot be used here:
its portable layer ends the process when two Python threads call at once.
`for part in prange(16)` says more: what follows needs what the parts leave (see `phases.py`).
Invariant: all `prange` of one kernel have the same bound.
"""

from __future__ import annotations

import ast
from collections.abc import Set
from dataclasses import dataclass

from ..fusion.primitives import PRIMITIVES
from ..shapes import Expr

SHARED = "prange"
BEGIN, END = "begin", "end"
PART = "part"  # the variable of a loop over parts of rows, each of which adds up by itself
DEAR = {name for name, primitive in PRIMITIVES.items() if primitive.heavy}
AS_MUCH = 4  # what is dear takes the time of about so many elements of a sum
STRIP = 1024  # elements of rows that are worked on together
WRITTEN_OUT = range(16, 512)  # turns of a loop that LLVM writes out, and that should be vectors
LONG = 16384  # turns from which a kernel lets go of the interpreter's lock: some 5 microseconds


@dataclass(frozen=True)
class Loops:
    """`work`: the turns of the innermost loops, more for what is dear in them; `turns`: of the loop
    that threads share, None where there is none. Both are polynomials of the kernel's numbers.
    `phases`: how many such loops run one after the other, before the rest (see `phases.py`).
    `unroll`: may LLVM write out several turns of a loop?"""

    work: Expr
    turns: Expr | None
    phases: int = 0
    unroll: bool = True


def loops_of(kernel: ast.FunctionDef) -> Loops:
    """Raises ValueError where the text does not tell how often a `prange` turns."""
    numbers = {arg.arg for arg in kernel.args.args}
    shared = [bound(head.args[0], numbers) for head in _heads(kernel) if _says(head, SHARED)]
    if any(bound != shared[0] for bound in shared):
        raise ValueError(f"{kernel.name}: its pranges have different bounds")
    turns = shared[0] if shared else None
    parts = turns if turns is not None else Expr.of(1)
    return Loops(_work(kernel, numbers, parts), turns, phases_of(kernel), _unrolls(kernel))


def phases_of(kernel: ast.FunctionDef) -> int:
    """The loops over parts, where something follows them."""
    loops = [line for line in kernel.body if is_of_parts(line)]
    return len(loops) if loops and (len(loops) > 1 or loops[0] is not kernel.body[-1]) else 0


def is_of_parts(line: ast.AST) -> bool:
    """Is it the loop over parts, in a kernel as it is printed or as it is compiled?"""
    if not isinstance(line, ast.For) or ast.unparse(line.target) != PART:
        return False
    assert isinstance(line.iter, ast.Call)
    return _says(line.iter, SHARED) or ends(line) == (BEGIN, END)


def as_range(kernel: ast.FunctionDef) -> ast.FunctionDef:
    """The kernel, changed, for some turns of its `prange`: two more parameters say from where to
    where."""
    for head in _heads(kernel):
        if _says(head, SHARED):
            head.func = ast.copy_location(ast.Name("range", ast.Load()), head.func)
            names = [ast.Name(name, ast.Load()) for name in (BEGIN, END)]
            head.args = [ast.copy_location(name, head.args[0]) for name in names]
    kernel.args.args += [ast.arg(name, ast.Constant("int64")) for name in (BEGIN, END)]
    return ast.fix_missing_locations(kernel)


def ends(loop: ast.For) -> tuple[str, str]:
    """From where to where a loop goes."""
    assert isinstance(loop.iter, ast.Call)
    *start, stop = map(ast.unparse, loop.iter.args)
    return (start[0] if start else "0"), stop


def _heads(kernel: ast.AST) -> list[ast.Call]:
    """`range(4)` and the like, of all loops."""
    loops = [node for node in ast.walk(kernel) if isinstance(node, ast.For)]
    return [loop.iter for loop in loops if isinstance(loop.iter, ast.Call)]


def _unrolls(kernel: ast.FunctionDef) -> bool:
    """Whole loops of such lengths would be written out before anyone looks for vectors in them, and
    then there are none: x - x.amax(1) took five times as long for rows of 64."""
    loops = [node for node in ast.walk(kernel) if isinstance(node, ast.For)]
    heads = [loop.iter for loop in loops if not is_of_parts(loop)]
    known = [head.args[0].value for head in heads if isinstance(head, ast.Call)
             and len(head.args) == 1 and isinstance(head.args[0], ast.Constant)]
    return not any(isinstance(turns, int) and turns in WRITTEN_OUT for turns in known)


def _says(head: ast.Call, word: str) -> bool:
    return isinstance(head.func, ast.Name) and head.func.id == word


def _work(node: ast.AST, numbers: Set[str], parts: Expr) -> Expr:
    """Loops over rows of a part are counted with all parts, and what else a part does once."""
    total = Expr()
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.For) and isinstance(child.iter, ast.Call):
            inside = _work(child, numbers | {ast.unparse(child.target)}, parts)
            once = cuts(child) or is_of_parts(child)
            turns = Expr.of(1) if once else _turns(child.iter, numbers, parts)
            total += turns * (inside if inside.terms else _weight(child))
    return total


def _weight(loop: ast.For) -> int:
    """Of one turn of an innermost loop."""
    called = [node.func for node in ast.walk(loop) if isinstance(node, ast.Call)]
    return 1 + AS_MUCH * sum(isinstance(name, ast.Name) and name.id in DEAR for name in called)


def cuts(loop: ast.For) -> bool:
    """Does it go over the blocks of a loop, whose turns are counted all together?"""
    return any(end_of_all(inner.iter) for inner in loop.body if isinstance(inner, ast.For))


def end_of_all(head: ast.expr) -> ast.expr | None:
    """n of `range(1024 * block, min(1024 * block + 1024, n))`."""
    stop = head.args[-1] if isinstance(head, ast.Call) else None
    return stop.args[1] if isinstance(stop, ast.Call) and _says(stop, "min") else None


def _turns(head: ast.Call, numbers: Set[str], parts: Expr) -> Expr:
    """Of a loop; one of unknown length counts as a long one."""
    end = end_of_all(head)
    try:
        if end is not None:
            return bound(end, numbers)
        *start, stop = [bound(_divided(end), numbers) for end in head.args[:2]]
    except ValueError:
        return Expr.of(LONG)
    if start and PART in start[0].symbols:
        whole = isinstance(head.args[0], ast.BinOp) and isinstance(head.args[0].op, ast.FloorDiv)
        return (stop - start[0]) * (Expr.of(1) if whole else parts)
    return stop - start[0] if start else stop


def _divided(end: ast.expr) -> ast.expr:
    """n*part of `range(n*part // parts, n*(part + 1) // parts)`."""
    divides = isinstance(end, ast.BinOp) and isinstance(end.op, ast.FloorDiv)
    return end.left if divides and isinstance(end, ast.BinOp) else end


def bound(node: ast.expr, numbers: Set[str]) -> Expr:
    """A loop's bound. Raises ValueError for what is no polynomial of the kernel's numbers."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return Expr.of(node.value)
    if isinstance(node, ast.Name) and node.id in numbers:
        return Expr.of(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return bound(node.operand, numbers) * -1
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
        a, b = bound(node.left, numbers), bound(node.right, numbers)
        if isinstance(node.op, ast.Mult):
            return a * b
        return a + b if isinstance(node.op, ast.Add) else a - b
    raise ValueError(f"line {node.lineno}: {ast.unparse(node)} is no bound of a prange")
