"""Compiled graphs, and the backward that is compiled when it is first asked for.

In: a cut.  Out: `LazyBackward`, which gives the compiled backward for a call of `backward()`.
Invariant: a compiled graph is called with a list that it may empty, and never sees a history; the
values saved by one forward suit every backward of its region.
AOTAutograd compiles one backward, at once where sizes are symbolic, for what it takes for granted
has to become a guard of the forward. Here a backward has conditions of its own, and several can be
there. It passes zeros for outputs that were not used; zeros are not nothing, for 0 * inf is nan,
and eager mode leaves those ways out.
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from .. import trace
from ..graph import Graph, GraphModule
from ..guards import RECOMPILE_LIMIT
from ..shapes import condition
from ..tensor.modes import mode, no_grad
from ..tensor.storage import Storage
from .aliases import Split, split_aliases
from .partition import Cut
from .passes import clean, without_gradients

Boxed = Callable[[list[Any]], tuple]
Compiler = Callable[[GraphModule, str], Boxed]
Numbers = Mapping[str, Any]


def compile_split(
    compiler: Compiler,
    split: Split,
    phase: str,
    attrs: dict[str, Any],
    overwritten: Mapping[str, int] | None = None,
) -> Boxed:
    """Compile what is computed; outputs that are views or inputs are put in place afterwards."""
    compiled: Boxed = _nothing
    if split.core.outputs:
        name = f"{phase.capitalize()}Graph"
        compiled = compiler(GraphModule(split.core, attrs, name, overwritten), phase)
    if phase == "inference":
        compiled = _under_any_mode(compiled, {*(overwritten or {}).values()})
    if split.epilogue is None:
        return compiled
    finish = GraphModule(split.epilogue, attrs, "Epilogue").forward

    def run(box: list[Any]) -> tuple:
        kept = [box[i] for i in split.arguments]
        return finish(*kept, *compiled(box))
    return run


def _nothing(box: list[Any]) -> tuple:
    return ()


def _under_any_mode(compiled: Boxed, contents: set[int]) -> Boxed:
    """`compiled`, whose results are inference tensors when it is called under inference_mode; but
    not those at the places `contents`, which may be inputs."""

    def run(box: list[Any]) -> tuple:
        results = compiled(box)
        if mode.inference:
            for place, tensor in enumerate(results):
                if tensor._storage is None and place not in contents:
                    tensor._storage = Storage(tensor.array, inference=True)
        return results
    return run


def run_by_operators(gm: GraphModule, phase: str) -> Boxed:
    """The compiler that compiles nothing: one eager operator a node."""

    def run(args: list[Any]) -> Any:
        inputs = tuple(args)
        args.clear()
        with no_grad():
            return gm.forward(*inputs)

    return run


@dataclass(frozen=True)
class CompiledBackward:
    """`run` is right for numbers that `holds` is true of."""

    holds: Callable[[Numbers], bool]
    run: Boxed


class LazyBackward:
    """The backward of one region: for each set of outputs that gradients came for, a graph; of that
    a compiled form for each set of conditions that its numbers met.
    """

    def __init__(
        self, cut: Cut, tangents: Sequence[str], attrs: dict[str, Any], compiler: Compiler
    ) -> None:
        self.cut, self.tangents, self.attrs = cut, tuple(tangents), attrs
        self.compiler, self.compile_id = compiler, trace.current_compile_id()
        self.compiled: dict[tuple[bool, ...], list[CompiledBackward]] = {}
        self.unread: dict[tuple[bool, ...], set[str]] = {}  # saved, and not needed for these
        self._lock = threading.Lock()

    def given(self, used: tuple[bool, ...], numbers: Numbers) -> Boxed:
        """The compiled backward for gradients of these outputs, at these numbers:
        `(*numbers, *saved, *tangents) -> grads`."""
        found = self._find(used, numbers)
        if found is None:
            with self._lock, trace.compiling(self.compile_id):
                found = self._find(used, numbers) or self._compile(used, numbers)
        return found

    def _find(self, used: tuple[bool, ...], numbers: Numbers) -> Boxed | None:
        known = self.compiled.get(used, ())
        return next((compiled.run for compiled in known if compiled.holds(numbers)), None)

    def _compile(self, used: tuple[bool, ...], numbers: Numbers) -> Boxed:
        started = perf_counter()
        known = self.compiled.setdefault(used, [])
        if len(known) < RECOMPILE_LIMIT:
            compiler, note = self.compiler, "compiled at the first backward(), codegen included"
        else:
            compiler = run_by_operators
            note = f"run by eager operators, as {len(known)} compiled ones fit other numbers"
        env = self.cut.backward.env
        if env is None:
            found = CompiledBackward(lambda numbers: True, self._split(used, compiler))
        else:
            with env.supposing(numbers) as assumed:
                run = self._split(used, compiler)
            found = CompiledBackward(condition(assumed), run)
        known.append(found)
        if trace.listening():
            trace.emit(trace.Stage("autodiff", perf_counter() - started, f"backward: {note}"))
        return found.run

    def _split(self, used: tuple[bool, ...], compiler: Compiler) -> Boxed:
        """Gradients that are views (of a tangent, say) are made outside, like outputs."""
        graph = self._graph(used)
        self.unread[used] = {node.name for node in graph.placeholders if not node.users}
        return compile_split(compiler, split_aliases(graph), "backward", self.attrs)

    def _graph(self, used: tuple[bool, ...]) -> Graph:
        """The cut's backward graph, without what the unused outputs' gradients would do."""
        unused = {name for name, is_used in zip(self.tangents, used) if not is_used}
        return clean(without_gradients(self.cut.backward, unused)) if unused else self.cut.backward
