"""What was compiled in this process, in numbers; kept whether or not anybody listens.

    counters["frames"]       "total": regions captured, "ok": those that are more than a break
    counters["stats"]        "unique_graphs": graphs compiled, "calls_captured": their operators
    counters["graph_break"]  what stopped capture: how often, each place once

Invariant: `explain` and the log tell the same numbers, each for what it watched.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from ..capture import Break, Region

counters: defaultdict[str, Counter[str]] = defaultdict(Counter)


def count_region(region: Region, stop: Break | None, reused: bool) -> None:
    """`stop`: the break at its end, if it is a new one.  `reused`: its graph is compiled already.
    """
    counters["frames"]["total"] += 1
    counters["frames"]["ok"] += not region.eager
    if stop is not None:
        counters["graph_break"][stop.what] += 1
    if region.graph_module is not None and not reused:
        counters["stats"]["unique_graphs"] += 1
        counters["stats"]["calls_captured"] += len(region.graph_module.graph.calls)
