"""Who listens: sinks, and the recorder that keeps events.

In: `emit(event)` from any stage.  Out: every sink is called with it, in order, in the emitting
thread.
Invariant: with no sink `listening()` is one attribute read, and nothing is built for nobody.
"""
from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from .events import Event, from_json
from .text import check_names, render

Sink = Callable[[Event], None]
E = TypeVar("E", bound=Event)

_sinks: tuple[Sink, ...] = ()
_in_detail = 0  # how many want each step of the interpreter
_lock = threading.Lock()


class _Compiling(threading.local):
    compile_id = ""


_compiling = _Compiling()


class Attention:
    """`needed`: calls of compiled functions go the long way, step by step; `want` says who wants
    that. Their short way reads this one attribute.
    """

    def __init__(self) -> None:
        self.needed = False
        self._who: set[str] = set()

    def want(self, who: str, wanted: bool) -> None:
        (self._who.add if wanted else self._who.discard)(who)
        self.needed = bool(self._who)


attention = Attention()


def listening() -> bool:
    """Is there anyone to tell?"""
    return bool(_sinks)


def in_detail() -> bool:
    """Does anyone want to be told each step of the interpreter?"""
    return _in_detail > 0


def emit(event: Event) -> None:
    """Hand an event to all sinks, stamped with the variant being compiled in this thread."""
    if not event.compile_id:
        event.compile_id = _compiling.compile_id
    for sink in _sinks:
        sink(event)


def add_sink(sink: Sink) -> None:
    global _sinks
    with _lock:
        _sinks = (*_sinks, sink)
        attention.want("sinks", True)


def remove_sink(sink: Sink) -> None:
    global _sinks
    with _lock:
        _sinks = tuple(s for s in _sinks if s is not sink)
        attention.want("sinks", bool(_sinks))


def current_compile_id() -> str:
    """The variant this thread is compiling, or ""."""
    return _compiling.compile_id


@contextmanager
def compiling(compile_id: str) -> Iterator[None]:
    """Events emitted inside belong to this variant."""
    before, _compiling.compile_id = _compiling.compile_id, compile_id
    try:
        yield
    finally:
        _compiling.compile_id = before


class Recorder:
    """Keeps events in order. `of(Kernel)` selects by type, `save` and `load` keep a trace as JSON
    lines.
    """

    def __init__(self, events: list[Event] | None = None) -> None:
        self.events: list[Event] = events if events is not None else []

    def __call__(self, event: Event) -> None:
        self.events.append(event)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def __repr__(self) -> str:
        kinds = Counter(event.kind for event in self.events)
        told = ", ".join(f"{kind} {count}" for kind, count in kinds.items())
        return f"Recorder({told or 'no event yet'})"

    def of(self, cls: type[E]) -> list[E]:
        return [e for e in self.events if isinstance(e, cls)]

    def text(self, artifact: str) -> str:
        """An artifact as the log would print it: "graph_code", "guards", "aot_graphs" ... (see
        `text.py`).
        """
        check_names([artifact])
        found = [text for event in self.events if (text := render(event, artifact))]
        joint = "\n" if artifact in ("passes", "fusion", "forms", "cache", "stages") else "\n\n"
        return joint.join(found)

    def save(self, path: str | Path) -> None:
        Path(path).write_text("".join(json.dumps(e.to_json()) + "\n" for e in self.events))

    @classmethod
    def load(cls, path: str | Path) -> Recorder:
        lines = Path(path).read_text().splitlines()
        return cls([from_json(json.loads(line)) for line in lines if line.strip()])


@contextmanager
def record(steps: bool = False) -> Iterator[Recorder]:
    """Record everything the compiler does inside the block; with `steps` also each instruction that
    capture interprets, which is much.

    >>> with record() as trace:
    ...     compiled(x)
    >>> trace.of(GraphCaptured)
    """
    recorder = Recorder()
    add_sink(recorder)
    _want_detail(steps)
    try:
        yield recorder
    finally:
        _want_detail(-steps)
        remove_sink(recorder)


def _want_detail(more: int) -> None:
    global _in_detail
    with _lock:
        _in_detail += more
