"""LoopStepper: one loop body, run under handler after handler.

In: a function and the arguments of one call.  Out: an anywidget, its SVG, its text.
Invariant: bodies, questions and answers are those of the compiler's own schedule and handlers.
PyTorch prints such bodies (TORCH_LOGS=ir_pre_fusion), and keeps what its handlers answer to itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from . import _bundle
from ._bodies import Json, bodies_of
from ._bodies_still import body_picture, result_of
from ._graphs import fused_graph, titled
from ._listing import source_of
from ._recording import code_of, original
from ._widget import LabWidget


class LoopStepper(LabWidget):
    """Ask a loop body of your function what it does, in six ways.

    >>> LoopStepper(block, x, bias)            # your arguments
    >>> LoopStepper(block)                     # float32 examples are made: -2, -1, 1, 2, and ones
    >>> LoopStepper(block, when="before", body=1)

    `when` is "after" (the bodies of the schedule) or "before" (one for each operator), `body` is
    the number among them, and `element` the turn of the loops that the interpreter tells, -1 the
    last; all three may be set from a cell, and are set by the view. `graph` is the number of the
    graph, where a call has several.

    The call is really made, once, on a compiled form of its own. Raises ValueError where nothing of
    it is compiled, for a graph that is not there, and where tensors are too large to be
    interpreted; an exception of the call itself is raised as it is.

    Where no script runs (GitHub, nbconvert, an untrusted notebook) the cell shows an SVG of the
    questions with all answers, which travels beside the widget in the same output; `.still()` gives
    that picture alone. `repr` has the body and what each handler came to.
    """

    _esm = _bundle.esm("loop_stepper")
    _css = _bundle.css("loop_stepper")

    when = traitlets.Enum(["before", "after"], default_value="after").tag(sync=True)
    body = traitlets.Int(0, min=0).tag(sync=True)
    element = traitlets.Int(-1, min=-1).tag(sync=True)

    def __init__(self, fn: Callable[..., Any], *args: Any, when: str = "after", body: int = 0,
                 element: int = -1, graph: int = 0, language: str = "en") -> None:
        __tracebackhide__ = True
        fused = fused_graph("LoopStepper", fn, args, graph)
        name = getattr(original(fn), "__name__", type(fn).__name__)
        told = {"version": 1, "function": name, "source": _source(fn)}
        trace = {**told, **bodies_of(fused), **fused.place}
        if not any("questions" in each for each in trace["after"]):
            raise ValueError(f"LoopStepper: {name} has no loops, only external calls")
        super().__init__(trace=trace, language=language, when=when, body=body, element=element)

    @property
    def shown(self) -> Json:
        """The body that is chosen; of steps without one the nearest that has one."""
        bodies = self.trace[self.when]
        later = [*bodies[min(self.body, len(bodies) - 1) :], *bodies]
        return next(body for body in later if "questions" in body)

    def picture(self) -> str:
        return body_picture(self.trace["function"], self.shown, self.when, self.element)

    def __repr__(self) -> str:
        body = self.shown
        title = f"{titled(self.trace)}, {self.when} fusion: {body['title']}"
        lines = [f"LoopStepper({title}, {len(body['questions'])} questions)"]
        lines += [f"  {question['text']}" for question in body["questions"]]
        names = [(handler, f"{handler['name']}:") for handler in body["handlers"]]
        lines += [f"  {name:<13}{result_of(handler, self.element)}" for handler, name in names]
        return "\n".join(lines)


def _source(fn: Callable[..., Any]) -> Json | None:
    """The function's lines, where they can be read."""
    code = code_of(original(fn))
    lines, _ = source_of(code.co_filename, code.co_firstlineno) if code else ([], 0)
    return {"first": code.co_firstlineno, "lines": lines} if code and lines else None
