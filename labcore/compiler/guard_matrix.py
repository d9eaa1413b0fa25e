"""`guard_matrix(fn)(*args)`: what every variant's guards say of a call, without making it.

In: a compiled function and arguments.  Out: a `GuardMatrix`, a row a variant in the order of
asking, a cell a guard.
Invariant: the cells are the `GuardCheck` events that a watched call emits, from the same check;
nothing runs, nothing is compiled, and no variant moves to the front.
PyTorch tells the failed guards of a call that did recompile (TORCH_LOGS=recompiles), and no others.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import MethodType
from typing import Any

from ..capture.binding import parameter_names
from ..guards import Variant
from ..guards.replay import replay
from ..trace import GuardCheck, GuardRecord
from .showing import show_call


@dataclass(frozen=True)
class VariantRow:
    """One variant: its guards in the order of the check, and the answers up to the first that
    fails. What comes after that one is not asked, as it may not be there to be looked at."""

    variant: str
    result: str
    guards: list[GuardRecord]
    checks: list[GuardCheck]

    @property
    def failed(self) -> GuardCheck | None:
        """The guard that ends it, or None: all hold."""
        return next((check for check in self.checks if not check.ok), None)

    @property
    def fits(self) -> bool:
        return self.failed is None

    def __str__(self) -> str:
        answers = "".join("✓" if check.ok else "✕" for check in self.checks)
        unasked = "·" * (len(self.guards) - len(self.checks))
        said = _fits(self) if self.failed is None else _why(self.failed)
        return f"[{self.variant}] {answers}{unasked}  {said}"


@dataclass(frozen=True)
class GuardMatrix:
    """`inputs` has one text an argument; `rows` are in the order in which a call asks them."""

    function: str
    inputs: list[str]
    rows: list[VariantRow]

    @property
    def answer(self) -> str:
        """The variant that would answer this call, or "": it would be compiled, or run eagerly."""
        return next((row.variant for row in self.rows if row.fits), "")

    def __str__(self) -> str:
        count = f"{len(self.rows)} variant{'' if len(self.rows) == 1 else 's'}"
        said = f"[{self.answer}] answers" if self.answer else "none fits"
        head = f"{self.function}({', '.join(self.inputs)}): {count}, {said}"
        return "\n".join([head, *(f"  {row}" for row in self.rows)])


def guard_matrix(fn: Callable[..., Any]) -> Callable[..., GuardMatrix]:
    """Ask all variants of a compiled function about a call, without making it.

    >>> print(guard_matrix(compiled)(torch.ones(8), torch.ones(8)))
    block(float32[8], float32[8]): 1 variant, none fits
      [0/0] ✓✓✕······  x.size() == (4,): expected (4,), actual (8,); line 3: x + bias

    Only variants that begin with the call are asked, not those of regions behind a graph break.
    Raises TypeError for a function that is not compiled, and for arguments it cannot be called
    with.
    """
    from .compile import CompiledObject, state_of

    try:
        state = state_of(fn)
    except (AttributeError, KeyError, TypeError):
        name = getattr(fn, "__qualname__", type(fn).__name__)
        raise TypeError(
            f"guard_matrix() expects what compile() gave: {name} has no variants. "
            "Write guard_matrix(compile(f)), and call that before"
        ) from None
    bound: tuple[Any, ...] = ()
    if isinstance(fn, MethodType):
        bound = (fn.__self__,)
    elif isinstance(fn, CompiledObject):
        bound = (object.__getattribute__(fn, "_orig_mod"),)

    def asked(*args: Any, **kwargs: Any) -> GuardMatrix:
        function = state.function
        signature = inspect.signature(function, follow_wrapped=False)
        given = signature.bind(*bound, *args, **kwargs)
        given.apply_defaults()
        slots = tuple(given.arguments[name] for name in parameter_names(function.__code__))
        known = function.__code__ is state.code  # otherwise the next call begins afresh
        rows = [
            VariantRow(
                variant.compile_id,
                variant.result,
                [guard.record() for guard in variant.guards],
                list(checks(variant, slots, -1)),
            )
            for variant in (state.cache.variants if known else ())
        ]
        shown = show_call(function, slots)
        return GuardMatrix(shown.function, shown.inputs, rows)

    return asked


def checks(variant: Variant, slots: tuple[Any, ...], call: int) -> Iterator[GuardCheck]:
    """The answers of a variant's guards as events, up to the first that fails."""
    for answer in replay(variant, slots):
        guard, mismatch = answer.guard, answer.mismatch
        event = GuardCheck(
            call,
            answer.index,
            mismatch is None,
            guard.words if guard else "a value to load",
            origin=guard.origin if guard else None,
            compile_id=variant.compile_id,
        )
        if mismatch is not None:
            event.expected, event.actual = mismatch.expected, mismatch.actual
            event.reason = mismatch.reason
        elif guard is not None:
            event.expected = event.actual = guard.expected
        yield event


def _fits(row: VariantRow) -> str:
    return "fits" if row.result == "graph" else "fits: runs eagerly"


def _why(failed: GuardCheck) -> str:
    place = failed.origin
    line = f"; line {place.line}: {place.code}" if place is not None else ""
    return f"{failed.text}: expected {failed.expected}, actual {failed.actual}{line}"
