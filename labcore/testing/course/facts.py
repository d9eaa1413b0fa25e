"""What the compiler did with some calls, as counts for a check.

In: a function and calls.  Out: `Seen`: captures after each call, graphs, kernels, breaks, values.
Invariant: everything is read off the trace of those very calls, so no count can disagree with
what a widget or a log shows of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...trace import Accesses, GraphBreak, GraphCaptured, Handover, KernelReady, Recorder, record
from .result import Unusable, ask, begun, kind_of


@dataclass(frozen=True)
class Seen:
    """`values`: one result a call.  `captures`: graphs captured so far, after each call.

    `regions`: graphs of the first call.  `places`: where a break was met, each place once.
    """

    values: tuple[Any, ...]
    captures: tuple[int, ...]
    trace: Recorder

    @property
    def regions(self) -> int:
        return self.captures[0]

    @property
    def places(self) -> int:
        return len(self.trace.of(GraphBreak))

    @property
    def met(self) -> int:
        """How often a call left its compiled code for Python."""
        return len(self.trace.of(Handover))

    @property
    def kernels(self) -> int:
        return len(self.trace.of(KernelReady))

    @property
    def accesses(self) -> int:
        """Array accesses of one run of every graph, as its loops are scheduled."""
        return sum(entry.fused for entry in self.trace.of(Accesses))

    def lists(self) -> list[Any]:
        """The results as lists. Raises Unusable where one is no tensor."""
        from ... import Tensor

        for value in self.values:
            if not isinstance(value, Tensor):
                raise Unusable("a tensor", kind_of(value))
        return [value.tolist() for value in self.values]

    def operations(self, graph: int = 0) -> list[str]:
        """The names of the operations of one captured graph, in order."""
        nodes = self.trace.of(GraphCaptured)[graph].nodes
        return [target for _, op, target, _ in nodes if op == "call_function"]


def graph_of(fn: Callable[..., Any], *shapes: tuple[int, ...]) -> Any:
    """The graph module that a backend gets for `fn` of tensors of these shapes.

    Raises Unusable where it gets none.
    """
    from ... import compile as compile_function, ones

    graphs: list[Any] = []

    def keep(gm: Any, example_inputs: list[Any]) -> Any:
        graphs.append(gm)
        return gm.forward

    compile_function(fn, backend=keep)(*map(ones, shapes))
    if not graphs:
        raise Unusable("operators of torch, to be captured", "none of them in a graph")
    return graphs[0]


def seen(fn: Any, *calls: Sequence[Any], **options: Any) -> Seen:
    """Compile a student's function and call it; its error, `...` or None is an outcome."""
    told: Seen = ask(_seen, ask(lambda: fn), calls, options)
    for value in told.values:
        begun(value)
    return told


def _seen(fn: Callable[..., Any], calls: Sequence[Sequence[Any]], options: dict[str, Any]) -> Seen:
    from ... import compile as compile_function

    compiled = compile_function(fn, **options)
    values: list[Any] = []
    captures: list[int] = []
    with record() as recorder:
        for arguments in calls:
            values.append(compiled(*arguments))
            captures.append(len(recorder.of(GraphCaptured)))
    return Seen(tuple(values), tuple(captures), recorder)
