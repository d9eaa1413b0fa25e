"""One captured program with its check: a function whose source one can read, step into and show.

In: the printed text and the objects it names.  Out: `run(*slots)`, which gives what the function
returned, or how else it ended:

    MISS                an `End`: a guard failed, and nothing happened
    EAGER               an `End`: nothing could be captured, CPython is to run the whole call, or
                        the frame
    End(stop, frames)   the frames stand at an instruction which is CPython's to run; only the stop,
                        when the frames are those that the variant was given

Invariant: with its guards true, `run` gives what the user's function would give.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..graph import define
from .builder import Load
from .guard import Guard


class Mark:
    """A value that is nobody else's."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


class End:
    """How a run ended that returned nothing. No user has such a value, so that its type tells it
    from all that a function may return."""

    __slots__ = ("frames", "how")

    def __init__(self, how: Any, frames: Any = None) -> None:
        self.how, self.frames = how, frames

    def __repr__(self) -> str:
        return str(self.how)


MISS, EAGER = End("MISS"), End("EAGER")


@dataclass(eq=False)
class Variant:
    """`steps` are the loads and guards of `source` in order, for `replay.py`; `result` is "graph"
    or "eager"."""

    compile_id: str
    title: str
    source: str
    scope: dict[str, Any]
    parameters: tuple[str, ...]
    steps: list[Load | Guard]
    result: str
    place: Any = None  # where capture stopped, or the call raises, for an eager one
    stops: bool = False  # it ends at an instruction that is CPython's
    raises: bool = False  # CPython runs what it stands for, and raises
    expected: Exception | None = None  # and this until somebody has seen that it does
    run: Callable[..., Any] = field(init=False)
    is_eager: bool = field(init=False)

    def __post_init__(self) -> None:
        self.is_eager = self.result == "eager"
        define(self.source, f"<{self.title}>", self.scope, self)
        self.run = self.scope["variant"]

    @property
    def guards(self) -> list[Guard]:
        return [step for step in self.steps if isinstance(step, Guard)]

    def __str__(self) -> str:
        return self.source
