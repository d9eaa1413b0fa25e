"""Measurements: of a function of yours, and of the lab against its peers. Nothing here is imported
by the compiler.

    from labcore.measure import cost, roofline
    print(cost(block, x, bias))

costs.py     eager, first, warm, from disk; memory, bandwidth, break-even
limits.py    the machine's own bandwidth and arithmetic
roof.py      where a function stands under them
amortize.py  does compiling pay
lanes.py     when the CPU launches, when a card computes; watched.py: measured on a card,
             figures.py: what the model knows of one
bench.py     `make bench`; race.py, worker.py, workloads.py, words.py: whom it runs, and on what
"""

from typing import Any

_HOMES = {
    "cost": "costs", "Cost": "costs", "roofline": "roof", "stream": "limits",
    "operations": "limits", "speedup": "amortize", "Launches": "amortize",
    "break_even": "amortize", "ahead": "amortize", "static_overtakes": "amortize",
    "crossings": "amortize",
}


def __getattr__(name: str) -> Any:
    """Loaded when asked for: a peer's process imports this package and has numpy alone."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
