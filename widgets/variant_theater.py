"""VariantTheater: calls of a compiled function on their way through guards, variants and the
compiler.

In: a function and calls, or a recording.  Out: an anywidget, its SVG, its text.
Invariant: every beat is an event that the compiler emitted while these very calls ran.
PyTorch says the same in logs (TORCH_LOGS=guards,recompiles) after the fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import labcore as torch
from labcore import trace as t

from . import _bundle
from ._inputs import parameter_names
from ._recording import Call, is_compiled, record_calls
from ._theater import Director, Score, direct
from ._theater_still import theater_picture
from ._widget import LabWidget


class VariantTheater(LabWidget):
    """Watch which variant answers which call.

    >>> VariantTheater(block, (x4, bias4), (x8, bias8))   # calls as tuples of arguments
    >>> VariantTheater(block, 4, 4, 8, 4)                 # float32 tensors of so many elements
    >>> VariantTheater.watch(block, [4, 4, 8, 4])         # the same, calls in a list
    >>> with trace.record() as r: ...
    >>> VariantTheater(trace=r)                           # what was recorded elsewhere

    `fn` may be compiled already, and then its own variants answer; a plain function is compiled
    first. A call that raises is shown as such, and the calls after it go on.

    Where no script runs (GitHub, nbconvert, an untrusted notebook) the cell shows an SVG of the
    last frame, which travels beside the widget in the same output; `.still()` gives that picture
    alone. `repr` has one line a call.
    """

    _esm = _bundle.esm("variant_theater")
    _css = _bundle.css("variant_theater")

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *calls: Call,
        trace: t.Recorder | Iterable[t.Event] | None = None,
        language: str = "en",
    ) -> None:
        if (fn is None) == (trace is None):
            raise TypeError(
                "VariantTheater shows either a function and its calls, or a recording: "
                "VariantTheater(fn, 4, 8) or VariantTheater(trace=recorder)"
            )
        if trace is not None:
            if calls:
                raise TypeError("VariantTheater: a recording has its calls already; give no others")
            self._director = direct(trace.events if isinstance(trace, t.Recorder) else trace)
        else:
            assert fn is not None
            if not calls:
                raise TypeError(
                    "VariantTheater: give at least one call, as a tuple of arguments or a size"
                )
            self._director = perform(fn, calls)
        super().__init__(trace=self._director.trace, language=language)

    @classmethod
    def watch(
        cls, fn: Callable[..., Any], calls: Iterable[Call], *, language: str = "en"
    ) -> VariantTheater:
        """`VariantTheater(fn, *calls)`, for calls that are in a list already."""
        return cls(fn, *calls, language=language)

    def summary(self) -> str:
        """The counters as one sentence: "4 calls, 2 hits, 2 misses, 1 recompile, 2 variants"."""
        return ", ".join(_counted(number, name) for name, number in self._director.counts().items())

    def picture(self) -> str:
        return theater_picture(self.trace, self.summary())

    def __repr__(self) -> str:
        scores = self._director.scores
        width = max(len(score.inputs) for score in scores)
        digits = len(str(len(scores)))
        lines = [f"VariantTheater({self.trace['function']}: {self.summary()})"]
        for number, score in enumerate(scores, 1):
            lines.append(f"  call {number:>{digits}}  {score.inputs:<{width}}  {_outcome(score)}")
            lines.extend(" " * (9 + digits) + reason for reason in _first(score.reasons))
        lines.extend(_behind(variant) for variant in self.trace["variants"] if _goes_on(variant))
        return "\n".join(lines)


def _goes_on(variant: dict[str, Any]) -> bool:
    """Does compiled code end in a break, so that further regions follow?"""
    return variant["result"] == "graph" and "stop" in variant


def _behind(variant: dict[str, Any]) -> str:
    stop = variant["stop"]
    line = f"line {stop['line']}, " if "line" in stop else ""
    return f"  {variant['id']} ends at {line}{stop['what']}; the regions behind it are not shown"


def _counted(number: int, name: str) -> str:
    singular = {"misses": "miss"}.get(name, name.removesuffix("s"))
    return f"{number} {singular if number == 1 else name}"


def _first(reasons: list[str]) -> list[str]:
    """The reasons of the variants asked first; of a long row, how many more there were."""
    return reasons if len(reasons) <= 3 else [*reasons[:2], f"and {len(reasons) - 2} more"]


def _outcome(score: Score) -> str:
    asked = "miss, " if score.miss else ""
    said = {
        "hit": f"hit {score.variant}",
        "compiled": f"compiled {score.variant}",
        "eager": "ran in Python",
        "raised": f"raised {score.error}".rstrip(),
    }.get(score.result, score.result)
    return asked + said


def perform(fn: Callable[..., Any], calls: Iterable[Call]) -> Director:
    """Run the calls on the compiled function, recording."""
    # A variant for each size, unless the user's own compile() says otherwise.
    compiled = fn if is_compiled(fn) else torch.compile(fn, dynamic=False)
    events, errors = record_calls(compiled, fn, calls)
    return direct(events, errors, parameter_names(fn))
