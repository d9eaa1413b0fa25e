"""AccessRace: a function as separate passes and as its fused loops, access by access.

In: a function.  Out: an anywidget, its SVG, its text.
Invariant: the loop bodies are those of the compiler's own nests; the view runs them for any N, so
the slider works without a kernel, and counts, values and order come from one source.
PyTorch shows neither lane: it prints the fused kernel (TORCH_LOGS=output_code) and leaves the
counting to the reader.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any

import traitlets

import labcore as torch
from labcore.autodiff.passes import lower_operators
from labcore.capture import capture
from labcore.capture.interpreter.core import parameter_names
from labcore.compiler.exc import Unsupported
from labcore.fusion import FusionOptions
from labcore.fusion.options import DEFAULT
from labcore.fusion.race import TooLarge, race_plan
from labcore.graph import GraphModule, Node

from . import _bundle
from ._inputs import example_inputs
from ._race import Json, Run, run
from ._race_still import race_picture
from ._widget import LabWidget

MOST = 16  # elements the slider goes to
SIZES = 4  # elements of an example that nobody gave


class CannotShow(ValueError):
    """The function cannot be shown access by access; the text says why."""


class AccessRace(LabWidget):
    """Separate passes against the fused loops.

    >>> AccessRace(block)                  # float32 examples are made: -2, -1, 1, 2, and ones
    >>> AccessRace(block, x, bias, n=8)    # your tensors; their values repeat when N is larger
    >>> AccessRace(block, options={"max_nodes": 1})  # another schedule, as `compile` takes them
    >>> race.n = 12                        # as the slider does

    A chain of pointwise operators over the same elements can be shown for 1 to 16 of them: `n`.
    Anything else (reductions, broadcasts, several loops, calls of a library in between) is shown
    for the inputs given, of at most 32 elements each. Raises CannotShow for what capture cannot
    take, and for larger inputs.

    Where no script runs (GitHub, nbconvert, an untrusted notebook) the cell shows an SVG of the
    last frame, which travels beside the widget in the same output; `.still()` gives that picture
    alone. `repr` states the counts.
    """

    _esm = _bundle.esm("access_race")
    _css = _bundle.css("access_race")

    n = traitlets.Int(4, min=1, max=MOST).tag(sync=True)

    def __init__(
        self,
        fn: Callable[..., Any],
        *example: Any,
        n: int = 4,
        language: str = "en",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        __tracebackhide__ = True  # a notebook shows the reader's line and the reason
        chosen, given = FusionOptions.of(options or {}), example or example_inputs(fn, SIZES)
        super().__init__(trace=capture_race(fn, given, chosen), n=n, language=language)

    def runs(self) -> tuple[Run, Run]:
        """Both lanes, run in Python: every access, and memory afterwards."""
        separate, fused = self.trace["lanes"]
        return run(self.trace, separate, self.n), run(self.trace, fused, self.n)

    def picture(self) -> str:
        widest = max(buffer.get("size", 1) for buffer in self.trace["buffers"])
        return race_picture(self.trace, widest if self.trace.get("fixed") else self.n)

    def __repr__(self) -> str:
        separate, fused = (len(done.accesses) for done in self.runs())
        counts = f"separate {separate} accesses, fused {fused}"
        size = "" if self.trace.get("fixed") else f", N={self.n}"
        return f"AccessRace({self.trace['function']}{size}: {counts})"


def capture_race(
    fn: Callable[..., Any], example: Sequence[Any], options: FusionOptions = DEFAULT
) -> Json:
    """Have the lab's compiler capture `fn`, and its scheduler plan the race. No variant is made and
    none is used up.
    """
    __tracebackhide__ = True
    name = getattr(fn, "__name__", type(fn).__name__)
    refuse = lambda reason: CannotShow(f"AccessRace cannot show {name}: {reason}")
    function, arguments = _bound(fn, example)
    with torch.no_grad():
        region = capture(function, arguments)
        if region.raises is not None:
            fn(*example)  # raises what the user's program raises
            raise region.raises
    if region.stop is not None:
        raise refuse(str(Unsupported(region.stop)))
    module = region.graph_module
    if module is None or not any(node.op == "call_function" for node in module.graph.nodes):
        raise refuse("it does no tensor arithmetic")
    try:
        given = lower_operators(module.graph), region.inputs
        arrays = race_plan(*given, constants=module.attrs, options=options)["buffers"]
        return _ordered(race_plan(*given, name, _names(arrays, module), module.attrs, options))
    except TooLarge as error:
        raise refuse(str(error)) from None


def _bound(fn: Callable[..., Any], example: Sequence[Any]) -> tuple[FunctionType, tuple[Any, ...]]:
    """The Python function behind a callable, and its arguments, one a parameter."""
    fn = inspect.unwrap(fn)  # a compiled function is the user's function again
    if isinstance(fn, MethodType):
        function, example = fn.__func__, (fn.__self__, *example)
    elif isinstance(fn, FunctionType):
        function = fn
    else:
        function, example = type(fn).__call__, (fn, *example)
    if not isinstance(function, FunctionType):
        raise TypeError(f"AccessRace reads bytecode, and {fn!r} is not written in Python")
    bound = inspect.signature(function).bind(*example)
    bound.apply_defaults()
    return function, tuple(bound.arguments[name] for name in parameter_names(function.__code__))


def _ordered(plan: Json) -> Json:
    """Rows as they are read: what comes in, what lies between, what goes out."""
    roles = ["input", "intermediate", "output"]
    rows = sorted(
        plan["buffers"], key=lambda b: (roles.index(b["role"]), b["role"] == "output" and b["name"])
    )
    return {**plan, "buffers": rows}


def _names(arrays: list[Json], module: GraphModule) -> dict[str, str]:
    """Names for the arrays that have none of the user's: t1, t2, ... for what lies between, y or
    y1, y2 for results.
    """
    *_, output = module.graph.nodes
    named = {
        role: [b["name"] for b in arrays if b["role"] == role]
        for role in ("input", "intermediate", "output")
    }
    order = [node.name for node in _results(output.args)]
    results = sorted(
        named["output"], key=lambda name: order.index(name) if name in order else len(order)
    )
    taken = {name.rstrip("0123456789") for name in named["input"]}
    free = lambda *names: next(name for name in names if name not in taken)
    y, t = free("y", "out", "result"), free("t", "step", "temp")
    outputs = {name: f"{y}{k}" if len(results) > 1 else y for k, name in enumerate(results, 1)}
    return {name: f"{t}{k}" for k, name in enumerate(named["intermediate"], 1)} | outputs


def _results(args: Any) -> list[Any]:
    """The nodes that the graph returns, each once."""
    if isinstance(args, (tuple, list)):
        return list(dict.fromkeys(node for item in args for node in _results(item)))
    return [args] if isinstance(args, Node) else []
