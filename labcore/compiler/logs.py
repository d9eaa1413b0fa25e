"""The text log: `LAB_LOGS=guards,recompiles python program.py`, or `set_logs(guards=True)`.

In: events.  Out: lines on standard error, each artifact under its compile id, as with TORCH_LOGS.
It is one more reader of the trace: what it prints cannot differ from what a widget shows.
"""
from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from ..trace import Event, add_sink, remove_sink
from ..trace.text import check_names, render

_active: tuple[str, ...] = ()


def print_event(event: Event) -> None:
    """The sink: print every active artifact this event belongs to."""
    for name in _active:
        text = render(event, name)
        if text:
            head = f"[{event.compile_id or '-'}] [{name}]"
            lines = (f"{head} {line}".rstrip() for line in text.split("\n"))
            sys.stderr.write("\n".join(lines) + "\n")


def set_logs(**artifacts: bool) -> None:
    """Switch artifacts on; what is not named is off. `set_logs()` ends all logging.

    Raises ValueError for an unknown artifact.
    """
    activate(name for name, on in artifacts.items() if on)


def activate(names: Iterable[str]) -> None:
    global _active
    names = tuple(dict.fromkeys(names))
    check_names(names)
    remove_sink(print_event)
    _active = names
    if names:
        add_sink(print_event)


def activate_from_environment() -> None:
    """Read LAB_LOGS: names with commas between. Raises ValueError, naming the variable, for an
    unknown one.
    """
    names = [name.strip() for name in os.environ.get("LAB_LOGS", "").split(",") if name.strip()]
    try:
        activate(names)
    except ValueError as error:
        raise ValueError(f"LAB_LOGS: {error}") from None
