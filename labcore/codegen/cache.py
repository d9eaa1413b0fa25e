"""Compiled programs on disk: one folder an entry, never trusted, never pickled.

In: the text of a program, and its object file.  Out: the object file again, in another process, or
the reason there is none.

    <folder>/<text>-<machine>/output_code.py    the program; what a debugger steps into
                              kernels.o         its kernels' machine code
                              manifest.json     what it was made by and for, and checksums of both
    <folder>/.stored                            how much was stored (room.py)

Invariants: an entry appears whole or not at all (it is written beside, then renamed).  Before
anything is loaded the owner and mode of the folder and of every file are checked, then versions,
processor and checksums: what does not fit is a miss with its reason, never an error and never run.
The key covers the text (comments apart), the versions of all that makes machine code, and the
processor.  All entries together stay within `$LAB_CACHE_LIMIT` megabytes (256 unless said): what
was not used for longest goes first. Programs that are in use stay so, their code is in memory.
Inductor's cache lies in /tmp/torchinductor_<user> and unpickles what it finds there.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache as once
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..runtime.loader import host
from . import room
from .folder import Folder, Unsafe, check_folder, enabled, folder, read_private, write_private
from .jit import ObjectFile
from .room import MANIFEST, limit

SOURCE, OBJECT = "output_code.py", "kernels.o"

_lock = threading.Lock()
_clearings = 0
_counts = {"hit": 0, "miss": 0, "evicted": 0, "form found": 0, "form measured": 0}
FORM = "form-"  # before the key of an entry that holds no program but a kernel's measured form


@dataclass(frozen=True)
class CacheInfo:
    """`reason` says why the folder that was asked for is not used. hits, misses, evicted: this
    process's. bytes, limit: of all entries together. `forms` of kernels that were measured are
    kept, too (`cuda/choices.py`); this process found and measured so many."""

    folder: Path
    enabled: bool
    reason: str
    entries: int
    bytes: int
    hits: int
    misses: int
    evicted: int
    limit: int
    forms: int = 0
    forms_found: int = 0
    forms_measured: int = 0

    def __str__(self) -> str:
        state = (
            f"{self.entries} programs, {self.bytes / 1024:.0f} KiB of {self.limit / 1024:.0f}"
            if self.enabled
            else "off (LAB_CACHE=0)"
        )
        counts = f"{self.hits} hits, {self.misses} misses, {self.evicted} evicted"
        if self.forms or self.forms_found or self.forms_measured:
            counts += (f"; {self.forms} measured forms of kernels: {self.forms_found} found, "
                       f"{self.forms_measured} measured")
        return f"{self.folder}: {state}; {counts}" + (f"\n{self.reason}" if self.reason else "")


class Miss(Exception):
    """Why an entry cannot be used."""


# ---- keys ----------------------------------------------------------------------------------------


def canonical(source: str) -> str:
    """A text without comments and empty lines: code that moved by a line computes the same."""
    lines = (
        line.split("  # ")[0].rstrip() for line in source.splitlines() if not line.startswith("# ")
    )
    return "\n".join(line for line in lines if line)


Makers = Mapping[str, str]  # everything besides the text that machine code depends on


def key_of(source: str, by: Makers | None = None) -> str:
    """The name of a program's entry: what it says, and what it is for (`by`; this processor)."""
    made = json.dumps(by or made_by())
    return f"{_digest(canonical(source).encode())[:24]}-{_digest(made.encode())[:8]}"


def path_of(key: str) -> Path:
    """The file of the program with this key."""
    return folder().path / key / SOURCE


def made_by() -> dict[str, str]:
    """What makes code for this processor, and what it is for."""
    name, features = host()
    return {**_versions(), "cpu": name, "features": features}


@once
def _versions() -> dict[str, str]:
    return {
        "lab": digest_of(ROOMS),
        "python": sys.implementation.cache_tag or "",
        "object header": str(object.__basicsize__),
        "platform": sys.platform,
        **{name: installed(name) for name in ("numba", "llvmlite")},
    }


def installed(name: str) -> str:
    """The version of a package, by the folder beside it, without importing it. `importlib.metadata`
    would tell as well, but takes a tenth of what a whole program from disk does."""
    found = find_spec(name)
    if found is not None and found.origin is not None:
        for info in Path(found.origin).parents[1].glob(f"{name}-*.dist-info"):
            return info.name.removesuffix(".dist-info").partition("-")[2]
    from importlib import metadata

    return metadata.version(name)


ROOMS = (Path(__file__).parent, Path(__file__).parent.parent / "runtime")


def digest_of(rooms: Sequence[Path]) -> str:
    """This very code: a change of how kernels are compiled must not meet older machine code."""
    files = sorted(f for room in rooms for f in room.glob("*.py"))
    return _digest(b"\0".join(f.name.encode() + f.read_bytes() for f in files))[:16]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# ---- looking up ----------------------------------------------------------------------------------


def lookup(source: str, kernels: list[str], by: Makers | None = None) -> ObjectFile:
    """The machine code kept for a program. Raises Miss with the reason; counts either way."""
    by = by or made_by()
    key = key_of(source, by)
    try:
        found = _read(folder(), key, canonical(source), kernels, by)
    except Miss:
        count("miss")
        raise
    count("hit")
    with suppress(OSError):  # it was used now
        os.utime(path_of(key).parent / MANIFEST)
    return found


def _read(where: Folder, key: str, text: str, kernels: list[str], by: Makers) -> ObjectFile:
    entry = where.path / key
    if not entry.is_dir():
        raise Miss(_absent(where, key, by))
    try:
        check_folder(entry)
        manifest = _parsed(read_private(entry / MANIFEST))
        kept, code = read_private(entry / SOURCE), read_private(entry / OBJECT)
    except FileNotFoundError as error:
        raise Miss(f"damaged: {Path(error.filename).name} is missing") from None
    except Unsafe as error:
        raise Miss(f"not trusted: {error}") from None
    except OSError as error:
        raise Miss(f"cannot be read: {error}") from None
    if manifest["made_by"] != by:
        raise Miss(f"other version: {_difference(manifest['made_by'], by)}")
    if _digest(code) != manifest["object"]:
        raise Miss(f"damaged: {OBJECT} is not what was written")
    if canonical(kept.decode(errors="replace")) != text:
        raise Miss(f"damaged: {SOURCE} is not this program")
    if manifest["kernels"] != kernels:
        raise Miss("foreign: it has other kernels")
    return ObjectFile(code, kernels, manifest["externals"])


def _parsed(data: bytes) -> dict[str, Any]:
    """The manifest, its fields present and of the right types. Raises Miss."""
    fields: dict[str, type] = {
        "made_by": dict,
        "object": str,
        "source": str,
        "kernels": list,
        "externals": list,
    }
    try:
        manifest = json.loads(data)
        good = all(type(manifest[name]) is kind for name, kind in fields.items())
        good = good and all(
            type(name) is str for name in manifest["kernels"] + manifest["externals"]
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        good = False
    if not good:
        raise Miss(f"damaged: {MANIFEST} cannot be read")
    return manifest


def _absent(where: Folder, key: str, by: Makers) -> str:
    """Nothing under this key; perhaps the same program was compiled for something else."""
    if where.reason:
        return f"absent; {where.reason}"
    for other in where.path.glob(f"{key.split('-')[0]}-*"):
        with suppress(Miss, Unsafe, OSError):
            kept = _parsed(read_private(other / MANIFEST))["made_by"]
            return f"other version: {_difference(kept, by)}"
    return "absent"


def _difference(kept: dict[str, Any], by: Makers) -> str:
    """In which respect an entry is for something else."""
    for name, value in by.items():
        if kept.get(name) != value:
            return (
                f"kept for another {name}"
                if name in ("features", "lab")
                else f"kept for {name} {kept.get(name)}, this is {value}"
            )
    return "kept for something else"


# ---- keeping -------------------------------------------------------------------------------------


def store(source: str, code: ObjectFile, by: Makers | None = None) -> tuple[str, ...]:
    """Keep a program and its code; returns the keys of what made room for it. Raises OSError when
    it cannot be written."""
    by = by or made_by()
    manifest = {
        "made_by": by,
        "kernels": code.kernels,
        "externals": code.externals,
        "object": _digest(code.data),
        "source": _digest(canonical(source).encode()),
    }
    return put(key_of(source, by), {
        SOURCE: source.encode(),
        OBJECT: code.data,
        MANIFEST: json.dumps(manifest, indent=1).encode(),
    })


def put(key: str, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Keep files as one entry, which appears whole or not at all; returns the keys of what made
    room for it. Raises OSError when it cannot be written."""
    where = folder()
    entry = where.path / key
    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=where.path))
    try:
        room.note(where.path, sum(map(len, files.values())))
        for name, data in files.items():
            write_private(fresh / name, data)
        _replace(entry, fresh)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    gone = room.make_room(where.path, newest=key)
    for _ in gone:
        count("evicted")
    return gone


def _replace(entry: Path, fresh: Path) -> None:
    """Put `fresh` where `entry` is. Another process may do so, too: either one's entry is good."""
    for _ in range(3):
        with suppress(OSError):
            os.rename(fresh, entry)
            return
        room.remove(entry)
    if not entry.is_dir():
        raise OSError(f"cannot write {entry}")


def show_source(source: str) -> Path:
    """The file of a program that is kept, with today's comments in it."""
    file = path_of(key_of(source))
    with suppress(OSError):  # only comments differ: an older file is as good to run
        if file.read_text() != source:
            fresh = file.with_name(f".{os.getpid()}-{threading.get_ident()}.py")
            write_private(fresh, source.encode())
            os.replace(fresh, file)
    return file


# ---- looking after it ----------------------------------------------------------------------------


def count(outcome: str) -> None:
    with _lock:
        _counts[outcome] += 1


def info() -> CacheInfo:
    """Where compiled programs are kept, how many, and how often this process found one."""
    where = folder()
    entries = room.entries(where.path)
    forms = sum(entry.name.startswith(FORM) for entry in entries)
    return CacheInfo(
        where.path,
        enabled(),
        where.reason,
        len(entries) - forms,
        sum(f.stat().st_size for entry in entries for f in entry.iterdir()),
        _counts["hit"],
        _counts["miss"],
        _counts["evicted"],
        limit(),
        forms,
        _counts["form found"],
        _counts["form measured"],
    )


def clear() -> int:
    """Forget all compiled programs and measured forms; returns how many there were. Programs in use
    stay in use."""
    global _clearings
    cleared = room.clear(folder().path)
    with _lock:
        _clearings += 1
        _counts.update(dict.fromkeys(_counts, 0))
    return cleared


def clearings() -> int:
    """How often this process cleared the cache: what was remembered before is forgotten."""
    return _clearings
