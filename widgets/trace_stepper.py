"""TraceStepper: the symbolic interpreter at work, instruction by instruction.

In: a function and the arguments of one call.  Out: an anywidget, its SVG, its text.
Invariant: every beat is a step that capture took for this very call.  What SVG and text tell does
not depend on the version of Python: they name lines, nodes and guards, never instructions.
PyTorch prints the instructions as it goes (TORCH_LOGS=trace_bytecode), with the stack, but without
what became of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import labcore as torch

from . import _bundle
from ._inputs import example_inputs
from ._listing import Json
from ._recording import original, record_calls
from ._stepping import Stepping
from ._stepping_still import stepping_picture
from ._widget import LabWidget
from ._words import counted

SIZE = 4  # elements of an example that nobody gave
GUARDS = 12  # told in the text


class TraceStepper(LabWidget):
    """Watch capture read a function's bytecode, and a graph grow from it.

    >>> TraceStepper(block, x, bias)            # your arguments
    >>> TraceStepper(block)                     # float32 examples are made: -2, -1, 1, 2, and ones
    >>> TraceStepper(loopy, x, 5, region="B")   # not the first region, but the second one

    The call is really made, once, on a compiled form of its own; `region` is the letter that
    BreakMap has for the call. Raises ValueError for a letter that the call has no region for; an
    exception of the call itself is raised as it is.

    Where no script runs (GitHub, nbconvert, an untrusted notebook) the cell shows an SVG of the
    source with its nodes and guards, which travels beside the widget in the same output; `.still()`
    gives that picture alone. `repr` has a line for each node and guard.
    """

    _esm = _bundle.esm("trace_stepper")
    _css = _bundle.css("trace_stepper")

    def __init__(
        self, fn: Callable[..., Any], *args: Any, region: str = "A", language: str = "en"
    ) -> None:
        steps = step_through(fn, args or example_inputs(fn, SIZE), region)
        self.region = region
        super().__init__(trace=steps.trace, language=language)

    def summary(self) -> str:
        """The counts as one sentence: "3 operators, 7 guards, to the return"."""
        nodes = [node for node in self.trace["nodes"] if node["op"] == "call"]
        kept = [node for node in nodes if not node.get("dropped")]
        dropped = f" ({len(nodes) - len(kept)} dropped)" if len(kept) < len(nodes) else ""
        counts = f"{counted(len(kept), 'operators')}{dropped}"
        return f"{counts}, {counted(len(self.trace['guards']), 'guards')}, {self._end()}"

    def _end(self) -> str:
        stop = self.trace.get("stop")
        if stop is None:
            return "to the return"
        line = f"line {stop['line']}: " if "line" in stop else ""
        return f"up to {line}{stop['what']}"

    def picture(self) -> str:
        return stepping_picture(self.trace, self.summary())

    def __repr__(self) -> str:
        title = f"{self.trace['function']}, region {self.region}"
        lines = [f"TraceStepper({title}: {self.summary()})"]
        lines += [_node_line(node) for node in self.trace["nodes"] if node["op"] == "call"]
        guards = self.trace["guards"]
        lines += [f"  guard: {guard['text']}" for guard in guards[:GUARDS]]
        if len(guards) > GUARDS:
            lines.append(f"  and {len(guards) - GUARDS} guards more")
        return "\n".join(lines)


def step_through(fn: Callable[..., Any], args: tuple[Any, ...], region: str) -> Stepping:
    """Make the call on a compiled form of its own, and read its steps."""
    compiled = torch.compile(original(fn), backend="eager")
    events, errors = record_calls(compiled, fn, [args], steps=True)
    if errors:
        fn(*args)  # raises what the user's program raises
    return Stepping(events, region)


def _node_line(node: Json) -> str:
    note = "  (dropped: nobody reads it)" if node.get("dropped") else ""
    return f"  line {node['line']}: {node['name']} = {node['text']}{note}"
