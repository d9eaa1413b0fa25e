"""The graphs that the loop compiler gets while one call is made, and the numbers they ran on.

In: a function and the arguments of a call.  Out: one `Fused` a graph, as they are compiled.
Invariant: the graphs are those of `compile(fn)`, after autodiff; the call is really made, once, on
a compiled form of its own, by eager operators.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import labcore as torch
from labcore.graph import GraphModule, Node

from ._inputs import example_inputs
from ._recording import original
from ._regions import SIGNS

SIZE = 4  # elements of an example that nobody gave


@dataclass
class Fused:
    """A graph for the loop compiler. `phase` is "inference", "forward" or "backward", `inputs` are
    what it was first called with, and `names` has the user's for its placeholders.
    """

    module: GraphModule
    phase: str
    names: dict[str, str]
    inputs: list[Any] = field(default_factory=list)
    place: dict[str, Any] = field(default_factory=dict)  # see `place_of`

    def run(self, args: list[Any]) -> tuple:
        """The compiled graph: one operator after another, on a list that it may empty."""
        from labcore.autodiff import run_by_operators

        if not self.inputs:
            self.inputs = [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
        return run_by_operators(self.module, self.phase)(args)


def spelled_out(node: Node, name: Callable[[Node], str]) -> str:
    """A node as a person would write it: "x * w", "sin(mul)"; others go by their `name`."""
    if node.op != "call_function":
        return name(node)
    args = [_argument(value, name) for value in (*node.args, *node.kwargs.values())]
    sign = SIGNS.get(node.target.name)
    if sign and len(args) == 2:
        return f"{args[0]} {sign} {args[1]}"
    return f"{node.target.name}({', '.join(args)})"


def _argument(value: Any, name: Callable[[Node], str]) -> str:
    if isinstance(value, Node):
        return name(value)
    if isinstance(value, (tuple, list)):
        inside = ", ".join(_argument(item, name) for item in value)
        return f"({inside}{',' if len(value) == 1 else ''})"
    return str(value)


def renamed(told: Any, names: Mapping[str, str]) -> Any:
    """The user's names for the placeholders, in every text of some JSON."""
    if isinstance(told, str):
        return re.sub(r"\bprimals_\d+\b", lambda m: names.get(m[0], m[0]), told)
    if isinstance(told, dict):
        return {key: renamed(value, names) for key, value in told.items()}
    return [renamed(value, names) for value in told] if isinstance(told, list) else told


def fused_graphs(
    fn: Callable[..., Any], args: tuple[Any, ...], backward: bool = False
) -> list[Fused]:
    """Those of `fn(*args)`; an exception of the call is raised as it is. `backward`: and those of
    its gradients, where there are any; nobody's `.grad` changes."""
    __tracebackhide__ = True
    found: list[Fused] = []

    def backend(gm: GraphModule, examples: list[Any]) -> Any:
        from labcore.autodiff import AutodiffOptions, aot_compile

        placeholders = [node.name for node in gm.graph.placeholders]

        def keep(compiled: GraphModule, phase: str) -> Callable[[list[Any]], tuple]:
            names = dict(zip((f"primals_{k}" for k, _ in enumerate(placeholders, 1)), placeholders))
            found.append(Fused(compiled, phase, names))
            return found[-1].run

        return aot_compile(gm, examples, keep, options=AutodiffOptions.of({}, "min_cut"))

    result = torch.compile(original(fn), backend=backend)(*args)
    if backward:
        _differentiate(result, [*args, original(fn)])
    return found


def _differentiate(result: Any, given: list[Any]) -> None:
    """Let the gradients of a sum of all results be computed, for all that is given."""
    outputs = [t for t in _tensors(result) if t.requires_grad]
    wanted = [t for t in _tensors(given) if t.requires_grad]
    if outputs and wanted:
        torch.autograd.grad([t.sum() for t in outputs], wanted, allow_unused=True)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    """The tensors in a structure; of a module its parameters."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, torch.nn.Module):
        yield from value.parameters()
    elif isinstance(value, dict):
        yield from (t for item in value.values() for t in _tensors(item))
    elif isinstance(value, (tuple, list)):
        yield from (t for item in value for t in _tensors(item))


def fused_graph(widget: str, fn: Callable[..., Any], args: tuple[Any, ...], number: int) -> Fused:
    """One of them. Raises ValueError for a number that the call has no graph for."""
    __tracebackhide__ = True
    found = fused_graphs(fn, args or example_inputs(original(fn), SIZE))
    if not found:
        raise ValueError(f"{widget}: this call does no tensor arithmetic that could be compiled")
    if not 0 <= number < len(found):
        raise ValueError(f"{widget}: this call has {len(found)} graph(s), numbered from 0")
    found[number].place = place_of(number, len(found))
    return found[number]


def place_of(number: int, count: int) -> dict[str, Any]:
    """For a trace: which graph of a call is shown, where there are others."""
    return {"graph": {"number": number, "last": count - 1, "count": count}} if count > 1 else {}


def titled(trace: Mapping[str, Any]) -> str:
    """The function of a trace, and which of its graphs it is."""
    graph = trace.get("graph")
    which = f", graph={graph['number']} of {graph['count']} graphs" if graph else ""
    return f"{trace['function']}{which}"
