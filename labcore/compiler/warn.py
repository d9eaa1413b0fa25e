"""Warnings at the user's line: the one that called the compiled function.

In: a text.  Out: a RuntimeWarning whose place is the innermost frame that is none of the lab's.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

OURS = str(Path(__file__).resolve().parents[1])


def warn(text: str) -> None:
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and _is_ours(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, RuntimeWarning, stacklevel=level)


def _is_ours(file: str) -> bool:
    """The lab's own modules, and the dispatchers it prints."""
    return file.startswith((OURS, "<compiled "))
