"""Kernels in phases: threads share the parts of a loop, then one does what needs all of them.

In: a kernel's syntax tree, in which `for part in range(begin, end)` is not the last statement.
Out: a function that runs the phase it is asked for:

    for part in prange(16):               if phase == 0:
        ...  left[part] = total               for part in range(begin, end):
    total = float64(0.0)                          ...  left[part] = total
    for part in range(16):     becomes    else:
        total = total + left[part]            total = float64(0.0)
    out[0] = float32(total)                   for part in range(16): ...
                                              out[0] = float32(total)

Each loop over parts is a phase, which begins when the one before is done; all that stands between
them is the last. What a phase needs of that it computes for itself, for nothing but memory goes
from one to the next: a few numbers, and sums of what the parts left.
Invariant: of what stands between loops over parts, none reads what another one writes to memory.
OpenMP's compilers make a function of each parallel region in the same way.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from .ranges import is_of_parts, phases_of

PHASE = "phase"


def in_phases(kernel: ast.FunctionDef) -> ast.FunctionDef:
    """The kernel, changed, if it has phases: one more parameter says which."""
    count = phases_of(kernel)
    if not count:
        return kernel
    choice = [line for line in kernel.body if not is_of_parts(line)]
    for number in reversed(range(count)):
        choice = [_if_asked(number, _phase(kernel.body, number), choice)]
    kernel.body = choice
    kernel.args.args.append(ast.arg(PHASE, ast.Constant("int64")))
    return ast.fix_missing_locations(kernel)


def _if_asked(number: int, body: list[ast.stmt], other: list[ast.stmt]) -> ast.stmt:
    test = ast.parse(f"{PHASE} == {number}", mode="eval").body
    found = ast.If(test, body, other or [ast.Pass()])
    for node in (found, *ast.walk(test)):
        ast.copy_location(node, body[-1])
    return found


def _phase(lines: Sequence[ast.stmt], number: int) -> list[ast.stmt]:
    """The loop over parts of that number, after what it may need."""
    found: list[ast.stmt] = []
    for line in lines:
        if not is_of_parts(line):
            found += _without_stores([line])
        elif number == 0:
            return [*found, line]
        else:
            number -= 1
    raise IndexError("the kernel has fewer loops over parts")


def _without_stores(lines: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Statements of which only variables are left."""
    found: list[ast.stmt] = []
    for line in map(copy.deepcopy, lines):
        if isinstance(line, ast.For):
            line.body = _without_stores(line.body)
            found += [line] * bool(line.body)
        elif not (isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Subscript)):
            found.append(line)
    return found
