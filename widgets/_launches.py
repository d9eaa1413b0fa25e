"""One call as launches and kernels: of eager mode, compiled, and each of both replayed.

In: a function and arguments.  Out: JSON for `static/launches.js` (its header has the schema).
Invariant: kernels are those that were launched, and bytes those that they asked for, in calls that
were made on a card of paper, for which the grid simulator counts; times are modelled from them with
figures that are stated, or measured on a card of silicon (`labcore.measure.watched`).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

import labcore as torch
from labcore.codegen.cuda.eager import carry
from labcore.codegen.cuda.paper import PaperDriver, build
from labcore.codegen.printer import pointee
from labcore.measure.lanes import H200, PLANS
from labcore.measure.watched import Refused, watched
from labcore.runtime import cards
from labcore.runtime.card import SiliconCard
from labcore.runtime.driver import CallStep
from labcore.simulator import Launch
from labcore.tensor.cuda import card_in_use, install

from ._grid import moved
from ._inputs import example_inputs
from ._recording import original

Json = dict[str, Any]
Function = Callable[..., Any]
SMALL = 4096  # elements of an example, and the most that a tensor may have on the simulated card
SIZES = (1 << 12, 1 << 18, 1 << 24)  # of an example, measured


def launch_trace(fn: Function, args: tuple[Any, ...], counts: Sequence[int]) -> Json:
    """Make the calls and tell of their kernels; measure where there is a card. `counts`: the last
    argument, in turn. Raises ValueError for tensors that are too large, and where something runs
    that is no kernel."""
    name = getattr(original(fn), "__name__", type(fn).__name__)
    on_silicon = _on_silicon()
    variants, measured = [], []
    for count in counts or (None,):
        last = () if count is None else (count,)
        small = args or _examples(fn, last, SMALL)
        variants.append({"count": count, **_recorded(fn, (*small, *last))})
        if on_silicon:
            many = [args] if args else [_examples(fn, last, size) for size in SIZES]
            measured.append([_measured(fn, (*given, *last)) for given in many])
    card = torch.cuda.get_device_name() if on_silicon else ""
    return {"version": 1, "function": name, "figures": asdict(H200), "variants": variants,
            "card": card, "measured": measured}


def _on_silicon() -> bool:
    """Is the card in use, or the one that is found now, one whose time can be measured?"""
    if card_in_use() is None:
        torch.cuda.use_card()
    found = card_in_use()
    return isinstance(found, SiliconCard) and found.driver.has_clock


def _examples(fn: Function, last: tuple[Any, ...], size: int) -> tuple[Any, ...]:
    """Vectors for all parameters but the count."""
    found = example_inputs(fn, size)
    return found[: len(found) - len(last)]


def elements(args: Sequence[Any]) -> int:
    """Of the largest tensor."""
    return max([int(np.prod(a.shape)) for a in args if isinstance(a, torch.Tensor)], default=0)


def _recorded(fn: Function, args: tuple[Any, ...]) -> Json:
    """The launches of an eager call and of a compiled one, on a card of paper."""
    if elements(args) > SMALL:
        raise ValueError(
            f"LaunchTimeline records a call on a simulated card, and {elements(args):,} elements "
            f"take too long there. Give tensors of {SMALL:,} at most: the view's slider makes them "
            "larger"
        )
    driver, card = PaperDriver(), card_in_use()
    install(SiliconCard(driver, build), carry)
    try:
        with torch.no_grad():
            there, eager = moved(args), _on_card(fn)
            compiled = torch.compile(eager)
            compiled(*there)
            return {"elements": elements(args), "eager": _steps(driver, eager, there),
                    "compiled": _steps(driver, compiled, there)}
    finally:
        install(card, carry if card else None)


def _on_card(fn: Function) -> Function:
    """A module has its parameters with it; the copy's lie on the card in use."""
    plain = original(fn)
    return copy.deepcopy(plain).to("cuda") if isinstance(plain, torch.nn.Module) else plain


def _steps(driver: PaperDriver, call: Function, args: Sequence[Any]) -> list[Json]:
    """The kernels and products of a call, in order."""
    steps: list[Any] = []
    driver.launches = []
    with cards.recording_steps(steps):
        call(*args)
    others = [step for step in steps if isinstance(step, str)]
    if others or not steps:
        why = others[0] if others else "nothing of it became a kernel"
        raise ValueError(f"LaunchTimeline shows kernels: {why}")
    launches = iter(driver.launches)
    return [_product(step) if isinstance(step, CallStep) else _kernel(next(launches))
            for step in steps]


def _kernel(launch: Launch) -> Json:
    return {"name": short(launch.kernel), "bytes": _bytes(launch), "work": 0,
            "first": first(launch.kernel)}


def _product(step: CallStep) -> Json:
    nbytes = sum(size for _, size in [*step.reads, step.writes])
    return {"name": "matmul", "bytes": nbytes, "work": step.work, "first": True}


def first(kernel: str) -> bool:
    """Is it the first kernel of its program? In eager mode each operator is a program."""
    return kernel.endswith("_0")


def short(kernel: str) -> str:
    """"add_mul" for numba_fused_add_mul_0."""
    words = [w for w in kernel.removeprefix("numba_fused_").split("_") if not w.isdigit()]
    return "_".join(words)


def _bytes(launch: Launch) -> int:
    """What a kernel's threads read and wrote of the card's memory."""
    functions = [n for n in ast.parse(launch.source).body if isinstance(n, ast.FunctionDef)]
    (node,) = [n for n in functions if n.name == launch.kernel]
    sizes = {a.arg: np.dtype(pointee(ast.literal_eval(a.annotation))).itemsize
             for a in node.args.args if a.annotation and a.arg in launch.traffic}
    return sum((t.reads + t.writes) * sizes[name] for name, t in launch.traffic.items())


def _measured(fn: Function, args: tuple[Any, ...]) -> Json:
    """The lanes of each plan on the card of silicon."""
    there, eager, plans = moved(args), _on_card(fn), Json()
    for plan in PLANS:
        try:
            lanes, names = watched(eager, there, plan)
        except Refused as why:
            if not plan.endswith("replayed"):
                raise ValueError(f"LaunchTimeline shows kernels: {why}") from None
            plans[plan] = {"refused": str(why)}
            continue
        plans[plan] = {"host": lanes.host, "device": lanes.device,
                       "names": [short(name) for name in names]}
    return {"elements": elements(args), "plans": plans}
