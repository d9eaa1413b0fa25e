"""VariantTheater: calls of a compiled function on their way through guards, variants and the
compiler.

In: a function and calls, or a recording.  Out: an anywidget, its SVG, its text.
Invariant: every beat is an event that the compiler emitted while these very calls ran, under each
setting of the switch as well; what a reader changes is run anew by the compiler.
PyTorch says the same in logs (TORCH_LOGS=guards,recompiles) after the fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import traitlets

from labcore import trace as t
from labcore.guards import RECOMPILE_LIMIT

from . import _bundle
from ._recording import LARGEST, Call, given, is_compiled, record_calls, refuse_settings, rehearsal
from ._theater import Director, direct
from ._theater_still import theater_picture
from ._widget import CallsWidget
from ._words import counted

SETTINGS: dict[str, bool | None] = {"static": False, "automatic": None, "dynamic": True}
MOST = 16  # calls of sizes that a reader may ask for


class VariantTheater(CallsWidget):
    """Watch which variant answers which call.

    >>> VariantTheater(block, 4, 4, 8, 4)                 # float32 tensors of so many elements
    >>> VariantTheater(block, (x4, bias4), (x8, bias8))   # calls as tuples of arguments
    >>> VariantTheater(block, 4, without_grad)            # without_grad(f) calls f as it likes
    >>> VariantTheater.watch(block, [4, 4, 8, 4])         # the same, calls in a list
    >>> with trace.record() as r: ...
    >>> VariantTheater(trace=r)                           # what was recorded elsewhere

    A plain function is compiled for these calls alone, three times: with `dynamic=False`, `None`
    and `True`. The trait `dynamic` says which of the three is shown, and is a switch on the screen;
    so the calls are made three times, and what they print is shown for the first one only. The
    trait `recompile_limit` is a slider. Where all calls are sizes, the trait `sizes` can be edited.
    Setting either makes the calls again, if there is a kernel to do it.

    `fn` may be compiled already, and then its own variants answer, and there is nothing to switch.
    A call that raises is shown as such, and the calls after it go on. Raises TypeError for
    arguments that make no sense, ValueError for a size out of range, and traitlets.TraitError where
    a trait is set to one, or to such a limit.

    Where no script runs (GitHub, nbconvert, an untrusted notebook) the cell shows an SVG of the
    last frame, which travels beside the widget in the same output; `.still()` gives that picture
    alone. `repr` has one line a call, and one for each other setting.
    """

    _esm = _bundle.esm("variant_theater")
    _css = _bundle.css("variant_theater")

    dynamic = traitlets.Enum([False, None, True], default_value=False).tag(sync=True)
    recompile_limit = traitlets.Int(RECOMPILE_LIMIT, min=1, max=MOST).tag(sync=True)
    sizes = traitlets.List(traitlets.Int(min=0, max=LARGEST), maxlen=MOST).tag(sync=True)

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *calls: Call,
        dynamic: bool | None = False,
        recompile_limit: int = RECOMPILE_LIMIT,
        trace: t.Recorder | Iterable[t.Event] | None = None,
        language: str = "en",
    ) -> None:
        events = given("VariantTheater", fn, calls, trace)
        plain = fn is not None and not is_compiled(fn)
        refuse_settings("VariantTheater", plain, dynamic, recompile_limit)
        self._fn, self._calls = fn, calls
        self._directors: dict[str, Director] = {}
        if events is not None:
            self._directors["own"] = direct(events)
        elif not plain:
            assert fn is not None
            told = record_calls(fn, fn, calls)
            self._directors["own"] = direct(*told)
        sizes = [call for call in calls if isinstance(call, int)] if plain else []
        sizes = sizes if len(sizes) == len(calls) <= MOST else []
        super().__init__(
            dynamic=dynamic, recompile_limit=recompile_limit, sizes=sizes, language=language
        )
        if plain:
            self._perform(quiet=False)
            self.observe(lambda change: self._perform(quiet=True), ["sizes", "recompile_limit"])
        else:
            self._show()

    def _perform(self, *, quiet: bool) -> None:
        """Make the calls under each setting, the one that is shown first."""
        assert self._fn is not None
        shown, calls = self._setting, self.sizes or self._calls
        for name in sorted(SETTINGS, key=lambda name: name != shown):
            self._directors[name] = perform(
                self._fn,
                calls,
                dynamic=SETTINGS[name],
                limit=self.recompile_limit,
                quiet=quiet or name != shown,
            )
        self._show()

    def _show(self) -> None:
        plain = "own" not in self._directors
        names = list(SETTINGS) if plain else ["own"]
        self.trace = {
            "version": 2,
            "limit": self.recompile_limit if plain else None,
            "sizes": list(self.sizes),
            "plays": {name: self._directors[name].trace for name in names},
        }

    @property
    def _setting(self) -> str:
        if "own" in self._directors:
            return "own"
        return next(name for name, value in SETTINGS.items() if value is self.dynamic)

    @property
    def play(self) -> dict[str, Any]:
        """What is shown now, of the trace's plays: calls, variants and events."""
        return self.trace["plays"][self._setting]

    def counts(self) -> dict[str, int]:
        """calls, hits, misses, recompiles and variants of what is shown now."""
        return self._directors[self._setting].counts()

    def summary(self) -> str:
        """The counters as one sentence: "4 calls, 2 hits, 2 misses, 1 recompile, 2 variants"."""
        return _sentence(self._directors[self._setting])

    def picture(self) -> str:
        return theater_picture(self.play, self.summary())

    def __repr__(self) -> str:
        shown = self._directors[self._setting]
        width = max(len(score.inputs) for score in shown.scores)
        digits = len(str(len(shown.scores)))
        setting = f", dynamic={self.dynamic}" if self._setting != "own" else ""
        lines = [f"VariantTheater({shown.function}{setting}: {self.summary()})"]
        for number, score in enumerate(shown.scores, 1):
            asked = "miss, " if score.miss else ""
            lines.append(f"  call {number:>{digits}}  {score.inputs:<{width}}  {asked}{score}")
            lines.extend(" " * (9 + digits) + reason for reason in _first(score.reasons))
        lines.extend(_behind(variant) for variant in self.play["variants"] if _goes_on(variant))
        for name, value in SETTINGS.items():
            if name in self._directors and name != self._setting:
                lines.append(f"  with dynamic={value}: {_sentence(self._directors[name])}")
        return "\n".join(lines)


def perform(
    fn: Callable[..., Any],
    calls: Sequence[Call],
    *,
    dynamic: bool | None = False,
    limit: int = RECOMPILE_LIMIT,
    quiet: bool = False,
) -> Director:
    """Compile a plain function for these calls alone, make them, and read the recording."""
    with rehearsal(fn, dynamic, limit, quiet=quiet) as compiled:
        return direct(*record_calls(compiled, fn, calls))


def _sentence(director: Director) -> str:
    counts = [counted(number, name) for name, number in director.counts().items()]
    raised = sum(score.result == "raised" for score in director.scores)
    return ", ".join([*counts, *([f"{raised} raised"] if raised else [])])


def _goes_on(variant: dict[str, Any]) -> bool:
    """Does compiled code end in a break, so that further regions follow?"""
    return variant["result"] == "graph" and "stop" in variant


def _behind(variant: dict[str, Any]) -> str:
    stop = variant["stop"]
    line = f"line {stop['line']}, " if "line" in stop else ""
    return f"  {variant['id']} ends at {line}{stop['what']}; the regions behind it are not shown"


def _first(reasons: list[str]) -> list[str]:
    """The reasons of the variants asked first; of a long row, how many more there were."""
    return reasons if len(reasons) <= 3 else [*reasons[:2], f"and {len(reasons) - 2} more"]
