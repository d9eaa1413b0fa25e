"""How far compiling has come, for whoever waits: a bar, once it has taken more than a second.
Compiles that follow one another are one wait: a step of training has many, and none is long.

In: how many kernels there are, and which one is the next.  Out: in a notebook a bar below the cell,
in a terminal one on standard error; both are gone when all is done.
Invariant: nothing is shown where nobody looks: a notebook that is run by a program (nbconvert,
nbval), output that goes to a file, or `LAB_PROGRESS=0`.
PyTorch shows nothing while it compiles.
"""

from __future__ import annotations

import html
import math
import os
import sys
import time
from typing import Any

PATIENCE = 1.0  # seconds before anything is shown
PAUSE = 1.0  # seconds without compiling that end a wait


class _Wait:
    """When the present one began, and when its last compile was done."""

    since = until = -math.inf

    def begin(self, now: float) -> float:
        if now - self.until > PAUSE:
            self.since = now
        return self.since


_wait = _Wait()


class Progress:
    """Use as `with Progress(total) as progress: progress.at(0, "what comes first")`."""

    def __init__(self, total: int) -> None:
        self.total, self.begin = total, _wait.begin(time.perf_counter())
        self.bar: _Notebook | _Terminal | None = None

    def __enter__(self) -> Progress:
        return self

    def at(self, done: int, name: str) -> None:
        """So many kernels are done, this one is next."""
        if self.bar is None and time.perf_counter() - self.begin > PATIENCE:
            kind = where()
            self.bar = kind(self.total) if kind else None
        if self.bar is not None:
            self.bar.show(done, f"compiling kernel {done + 1} of {self.total}: {name}")

    def __exit__(self, *error: Any) -> None:
        _wait.until = time.perf_counter()
        if self.bar is not None:
            self.bar.close()


def where() -> type[_Notebook] | type[_Terminal] | None:
    """Who looks at what this thread shows: a reader of a notebook, one at a terminal, or nobody."""
    if os.environ.get("LAB_PROGRESS") == "0":
        return None
    kernel = _jupyter_kernel()
    if kernel is not None:
        # A front end with a person before it can be asked for input; programs say that they cannot.
        return _Notebook if getattr(kernel, "_allow_stdin", False) else None
    return _Terminal if sys.stderr is not None and sys.stderr.isatty() else None


def _jupyter_kernel() -> Any:
    """The kernel that runs this process; None when it is no notebook's."""
    return getattr(_shell(), "kernel", None)


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


class _Notebook:
    """A bar of the page's own, which needs no widget and leaves nothing behind: one for all that a
    cell compiles. Between two compiles it says how many kernels there are by then."""

    _here: _Notebook | None = None  # the one of the cell that runs

    def __new__(cls, total: int) -> _Notebook:
        shell = _shell()
        cell = getattr(shell, "execution_count", None)
        found = cls._here
        if found is None or cell is None or found.cell != cell:
            found = cls._here = super().__new__(cls)
            found._begin(shell, cell)
        return found

    def __init__(self, total: int) -> None:
        self.total = total

    def _begin(self, shell: Any, cell: int | None) -> None:
        from IPython.display import HTML, display

        self.cell, self.html, self.done = cell, HTML, 0
        self.events: Any = getattr(shell, "events", None)
        self.handle: Any = display(HTML(""), display_id=True)
        if self.events is not None:
            self.events.register("post_run_cell", self._end)

    def show(self, done: int, text: str) -> None:
        bar = f'<progress value="{done}" max="{self.total}" aria-label="compiling"></progress>'
        self._tell(f"{bar} <code>{html.escape(text)}</code>")

    def close(self) -> None:
        self.done += self.total
        kernels = "1 kernel" if self.done == 1 else f"{self.done} kernels"
        self._tell(f"<code>compiled {kernels}</code>" if self.events is not None else "")

    def _end(self, *result: Any) -> None:
        self.events.unregister("post_run_cell", self._end)
        _Notebook._here = None
        self._tell("")

    def _tell(self, page: str) -> None:
        self.handle.update(self.html(page))


class _Terminal:
    def __init__(self, total: int) -> None:
        from tqdm import tqdm

        shape = "{desc} {bar:20} {elapsed}"
        self.bar = tqdm(total=total, leave=False, file=sys.stderr, bar_format=shape)

    def show(self, done: int, text: str) -> None:
        self.bar.set_description_str(text, refresh=False)
        self.bar.n = done
        self.bar.refresh()

    def close(self) -> None:
        self.bar.close()
