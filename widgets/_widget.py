"""What the widgets share: an anywidget whose text is deterministic and which carries a still
picture.

In: `_esm` and `_css` of the subclass, a `trace`.  Out: three forms of the same state, from rich to
plain:

    the live widget      where scripts run (JupyterLab, VS Code, a page with stored state)
    an SVG of the end    where they do not: GitHub's viewer, an untrusted notebook, nbconvert to PDF
    text                 what `repr` gives, and what nbval compares

Invariant: nothing in any of them depends on the machine, the time, or an address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Self

import anywidget
import traitlets


class Still:
    """A picture without scripts: `widget.still()` as the last line of a cell shows only this."""

    def __init__(self, svg: str, text: str) -> None:
        self.svg, self.text = svg, text

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return self.text


class LabWidget(anywidget.AnyWidget):
    """`trace` is shown, `beat` is where the playhead stands, `language` is "en" or "zh"."""

    trace = traitlets.Dict().tag(sync=True)
    beat = traitlets.Float(0.0).tag(sync=True)
    language = traitlets.Enum(["en", "zh"], default_value="en").tag(sync=True)

    def picture(self) -> str:
        """The final frame as SVG."""
        raise NotImplementedError

    def still(self) -> Still:
        """The final frame alone, for a page that should not be interactive."""
        return Still(self.picture(), repr(self))

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The widget's own forms, with its still picture beside them."""
        bundle = super()._repr_mimebundle_(**options)
        assert bundle is not None  # anywidget gives none only to a widget without a view
        data, metadata = bundle
        return {**data, "image/svg+xml": self.picture()}, metadata


class CallsWidget(LabWidget):
    """A widget of calls: `Kind(fn, *calls)`."""

    @classmethod
    def watch(cls, fn: Callable[..., Any], calls: Iterable[Any], **settings: Any) -> Self:
        """`Kind(fn, *calls, **settings)`, for calls that are in a list already."""
        return cls(fn, *calls, **settings)
