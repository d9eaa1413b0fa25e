"""GuardMatrix: variants by guards, call by call; which guard failed first, of which of your lines.

In: a function and calls, or a recording.  Out: an anywidget, its SVG, its text.
Invariant: every mark is an answer that a guard gave to these very calls.
PyTorch tells the first failed guard of each variant, of calls that recompiled
(TORCH_LOGS=recompiles).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

from labcore import trace as t
from labcore.compiler import guard_matrix
from labcore.compiler.guard_matrix import GuardMatrix as Whole
from labcore.guards import RECOMPILE_LIMIT

from . import _bundle
from ._matrix import Json, Matrix
from ._matrix_still import matrix_picture
from ._recording import (
    Call,
    code_of,
    given,
    is_compiled,
    record_calls,
    refuse_settings,
    rehearsal,
)
from ._theater import direct
from ._widget import CallsWidget
from ._words import counted

ROWS = 3  # variants of a call that the text tells


class GuardMatrix(CallsWidget):
    """See which guard of which variant ends a call's hope for a hit, and your line that made it.

    >>> GuardMatrix(block, 4, 8, 4)                       # float32 tensors of so many elements
    >>> GuardMatrix(block, (x4, bias4), (x8, bias8))      # calls as tuples of arguments
    >>> GuardMatrix(block, 4, without_grad)               # without_grad(f) calls f as it likes
    >>> GuardMatrix(compiled, (x, bias))                  # its own variants are asked
    >>> GuardMatrix(trace=recorder)                       # what was recorded elsewhere

    A plain function is compiled for these calls alone, by default with a variant for each size. A
    row is a variant, in the order in which the call asks them; a column is a guard. A mark is an
    answer; what stands behind the first failed guard, or behind the row that was hit, was not
    asked. "Ask all" shows what the rows behind the hit would have said (`labcore.compiler.
    guard_matrix` tells the same); a recording has only what was asked.

    A call that raises is shown as such, and the calls after it go on. Raises TypeError for
    arguments that make no sense, ValueError for a recording without a call.

    Where no script runs (GitHub, nbconvert, an untrusted notebook) the cell shows an SVG of the
    last call, which travels beside the widget in the same output; `.still()` gives that picture
    alone. `repr` has a line a call, and one for each variant it asked.
    """

    _esm = _bundle.esm("guard_matrix")
    _css = _bundle.css("guard_matrix")

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *calls: Call,
        dynamic: bool | None = False,
        recompile_limit: int = RECOMPILE_LIMIT,
        trace: t.Recorder | Iterable[t.Event] | None = None,
        language: str = "en",
    ) -> None:
        events = given("GuardMatrix", fn, calls, trace)
        plain = fn is not None and not is_compiled(fn)
        refuse_settings("GuardMatrix", plain, dynamic, recompile_limit)
        if events is not None:
            self._matrix = Matrix(direct(events), events)
        else:
            assert fn is not None
            compiling = (
                rehearsal(fn, dynamic, recompile_limit, quiet=False)
                if plain
                else contextlib.nullcontext(fn)
            )
            with compiling as compiled:
                self._matrix = asking(compiled, fn, calls)
        super().__init__(trace=self._matrix.trace, language=language)

    def summary(self) -> str:
        """The counts as one sentence: "4 calls, 2 variants, 24 guards asked, 2 failed"."""
        counts = self._matrix.director.counts()
        beats = [beat for beat in self._matrix.director.beats if beat["kind"] == "guard"]
        failed = sum(not beat["ok"] for beat in beats)
        calls, variants = (counted(counts[name], name) for name in ("calls", "variants"))
        return f"{calls}, {variants}, {counted(len(beats), 'guards')} asked, {failed} failed"

    def picture(self) -> str:
        return matrix_picture(self._matrix, self.summary())

    def __repr__(self) -> str:
        director = self._matrix.director
        width = max(len(score.inputs) for score in director.scores)
        digits = len(str(len(director.scores)))
        lines = [f"GuardMatrix({director.function}: {self.summary()})"]
        for number, score in enumerate(director.scores):
            asked = self._matrix.asked(number)
            said = f"{'' if asked else 'no variant yet, '}{score}"
            lines.append(f"  call {number + 1:>{digits}}  {score.inputs:<{width}}  {said}")
            rows = [" " * (9 + digits) + self._row(*each) for each in asked]
            more = [" " * (9 + digits) + f"and {len(rows) - ROWS + 1} more"]
            lines += rows if len(rows) <= ROWS else [*rows[: ROWS - 1], *more]
        return "\n".join(lines)

    def _row(self, variant: str, beats: list[Json]) -> str:
        marks = self._matrix.marks(variant, beats)
        failed = beats[-1]
        if failed["ok"]:
            return f"{variant}  {marks}"
        line = f", line {failed['line']}" if "line" in failed else ""
        return f"{variant}  {marks}  {failed['text']}: actual {failed['actual']}{line}"


def asking(compiled: Callable[..., Any], fn: Callable[..., Any], calls: Iterable[Call]) -> Matrix:
    """Make the calls; before each, every variant is asked about it."""
    wholes: list[Whole] = []
    whole = guard_matrix(compiled)

    def asked(*args: Any, **kwargs: Any) -> Any:
        wholes.append(whole(*args, **kwargs))
        return compiled(*args, **kwargs)

    events, errors = record_calls(asked, fn, calls)
    director = direct(events, errors)
    return Matrix(director, events, wholes, code_of(fn))
