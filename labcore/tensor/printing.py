"""A tensor as text: `tensor([1.0000, 2.5000], grad_fn=<MulBackward0>)`.

In: a tensor.  Out: PyTorch's text for it, character by character.
Invariant: one width and one notation serve all elements; beyond `threshold` elements only the edges
are looked at.
PyTorch has more notations: complex numbers, sparse and quantized layouts, named dimensions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from labcore import dtypes

from .conversions import plain
from .cuda import is_on_card, to_host

if TYPE_CHECKING:
    from .tensor import Tensor


class _Options:
    precision = 4
    threshold = 1000
    edgeitems = 3
    linewidth = 80
    sci_mode: bool | None = None


options = _Options()


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """How tensors are printed; `profile` is "default", "short" or "full"."""
    profiles = {
        "default": (4, 1000, 3, 80),
        "short": (2, 1000, 2, 80),
        "full": (4, math.inf, 3, 80),
    }
    names = ("precision", "threshold", "edgeitems", "linewidth")
    if profile is not None:
        for name, value in zip(names, profiles[profile]):
            setattr(options, name, value)
    for name, given in zip(names, (precision, threshold, edgeitems, linewidth)):
        if given is not None:
            setattr(options, name, given)
    options.sci_mode = sci_mode


class _Notation:
    """How an element is written: plain (`2.5000`), whole (`2.`), with exponent (`2.5000e+06`)."""

    def __init__(self, values: np.ndarray) -> None:
        self.floating = values.dtype.kind == "f"
        self.whole, self.exponent, self.width = True, False, 1
        if not self.floating:
            self.width = max((len(str(v)) for v in values.tolist()), default=1)
            return
        shown = values[np.isfinite(values) & (values != 0)]
        if shown.size:
            self._choose(shown)

    def _choose(self, shown: np.ndarray) -> None:
        sizes = np.abs(shown).astype(np.float64)
        least, most = float(sizes.min()), float(sizes.max())
        self.whole = bool((shown == np.ceil(shown)).all())
        wide = most / least > 1000.0 or most > 1.0e8 or (not self.whole and least < 1.0e-4)
        self.exponent = wide if options.sci_mode is None else options.sci_mode
        point = self.whole and not self.exponent  # "2." is one character longer than "2"
        self.width = max(1, *(len(self._number(v)) for v in shown.tolist())) + point

    def _number(self, value: float) -> str:
        if self.exponent:
            return f"{value:.{options.precision}e}"
        return f"{value:.0f}" if self.whole else f"{value:.{options.precision}f}"

    def text(self, value: Any) -> str:
        if not self.floating:
            return str(value).rjust(self.width)
        text = self._number(value)
        if self.whole and not self.exponent and math.isfinite(value):
            text += "."
        return text.rjust(self.width)


def tensor_text(tensor: Tensor) -> str:
    """The repr of a tensor."""
    array = plain(to_host(tensor.array))
    notes = [] if not is_on_card(tensor.array) else [f"device='{tensor.device}'"]
    default = dtypes.default
    if not array.size:
        body = "[]"
        if array.ndim != 1:
            notes.append(f"size={tuple(tensor.shape)}")
        if tensor.dtype is not default:
            notes.append(f"dtype={tensor.dtype!r}")
    else:
        if tensor.dtype not in (default, dtypes.int64, dtypes.bool):
            notes.append(f"dtype={tensor.dtype!r}")
        body = _array_text(array, len("tensor("))
    if tensor.grad_fn is not None:
        notes.append(f"grad_fn=<{tensor.grad_fn.name().rsplit('::', 1)[-1]}>")
    elif tensor._layout.requires_grad:
        notes.append("requires_grad=True")
    return _with_notes("tensor(" + body, notes, len("tensor("))


def _array_text(array: np.ndarray, indent: int) -> str:
    summarize = array.size > options.threshold
    seen = _edges(array) if summarize else array
    return _nested(array, indent, summarize, _Notation(seen.reshape(-1)))


def _edges(array: np.ndarray) -> np.ndarray:
    """Only the elements that are shown."""
    edge = options.edgeitems
    for axis, size in enumerate(array.shape):
        if size > 2 * edge:
            array = array.take([*range(edge), *range(size - edge, size)], axis)
    return array


def _nested(array: np.ndarray, indent: int, summarize: bool, notation: _Notation) -> str:
    if array.ndim == 0:
        return notation.text(array.item())
    edge, size = options.edgeitems, array.shape[0]
    cut = summarize and size > 2 * edge
    shown = [*range(edge), *range(size - edge, size)] if cut else range(size)
    if array.ndim == 1:
        texts = [notation.text(array[i].item()) for i in shown]
        if cut:
            texts.insert(edge, " ...")
        return _lines(texts, indent, notation.width + 2)
    texts = [_nested(array[i], indent + 1, summarize, notation) for i in shown]
    if cut:
        texts.insert(edge, "...")
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(texts) + "]"


def _lines(texts: list[str], indent: int, width: int) -> str:
    """A row of elements, broken where the line ends."""
    count = max(1, (options.linewidth - indent) // width)
    rows = [", ".join(texts[i : i + count]) for i in range(0, len(texts), count)]
    return "[" + (",\n" + " " * (indent + 1)).join(rows) + "]"


def _with_notes(text: str, notes: list[str], indent: int) -> str:
    """The closing notes, each on the last line where there is room, else on one of its own."""
    used = len(text) - text.rfind("\n") + 1
    for note in notes:
        if used + len(note) + 2 > options.linewidth:
            text += ",\n" + " " * indent + note
            used = indent + len(note)
        else:
            text += ", " + note
            used += len(note) + 2
    return text + ")"
