"""Room for compiled programs: which entries of the disk cache go when all together are too large.

In: the cache's folder, and what is about to be stored.  Out: the keys of the entries that went.
To look at every entry takes longer than to compile a small kernel, once there are thousands. So
whoever stores notes it in `<folder>/.stored`, a line of bytes an entry; entries are looked at only
when the lines add up to more than the limit. Then those that were not used for longest go, until a
sixteenth of the limit is free, and the file begins anew with what the others take.
Invariant: the lines say at least what the entries take. An entry that was replaced counts twice,
and so does what a killed process left half written, until the next look; a file that is missing or
damaged counts as full.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from .folder import Unsafe, read_private

MANIFEST = "manifest.json"  # an entry's last used time is that of this file
STORED = ".stored"
MEGABYTE = 1 << 20
STALE = 3600  # seconds after which a half-written entry is nobody's


def limit() -> int:
    """Bytes that all entries may take together. Raises ValueError for a variable that is no number.
    """
    text = os.environ.get("LAB_CACHE_LIMIT", "256")
    try:
        return int(float(text) * MEGABYTE)
    except ValueError:
        raise ValueError(
            f"LAB_CACHE_LIMIT={text!r} is not a number of megabytes, as 256 is"
        ) from None


def entries(where: Path) -> list[Path]:
    return [p for p in where.iterdir() if (p / MANIFEST).is_file()]


def note(where: Path, size: int) -> None:
    """An entry of so many bytes is about to be written."""
    with suppress(OSError):  # the file is missing, or a link: all entries will be looked at
        _write(where, size, os.O_APPEND)


def make_room(where: Path, newest: str) -> tuple[str, ...]:
    """Remove entries, the least recently used first, if all are noted to take more than they may;
    never the newest.

    Several processes may do so at once: each removes in one step, and finds gone what another has
    removed.  What a process left half written when it was killed goes as well.
    """
    allowed = limit()
    if _noted(where) <= allowed:
        return ()
    _remove_stale(where)
    used: list[tuple[float, int, Path]] = []
    for entry in entries(where):
        with suppress(OSError):  # gone in the meantime
            size = sum(f.stat().st_size for f in entry.iterdir())
            used.append(((entry / MANIFEST).stat().st_mtime, size, entry))
    total = sum(size for _, size, _ in used)
    goal = allowed - allowed // 16
    gone: list[str] = []
    if total > allowed:
        for _, size, entry in sorted(used):
            if total > goal and entry.name != newest:
                remove(entry)
                total -= size
                gone.append(entry.name)
    _write(where, total, os.O_CREAT | os.O_TRUNC)
    return tuple(gone)


def remove(entry: Path) -> None:
    """Take an entry away in one step, then delete it."""
    with suppress(OSError):
        grave = Path(tempfile.mkdtemp(prefix=".old-", dir=entry.parent))
        with suppress(OSError):
            os.rename(entry, grave / entry.name)
        shutil.rmtree(grave, ignore_errors=True)


def clear(where: Path) -> int:
    """Remove all entries; how many there were."""
    found = entries(where)
    for entry in found:
        remove(entry)
    (where / STORED).unlink(missing_ok=True)
    return len(found)


def _noted(where: Path) -> float:
    try:
        return sum(map(int, read_private(where / STORED).split()))
    except (OSError, Unsafe, ValueError):
        with suppress(OSError):
            (where / STORED).unlink()
        return float("inf")


def _write(where: Path, size: int, how: int) -> None:
    flags = os.O_WRONLY | how | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(where / STORED, flags, 0o600)
    try:
        os.write(descriptor, b"%d\n" % size)  # one call: lines of two processes do not mix
    finally:
        os.close(descriptor)


def _remove_stale(where: Path) -> None:
    now = time.time()
    for path in where.glob(".*"):
        with suppress(OSError):
            if path.is_dir() and now - path.stat().st_mtime > STALE:
                shutil.rmtree(path, ignore_errors=True)
