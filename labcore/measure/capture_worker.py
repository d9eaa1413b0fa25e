"""How long one framework takes to capture, in a process of its own.

    python capture_worker.py labcore|torch

In, a line each on standard input: a number of tensor operations.  Out, a line each: the seconds of
a first call of a function with that many, on backend "eager", so that only capture counts.
Invariant: this file imports the standard library and its own framework only, so that a peer's
environment can run it; each time it is another function that is captured.
"""

from __future__ import annotations

import sys
from importlib import import_module
from time import perf_counter
from typing import Any

LINES = ("x = x + y", "x = x * 0.5", "x = (x - y).relu()")  # four operations


def straight(operations: int) -> Any:
    """A function of two tensors, `operations` of them in a row."""
    body = [f"    {LINES[n % 3]}" for n in range(operations * 3 // 4)]
    text = "\n".join(["def straight(x, y):", *body, "    return x"])
    scope: dict[str, Any] = {}
    exec(compile(text, f"<{operations} operations>", "exec"), scope)
    return scope["straight"]


def first_call(torch: Any, operations: int) -> float:
    """Seconds of a first call, less those of a second one."""
    function, x, y = straight(operations), torch.ones(4), torch.ones(4)
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="eager", dynamic=False)
    begin = perf_counter()
    compiled(x, y)
    middle = perf_counter()
    compiled(x, y)
    return 2 * middle - begin - perf_counter()


def main(framework: str) -> None:
    torch = import_module(framework)
    first_call(torch, 4)  # imports what only capture needs
    for line in sys.stdin:
        print(first_call(torch, int(line)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
