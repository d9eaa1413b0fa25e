"""A folder that only we can write to, and files that only we have written.

In: `$LAB_CACHE_DIR`, or ~/.cache/fusion-lab.  Out: a folder whose owner and mode are right, or a
fresh private one and the reason.
Invariant: machine code is loaded from a file only when the file and its folders belong to this user
and nobody else can write there; what others can write could be made to run as us.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path


class Unsafe(Exception):
    """A file or folder that somebody else owns or could have written."""


@dataclass(frozen=True)
class Folder:
    """Where entries are kept. `reason`: why it is a private one that goes with the process."""

    path: Path
    reason: str = ""


def enabled() -> bool:
    """LAB_CACHE=0 turns reading and writing off."""
    return os.environ.get("LAB_CACHE", "1") != "0"


def folder() -> Folder:
    """The cache folder, made if it is missing."""
    wanted = os.environ.get("LAB_CACHE_DIR") or "~/.cache/fusion-lab"
    path = Path(wanted).expanduser().absolute()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_folder(path)
    except (OSError, Unsafe) as error:
        return Folder(_private_folder(path), f"not using {path}: {error}")
    return Folder(path)


@cache
def _private_folder(instead_of: Path) -> Path:
    """A new folder for this process alone (mkdtemp makes it 0700), removed at its end."""
    path = Path(tempfile.mkdtemp(prefix="fusion-lab-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def check_folder(path: Path) -> None:
    """Raise Unsafe unless the folder is ours and closed to everybody else."""
    found = os.stat(path)
    if not stat.S_ISDIR(found.st_mode):
        raise Unsafe("it is not a folder")
    _check_owner(found)
    if found.st_mode & 0o077:
        mode = stat.S_IMODE(found.st_mode)
        raise Unsafe(
            f"others may open it (mode {mode:04o}); `chmod 700` it if what is in there is yours"
        )


def read_private(path: Path) -> bytes:
    """The bytes of a file that is ours alone to write. Raises Unsafe, or OSError when there is
    none.

    The file that was checked is the one that is read: both through one descriptor, and links are
    not followed.
    """
    careful = getattr(os, "O_NOFOLLOW", 0) | getattr(
        os, "O_NONBLOCK", 0
    )  # not even a pipe can hold us
    descriptor = os.open(path, os.O_RDONLY | careful)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise Unsafe(f"{path.name} is not a plain file")
        _check_owner(found)
        if found.st_mode & 0o022:
            mode = stat.S_IMODE(found.st_mode)
            raise Unsafe(f"others may write {path.name} (mode {mode:04o})")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def write_private(path: Path, data: bytes) -> None:
    """Write a new file that nobody else can open."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _check_owner(found: os.stat_result) -> None:
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        raise Unsafe(f"it belongs to user {found.st_uid}, not to us ({os.geteuid()})")
