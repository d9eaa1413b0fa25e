"""The exercises of lesson 11: a handler that prints a kernel, a wrapper that puts it to work."""

from __future__ import annotations

import builtins
import linecache
from collections.abc import Callable
from typing import Any

from .facts import graph_of
from .memory import CountingList, Memory
from .result import Fact, Result, Unusable, ask, checked, make, shown

PRINTED = "<printed lines>"
N = 4
PROBE = [-2.0, -1.0, 1.0, 2.0]
BIAS = [1.0, 1.0, 2.0, 3.0]


# ---- a printer -----------------------------------------------------------------------------------


@checked
def emit(kind: Any) -> Result:
    """Exercise 1: a handler whose `lines` are the Python of a loop body, run once an element.

    The lines of `relu(x + bias) * 2` and of `(x + bias) ** 2` are run over arrays that count.
    """
    block, accesses = _printed(kind, _block)
    square, again = _printed(kind, _square)
    sums = [a + b for a, b in zip(PROBE, BIAS)]
    facts = (
        Fact("relu(x + bias) * 2", [max(s, 0.0) * 2 for s in sums], block),
        Fact("its accesses, N = 4", 3 * N, accesses),
        Fact("s * s, where s = x + bias", [s * s for s in sums], square),
        Fact("its accesses, N = 4", 3 * N, again),
    )
    return Result(facts, _belief_of_printing(accesses, again))


def _block(x: Any, bias: Any) -> Any:
    return (x + bias).relu() * 2


def _square(x: Any, bias: Any) -> Any:
    s = x + bias
    return s * s


def _belief_of_printing(accesses: int, again: int) -> str:
    if accesses == 3 * N and again > 3 * N:
        return (
            "A value that is used twice must have a name: an expression that is handed on is "
            "printed, and computed, at each use."
        )
    if accesses > 3 * N:
        return (
            "A temporary is a local variable, which lives in a register; an array in its place is "
            f"written and read: {accesses} accesses for {3 * N}."
        )
    if accesses < 3 * N:
        return "x and bias are loaded, the result is stored: each is a line of its own."
    return ""


def _printed(kind: Any, fn: Callable[..., Any]) -> tuple[Any, int]:
    """What the printed lines make of the probes, and how many accesses that takes."""
    from ...fusion import lower, schedule

    (nest,) = schedule(lower(graph_of(fn, (N,), (N,)).graph)).nests
    (made,) = nest.made
    lines = _lines(kind, nest)
    memory = Memory()
    arrays = {"x": memory.array(PROBE), "bias": memory.array(BIAS), made: memory.new(N)}
    for i in range(N):
        ask(_run, "\n".join(lines), _Scope(memory, arrays, i))
    return arrays[made].values, memory.accesses


def _lines(kind: Any, nest: Any) -> list[str]:
    from ...fusion.ir import using

    handler = make(kind)
    with using(handler):
        for node in nest.nodes:
            ask(_begin, nest, node)
    found = getattr(handler, "lines", None)
    if not isinstance(found, list) or not all(isinstance(line, str) for line in found):
        raise Unusable("a handler with a list of texts, `lines`", f"lines = {shown(found)}")
    return found


def _begin(nest: Any, node: Any) -> bool:
    nest.run(node)
    return True


class _Scope(dict):
    """The words that printed lines may use; an array that nobody has made is made when named."""

    def __init__(self, memory: Memory, arrays: dict[str, CountingList], i: int) -> None:
        super().__init__(arrays, i0=i, relu=lambda a: max(a, 0.0), abs=abs)
        self.memory = memory

    def __missing__(self, name: str) -> CountingList:
        if hasattr(builtins, name):
            raise KeyError(name)
        self[name] = self.memory.new(N)
        made: CountingList = self[name]
        return made


def _run(text: str, scope: _Scope) -> bool:
    """Run the printed lines. An error in one of them can name it: `linecache` has the text."""
    lines = text.splitlines(keepends=True)
    linecache.cache[PRINTED] = (len(text), None, lines, PRINTED)
    try:
        code = compile(text, PRINTED, "exec")
    except SyntaxError as error:
        raise Unusable("lines of Python", f"`{(error.text or text).strip()}`") from None
    exec(code, {}, scope)
    return True


# ---- a wrapper -----------------------------------------------------------------------------------

ROWS, COLUMNS = 2, 3
CELLS = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


class Machine:
    """What a wrapper works with: `empty(n)` makes an array, `launch(kernel, x, out)` runs a kernel
    over bare memory: "row_sum" and "column_sum" of 2 rows by 3 columns, one after the other."""

    def __init__(self) -> None:
        self.launches: list[str] = []
        self.arrays = 0

    def empty(self, length: int) -> list[float]:
        self.arrays += 1
        return [0.0] * length

    def launch(self, kernel: str, x: Any, out: list[float]) -> None:
        """A kernel asks nothing: it takes the cells as they lie."""
        if kernel not in ("row_sum", "column_sum"):
            raise ValueError(f"no kernel {kernel!r}: there are row_sum and column_sum")
        wanted = ROWS if kernel == "row_sum" else COLUMNS
        if len(out) != wanted:
            raise ValueError(f"{kernel} writes {wanted} elements, out has {len(out)}")
        self.launches.append(kernel)
        for k, value in enumerate(x.cells):
            out[k // COLUMNS if kernel == "row_sum" else k % COLUMNS] += value


class Given:
    """A tensor as a wrapper sees it: `shape`, `strides` and the `cells` in memory."""

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.shape, self.strides, self.cells = shape, strides, list(CELLS)


@checked
def wrapper(call: Any) -> Result:
    """Exercise 2: `call(machine, x)` returns the sums of rows and of columns, and refuses with a
    ValueError what the kernels were not printed for."""
    machine = Machine()
    rows, columns = _pair(ask(call, machine, Given((ROWS, COLUMNS), (COLUMNS, 1))))
    refused = {
        name: _refuses(call, given)
        for name, given in (
            ("a transposed x", Given((ROWS, COLUMNS), (1, ROWS))),
            ("x of 3 rows and 2 columns", Given((COLUMNS, ROWS), (ROWS, 1))),
        )
    }
    facts = (
        Fact("sums of rows", [6.0, 15.0], rows),
        Fact("sums of columns", [5.0, 7.0, 9.0], columns),
        Fact("launches", 2, len(machine.launches)),
        Fact("arrays", 2, machine.arrays),
        *(Fact(name, "refused", found) for name, found in refused.items()),
    )
    return Result(facts, _belief_of_wrapping(refused, machine))


def _pair(answer: Any) -> tuple[Any, Any]:
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Unusable("a pair of arrays", shown(answer))
    return answer[0], answer[1]


def _refuses(call: Any, given: Given) -> str:
    """Whether it is refused, before any kernel runs."""
    machine = Machine()
    try:
        answer = call(machine, given)
    except ValueError:
        return "refused" if not machine.launches else "refused after a launch"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return f"computed: {shown(answer)}"


def _belief_of_wrapping(refused: dict[str, str], machine: Machine) -> str:
    if any(found == "refused after a launch" for found in refused.values()):
        return "A check comes before the launch: a kernel has written by then."
    if any("Error" in found for found in refused.values()):
        return "Refused by an error of another kind: say it on purpose, with a ValueError."
    if refused["a transposed x"] != "refused":
        return (
            "A kernel gets an address, and no strides: it adds up the cells as they lie. Nobody "
            "but the wrapper, or a guard, can notice that they mean something else."
        )
    if refused["x of 3 rows and 2 columns"] != "refused":
        return "The sizes are printed into the kernel: another shape of 6 elements is not its own."
    if machine.arrays != 2:
        return "The wrapper makes what the kernels write into: one array for each result."
    return ""
