"""How many graphs a series of calls makes, numbers and sizes varying: the lab and PyTorch alike.

Counted as they are captured: the lab has equal ones compiled once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labcore.trace import GraphCaptured, record

from .pairs import lab, torch

PROGRAMS = """
def block(x, bias): return torch.relu(x + bias) * 2
def scaled(x, number): return x * number + 1
def both(x, a, b): return x * a + b
def doubled(x): return x * 2
def by_size(x): return x * 2 if x.shape[0] > 10 else x + x.shape[0]
def below_10(x): return x * 2 if x.shape[0] < 10 else x + 1
def above_3(x): return x * 2 if x.shape[0] > 3 else x + 1
def if_six(x): return x * 2 if x.shape[0] == 6 else x + 1
def differences(x): return x[1:] - x[:-1]
def flat(x): return x.reshape(-1) * 2
def sums(x, y): return x.sum() + y.sum()
def repeated(x, n): return sum([x for _ in range(n)], x)
def turned(x): return x.t() * 2
def windows(x): return x[:, :4] * 2
def three(x, y, z): return x + y * 2 + z * 3
def named(x, name): return x * 2 if name == "two" else x * len(name)
def unread(x, number, name): return x * 2
def sums_of_three(x, y, z): return x.sum() + y.sum() + z.sum()
def joined(x, y): return torch.cat([x, y]) * 2
def first(x, n): return x[:n] * 2
def at_most_8(x): return x[:min(x.shape[0], 8)] * 2
def halves(x): return x[:x.shape[0] // 2] - x[x.shape[0] // 2 : x.shape[0] // 2 * 2]
def shorter(x, y):
    n = min(x.shape[0], y.shape[0])
    return x[:n] + y[:n]
def optional(x, y): return x * 2 if y is None else x + y
"""

# function -> calls: a tuple is a tensor of ones of that shape, "x" the first of them once more, all
# else is itself; a size may come with a mark, its axis, and the ends of its range
SERIES: list[tuple[str, bool | None, list[list[Any]]]] = [
    ("block", False, [[(n,), (n,)] for n in (4, 4, 8, 4)]),
    ("block", True, [[(n,), (n,)] for n in (4, 4, 8, 4)]),
    ("block", None, [[(n,), (n,)] for n in (4, 5, 6, 7, 4)]),
    ("block", None, [[(n,), (n,)] for n in (3, 4, 1, 0, 9, 1)]),
    ("block", True, [[(n, m), (m,)] for n, m in ((4, 4), (6, 6), (6, 7), (8, 3))]),
    ("scaled", None, [[(4,), a] for a in (0.1, 0.2, 0.3)]),
    ("scaled", None, [[(4,), a] for a in (3, 4, 0, 1, -7)]),
    ("scaled", None, [[(4,), a] for a in (2, 3, 4.0, 5.0, 6)]),
    ("scaled", None, [[(4,), a] for a in (True, False, True)]),
    ("scaled", True, [[(4,), a] for a in (3, 4, 1, 0)]),
    ("scaled", True, [[(4,), a] for a in (0.1, 0.2, 0.3)]),
    ("both", None, [[(4,), a, a + 1] for a in (2, 4, 6)]),
    ("repeated", None, [[(4,), n] for n in (1, 2, 3, 2)]),
    ("doubled", None, [[(n,)] for n in (1, 5, 6)]),
    ("by_size", None, [[(n,)] for n in (4, 5, 6, 20, 30, 3)]),
    ("if_six", None, [[(n,)] for n in (4, 5, 6, 7, 6, 20)]),
    ("differences", None, [[(n,)] for n in (4, 5, 6, 2, 3)]),
    ("flat", None, [[(n, m)] for n, m in ((4, 5), (5, 6), (7, 7), (3, 9))]),
    ("sums", None, [[(n,), (m,)] for n, m in ((4, 4), (5, 5), (6, 6), (6, 7), (8, 3))]),
    ("sums", True, [[(n,), (m,)] for n, m in ((4, 4), (6, 6), (6, 7), (8, 8), (5, 9))]),
    ("sums_of_three", True, [[(4,), (4,), (4,)], [(5,), (6,), (6,)], [(5,), (6,), (7,)]]),
    ("joined", None, [[(n,), (m,)] for n, m in ((4, 4), (5, 5), (6, 7), (7, 8))]),
    ("first", None, [[(9,), n] for n in (3, 4, 5, 9, 12)]),
    ("at_most_8", None, [[(n,)] for n in (4, 6, 8, 9, 11)]),
    ("halves", None, [[(n,)] for n in (6, 8, 9, 12, 3)]),
    ("shorter", None, [[(n,), (m,)] for n, m in ((3, 4), (4, 5), (7, 8), (8, 7), (9, 9))]),
    ("doubled", None, [[n] for n in ((3,), (3, 3), (4,), (4, 4), (5,), (6, 5))]),
    ("optional", None, [[(3,), y] for y in (None, (3,), None, 2, 3)]),
    ("doubled", None, [[(("dynamic", 0, n), 3)] for n in (1, 5, 1, 6, 0)]),
    ("turned", None, [[(n, m)] for n, m in ((4, 5), (5, 6), (7, 7), (3, 9))]),
    ("windows", None, [[(8, n)] for n in (8, 9, 10, 11)]),
    ("sums", None, [[(n,), (m,)] for n, m in ((3, 5), (4, 6), (7, 8), (9, 9), (5, 5))]),
    ("doubled", False, [[(n,)] for n in range(2, 14)]),
    ("named", None, [[(4,), name] for name in ("two", "three", "two", "nine")]),
    ("unread", None, [[(4,), a, name] for a, name in ((1, "a"), (2, "b"), (3.0, None))]),
    ("three", None, [[(4,), "x", (4,)], [(4,), (4,), "x"], [(4,), (4,), (4,)], [(4,), "x", (4,)]]),
    ("three", None, [[(4,), (4,), (4,)], [(4,), "x", (4,)], [(4,), "x", "x"], [(4,), "x", "x"]]),
    ("doubled", None, [[(n, 3)] for n in (4, ("dynamic", 0, 4), ("dynamic", 0, 5), 6, 4)]),
    ("doubled", None, [[(n, 3)] for n in (4, ("maybe", 0, 4), ("maybe", 0, 5), 6, 4)]),
    ("doubled", None, [[(n, 3)] for n in (("dynamic", 0, 4), 5, 4, ("dynamic", 0, 7))]),
    ("doubled", None, [[(n, 3)] for n in (("static", 0, 4), 4, 5, 6, ("static", 0, 6))]),
    ("doubled", None, [[(("dynamic", k, n), 3)] for k, n in ((0, 4), (1, 4), (1, 5), (0, 5))]),
    ("doubled", None, [[(n, 3)] for n in (4, 5, ("dynamic", 0, 6), ("dynamic", 0, 7), 9)]),
    ("doubled", None, [[(n, 3)] for n in (4, 5, ("static", 0, 6), ("static", 0, 7), 9)]),
    ("doubled", None, [[(("dynamic", 0, 4), 3)], [(1, 3)], [(6, 3)], [(6, 4)], [(7, 5)]]),
    ("doubled", True, [[(n, 3)] for n in (4, ("static", 0, 5), ("static", 0, 6), 7)]),
    ("doubled", False, [[(n, 3)] for n in (4, ("dynamic", 0, 5), ("dynamic", 0, 6), 7)]),
    ("doubled", None, [[(n,)] for n in (("dynamic", 0, 4, 2, 8), 5, 8, 9, 10, 5)]),
    ("below_10", None, [[(n,)] for n in (("dynamic", 0, 4, 2, 8), 7, 12, 14, 7)]),
    ("above_3", None, [[(n,)] for n in (("dynamic", 0, 6, 4, 8), 5, 3, 7)]),
]
MARKS = {"dynamic": "mark_dynamic", "maybe": "maybe_mark_dynamic", "static": "mark_static"}


def argument(module: Any, part: Any) -> Any:
    if not isinstance(part, tuple):
        return part
    first = part[0] if part else 0
    if not isinstance(first, tuple):
        return module.ones(*part)
    mark, axis, size, *ends = first
    made = module.ones(size, *part[1:])
    getattr(module._dynamo, MARKS[mark])(made, axis, **dict(zip(("min", "max"), ends)))
    return made


def counts(
    module: Any, backend: Any, graphs: Callable[[], int], name: str, dynamic: Any, calls: Any
) -> list[int]:
    """`graphs()` after each call."""
    scope = {"torch": module}
    exec(PROGRAMS, scope)
    compiled, found = module.compile(scope[name], backend=backend, dynamic=dynamic), []
    for call in calls:
        args = [argument(module, part) for part in call]
        compiled(*[args[0] if part == "x" else arg for part, arg in zip(call, args)])
        found.append(graphs())
    return found


@pytest.mark.filterwarnings("ignore:.*recompile limit")
@pytest.mark.parametrize(("name", "dynamic", "calls"), SERIES)
def test_as_many_graphs(name: str, dynamic: bool | None, calls: Any) -> None:
    from torch._dynamo.testing import CompileCounter

    torch._dynamo.reset()
    counter = CompileCounter()
    theirs = counts(torch, counter, lambda: counter.frame_count, name, dynamic, calls)
    with record() as trace:
        captured = lambda: len(trace.of(GraphCaptured))
        assert counts(lab, "eager", captured, name, dynamic, calls) == theirs
