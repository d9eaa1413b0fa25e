"""Functions with breaks whose graphs are counted: by the lab, and by PyTorch where it is there.

The file is never imported; `counting.py` executes it with the name `torch` given. CALLS has the
arguments of each function's calls, as text.
"""
# ruff: noqa: F821
from __future__ import annotations

LOG = []


@torch.compiler.disable
def log(value):
    LOG.append(value)


def t(*values):
    return torch.tensor([float(value) for value in values])


class Noisy:
    def __init__(self, swallow=False):
        self.swallow = swallow

    def __enter__(self):
        log("enter")
        return self

    def __exit__(self, kind, value, tb):
        log("exit")
        return self.swallow and kind is ValueError


def check(i):
    if i % 3 == 1:
        log("bad")
        raise ValueError("one of three")


def callee(x, i):
    x = x + 1
    log("in callee")
    return x * 2


def one_break(x, y):
    a = x + y
    log("mid")
    return a * x


def branch(x):
    if x.sum() > 0:
        return x * 2
    return x + 1


def item(x):
    n = x.sum().item()
    return x * n


def loop(x, n):
    for i in range(n):
        x = x * 0.5 + 1
        log(i)
        x = x.relu() + 1
    return x


def loop_uses_index(x, n):
    for i in range(n):
        log("round")
        x = x + i
    return x


def while_counter(x, n):
    i = 0
    while i < n:
        x = x + 1
        log("round")
        i += 1
    return x


def while_data(x):
    while x.sum() < 1000:
        x = x * 2
    return x + 1


def loop_with(x, n):
    for i in range(n):
        with Noisy():
            x = x + 1
            log(i)
            x = x * 0.5
    return x


def loop_try(x, n):
    for i in range(n):
        try:
            x = x + 1
            check(i)
            x = x * 0.5
        except ValueError as e:
            log(str(e))
            x = x + 100
        finally:
            x = x.relu()
    return x


def swallow(x):
    with Noisy(True):
        x = x + 1
        check(1)
        x = x * 1000
    return x * 2


def nested(x):
    y = x * 3
    y = callee(y, 0)
    return y + 4


def nested_loop(x, n):
    for i in range(n):
        x = x * 0.25
        x = callee(x, i)
        x = x + 4
    return x


def enumerated(x, items):
    for _i, other in enumerate(items):
        x = x + other
        log("round")
    return x


def grows(x, items):
    for _ in range(5):
        items.append(x)
        log(len(items))
        x = x + 1
    return x


def comprehension(x):
    i = 10
    parts = [x * i + callee(x, i) for i in range(3)]
    return parts[0] + parts[1] + parts[2] + i


def temporaries(x):
    a = x + 1
    b = a * 2
    c = b.relu()
    log("mid")
    return c * x


def torture(x, n):
    for i in range(n):
        with Noisy(True):
            try:
                x = callee(x, i)
                check(i)
                if i == 2:
                    continue
            except ValueError:
                x = callee(x * 0.5, i)
                if i > 3:
                    raise
            finally:
                log(x.sum().item())
                while True:
                    x = x * 0.25
                    log("once")
                    break
        if x.sum() > 9:
            return x
    return x * 2


def many_shapes(x, parts):
    for part in parts:
        log("round")
        x = x + part.sum()
    return x


CALLS = {
    "one_break": ["t(1, 2), t(3, 4)"],
    "branch": ["t(1, 2)", "t(-1, -2)"],
    "item": ["t(1, 2)", "t(3, 4)", "t(5, 4)"],
    "loop": ["t(1), 3", "t(1), 100"],
    "loop_uses_index": ["t(1), 100"],
    "while_counter": ["t(1), 100"],
    "while_data": ["t(1)", "t(0.001)", "t(5000)"],
    "loop_with": ["t(1), 50"],
    "loop_try": ["t(1), 50"],
    "swallow": ["t(1)"],
    "nested": ["t(1)"],
    "nested_loop": ["t(1), 100"],
    "enumerated": ["t(1), [t(2), t(3), t(4), t(5)]"],
    "grows": ["t(1), []", "t(1), [1, 2]"],
    "comprehension": ["t(1)"],
    "temporaries": ["t(1)"],
    "torture": ["t(1), 7", "t(-50), 7", "t(100), 2"],
    "many_shapes": ["t(1), [t(*[1] * k) for k in range(1, 21)]"],
}
