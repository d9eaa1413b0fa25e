"""How far compiling has come, for whoever waits: a bar, once it has taken more than a second.

In: how many kernels there are, and which one is the next.  Out: in a notebook a bar below the cell,
in a terminal one on standard error; both are gone when all is done.
Invariant: nothing is shown where nobody looks: a notebook that is run by a program (nbconvert,
nbval), output that goes to a file, or `LAB_PROGRESS=0`.
PyTorch shows nothing while it compiles.
"""

from __future__ import annotations

import html
import os
import sys
import time
from typing import Any

PATIENCE = 1.0  # seconds before anything is shown


class Progress:
    """Use as `with Progress(total) as progress: progress.at(0, "what comes first")`."""

    def __init__(self, total: int) -> None:
        self.total, self.begin = total, time.perf_counter()
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
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None)


class _Notebook:
    """A bar of the page's own, which needs no widget and leaves nothing behind."""

    def __init__(self, total: int) -> None:
        from IPython.display import HTML, display

        self.total, self.html = total, HTML
        self.handle: Any = display(HTML(""), display_id=True)

    def show(self, done: int, text: str) -> None:
        bar = f'<progress value="{done}" max="{self.total}" aria-label="compiling"></progress>'
        self.handle.update(self.html(f"{bar} <code>{html.escape(text)}</code>"))

    def close(self) -> None:
        self.handle.update(self.html(""))


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
