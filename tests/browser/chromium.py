"""The chromium that the machine has; none is ever downloaded.

Run as a module it prints the path, or fails.
"""
from __future__ import annotations

import os
import shutil
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
PLACES = (
    "/usr/bin/chromium",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
ARGUMENTS = (
    "--no-sandbox",  # as root there is none to have
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
)


def find() -> str | None:
    """LAB_CHROMIUM if set, else the first one known by place or by name."""
    chosen = os.environ.get("LAB_CHROMIUM")
    if chosen:
        if shutil.which(chosen) is None:
            raise FileNotFoundError(f"LAB_CHROMIUM={chosen}: no such program")
        return chosen
    return next(filter(None, map(shutil.which, PLACES + NAMES)), None)


if __name__ == "__main__":
    sys.exit(None if (print(path := find()) or path) else 1)
