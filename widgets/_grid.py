"""One call on the simulated card, as the requests of one block's warps.

In: a function, the arguments of a call, the number of a block.  Out: JSON for `static/grid.js` (its
header has the schema).
Invariant: the call is really made, once, on a compiled form of its own; every request is one that
the simulator carried out, in its order, and what comes after the first `MOST` is counted, not told.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import labcore as torch
from labcore import trace as t
from labcore.codegen.cuda.eager import carry
from labcore.simulator import Access, Launch
from labcore.tensor.cuda import card_in_use, install

from ._recording import original

Json = dict[str, Any]
MOST = 400  # requests of a kernel
SECTOR, BANKS, WORD = 32, 32, 4
THREADS, BLOCKS, SHARED = 2048, 32, 228 * 1024  # of a multiprocessor of an H100 or H200


def grid_trace(fn: Callable[..., Any], args: tuple[Any, ...], block: int) -> Json:
    """Make the call and tell of its kernels. Raises ValueError where nothing of it is one."""
    name = getattr(original(fn), "__name__", type(fn).__name__)
    with simulated(), torch.no_grad(), t.record() as story, torch.cuda.record(block) as launches:
        torch.compile(original(fn))(*moved(args))
    forms = {event.name: event for event in story.of(t.KernelForm)}
    kernels = [_kernel(each, forms[each.kernel]) for each in launches if each.kernel in forms]
    if not kernels:
        raise ValueError(f"GridView: nothing of {name} became a kernel")
    return {"version": 1, "function": name, "watched": block, "kernels": kernels}


@contextmanager
def simulated() -> Iterator[None]:
    """A simulated card, for as long as it takes; then the one that there was, if any."""
    before = card_in_use()
    torch.cuda.simulate()
    try:
        yield
    finally:
        install(before, carry if before else None)


def moved(args: Sequence[Any]) -> list[Any]:
    """The arguments, tensors in the memory of the card in use, wherever they were."""
    return [a.cpu().cuda() if isinstance(a, torch.Tensor) else a for a in args]


def _kernel(launch: Launch, form: t.KernelForm) -> Json:
    threads = launch.block[0] * (launch.block[1] if len(launch.block) > 1 else 1)
    shared = launch.shared_bytes
    resident = min(THREADS // threads, BLOCKS, SHARED // shared if shared else BLOCKS)
    return {
        "name": launch.kernel,
        "form": form.form,
        "reason": form.reason,
        "grid": list(launch.grid),
        "block": list(launch.block),
        "threads": threads,
        "sharedBytes": shared,
        "occupancy": round(100 * resident * threads / THREADS),
        "barriers": launch.barriers,
        "lines": _lines(launch),
        "traffic": [
            {"array": array, "reads": found.reads, "writes": found.writes,
             "sectors": found.sectors, "fewest": found.fewest}
            for array, found in launch.traffic.items()
        ],
        "shared": [
            {"array": array, "requests": requests, "lost": lost}
            for array, (requests, lost) in launch.shared.items()
        ],
        "hidden": max(0, len(launch.accesses) - MOST),
        "events": [_event(access) for access in launch.accesses[:MOST]],
    }


def _lines(launch: Launch) -> list[list[Any]]:
    """[number, text] of the kernel's lines, then of the device functions it calls."""
    functions = {n.name: n for n in ast.parse(launch.source).body if isinstance(n, ast.FunctionDef)}
    text = launch.source.splitlines()
    found: list[list[Any]] = []
    wanted = [launch.kernel]
    for name in wanted:
        node = functions[name]
        called = {n.func.id for n in ast.walk(node)
                  if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        wanted += sorted(called & functions.keys() - set(wanted))
        assert node.end_lineno is not None
        found += [[k, text[k - 1]] for k in range(node.lineno, node.end_lineno + 1)]
    return found


def _event(access: Access) -> Json:
    """One request: of which warp, and what of memory it touches."""
    width = access.width
    base: Json = {"line": access.line, "array": access.array, "kind": access.kind,
                  "space": access.space, "warp": access.warp, "lanes": access.lanes, "width": width}
    if access.space == "shared":
        words = [a // WORD for a in access.addresses]
        turns = [len({w for w in words if w % BANKS == bank}) for bank in range(BANKS)]
        return {**base, "parts": turns, "of": [w % BANKS for w in words]}
    sectors = sorted({a // SECTOR for a in access.addresses})
    distinct = sorted(set(access.addresses))
    wanted = [sum(width for a in distinct if a // SECTOR == sector) for sector in sectors]
    return {**base, "parts": wanted, "of": [sectors.index(a // SECTOR) for a in access.addresses],
            "gaps": [b - a for a, b in zip(sectors, sectors[1:])]}
