"""Rows of unknown length: at a call, short ones get machine code for their length.

In: a kernel whose rows are as long as a number says.  Out: a launcher that looks at the number:

    k(..., s1):  s1 in 2 ... 128, and much work     -> k in which s1 is this constant
                 all others                         -> k for any length

A row that is no longer than a few vectors is over before a loop for any length is under way. Where
LLVM knows the length it writes the row out, and has no remainder to ask for. Most kernels never see
a short row, so the program comes with the code for any length alone, and the first call that wants
another compiles it: the kernel, not the graph nor its loops, in 20 to 80 ms of LLVM's (and 60 more
of numba's for a kernel's first), once on this machine, for it is kept on disk. Who calls with ever
other short lengths pays that 127 times at most; code for several lengths at once (eight each, told
to LLVM as a range) was up to 1.3 times as slow, for it has a remainder, and whole loops around it.
Invariant: which code runs depends on the sizes of the call alone, not on earlier calls. So a call
computes the same bits each time, though sums have an order in each code, as for a known length.
The method is known as specialization, or multi-versioning. Inductor, asked for symbolic sizes, has
one loop for all; its `mark_dynamic(..., specialize_on=...)` compiles the whole graph once more.
"""

from __future__ import annotations

import ast
import copy
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from ..runtime.loader import Launcher
from ..shapes import Expr
from .ranges import BEGIN, END, bound, cuts, end_of_all, is_of_parts

LONGEST = 128  # longer rows have the code for any length
ENOUGH = 2**17  # work that is worth it: some 10 to 300 microseconds

LAUNCH = """
def {name}({parameters}):
    if 1 < {length} <= {longest} and {work} >= {enough}:
        return by_length[{length}]({parameters})
    return for_any({parameters})
"""


@dataclass(frozen=True)
class Rows:
    """Rows of `size` elements; `length` is the number that says how many."""

    length: str
    size: int


# ---- which kernels -------------------------------------------------------------------------------


def row_length(kernel: ast.FunctionDef, shared: Expr | None) -> str:
    """The number that says how long rows are, in a kernel as it is compiled: those of an array that
    is read across, or those that loops go along. "" where sizes say it, where it is how often the
    loop turns that threads share, or where rows are worked on in strips."""
    numbers = {
        a.arg for a in kernel.args.args
        if isinstance(a.annotation, ast.Constant) and a.annotation.value == "int64"
    } - {BEGIN, END}
    if not numbers:
        return ""
    loops = list(_innermost(kernel, 0))
    across = {step for loop in loops for step in _steps(loop)} & numbers
    along = {_end(loop) for loop in loops} & numbers - (shared.symbols if shared else set())
    found = across or along
    return found.pop() if len(found) == 1 else ""


def _innermost(node: ast.AST, depth: int) -> Iterator[ast.For]:
    """The innermost loops that are in another one, of rows. Under an `if` there are strips."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.For):
            if any(isinstance(each, ast.For) for line in child.body for each in ast.walk(line)):
                yield from _innermost(child, depth + (not is_of_parts(child)))
            elif depth:
                yield child


def _end(loop: ast.For) -> str:
    assert isinstance(loop.iter, ast.Call)
    return ast.unparse(end_of_all(loop.iter) or loop.iter.args[-1])


def _steps(loop: ast.For) -> Iterator[str]:
    """What lies between two elements of an array that follow each other in a loop: s1 of
    `x[i0 + s1*i1]`."""
    variable = ast.unparse(loop.target)
    for node in ast.walk(loop):
        if isinstance(node, ast.Subscript):
            names = {n.id for n in ast.walk(node.slice) if isinstance(n, ast.Name)}
            with suppress(ValueError):  # it lies where another value says
                yield str(bound(node.slice, names).coeff(variable))


# ---- their text ----------------------------------------------------------------------------------

HEAD = """\
# What a program calls for rows of {size}.
rows = {length!r}, {size}


"""


def text_for(kernel: str, rows: Rows) -> str:
    """A text of its own for a kernel's text and some rows: what is compiled, and kept on disk."""
    return HEAD.format(**vars(rows)) + kernel + "\n"


def rows_in(text: str) -> Rows | None:
    """The rows that such a text is for; None of a program."""
    first = ast.parse(text).body[0]
    if isinstance(first, ast.Assign) and ast.unparse(first.targets[0]) == "rows":
        return Rows(*ast.literal_eval(first.value))
    return None


def in_one_block(kernel: ast.FunctionDef) -> ast.FunctionDef:
    """The kernel for rows that are no longer than a block: what adds up in one is the total."""
    return ast.fix_missing_locations(_OneBlock().visit(copy.deepcopy(kernel)))


class _OneBlock(ast.NodeTransformer):
    """`block`: the name of the first block's number, inside of it."""

    block = ""

    def visit_For(self, loop: ast.For) -> ast.AST | list[ast.stmt]:
        if cuts(loop):
            self.block = ast.unparse(loop.target)
            return [self.visit(_total(line)) for line in loop.body]
        end = end_of_all(loop.iter)
        if end is not None:
            assert isinstance(loop.iter, ast.Call)
            loop.iter.args = [end]
        return self.generic_visit(loop)

    def visit_Name(self, name: ast.Name) -> ast.expr:
        return ast.copy_location(ast.Constant(0), name) if name.id == self.block else name


def _total(line: ast.stmt) -> ast.stmt:
    """Of total = radd(total, part) after the first block: the total so far is 0."""
    if isinstance(line, ast.Assign) and isinstance(line.value, ast.Call):
        if ast.unparse(line.value.func) == "radd":
            line.value = line.value.args[1]
    return line


# ---- the launcher --------------------------------------------------------------------------------


def by_length(
    kernel: ast.FunctionDef, length: str, work: Expr, for_any: Launcher,
    compiled: Callable[[Rows], Launcher],
) -> Launcher:
    """A launcher of a kernel that chooses by the length of its rows. `compiled` makes the code for
    rows of one length; it is asked once for each."""
    places = {a.arg: f"p{k}" for k, a in enumerate(kernel.args.args)}
    text = LAUNCH.format(
        name=kernel.name, parameters=", ".join(places.values()), length=places[length],
        longest=LONGEST, enough=ENOUGH,
        work=work.subs({name: Expr.of(place) for name, place in places.items()}),
    )
    scope = {"by_length": _ByLength(length, compiled), "for_any": for_any}
    exec(compile(text, f"<{kernel.name} by the length of its rows>", "exec"), scope)
    made: Launcher = scope[kernel.name]  # type: ignore[assignment]
    return made


class _ByLength(dict[int, Launcher]):
    """Launchers by length, each made when it is first asked for."""

    def __init__(self, length: str, compiled: Callable[[Rows], Launcher]) -> None:
        super().__init__()
        self.length, self.compiled, self.lock = length, compiled, threading.Lock()

    def __missing__(self, size: int) -> Launcher:
        with self.lock:
            if size not in self:
                self[size] = self.compiled(Rows(self.length, size))
            return self[size]
