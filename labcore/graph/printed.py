"""Generated Python that can be read: tracebacks, debuggers and `inspect` find its text.

In: source text and what it defines things in.  Out: its definitions in the scope.
Invariant: `linecache` has the text as long as its owner lives, and no longer.
"""

from __future__ import annotations

import linecache
import weakref
from typing import Any

Entry = tuple[int, None, list[str], str]


def define(source: str, path: str, scope: dict[str, Any], owner: object) -> None:
    """Run `source` in `scope` as the file `path`; the text is kept for `owner`."""
    entry: Entry = (len(source), None, source.splitlines(True), path)
    linecache.cache[path] = entry
    weakref.finalize(owner, _forget, path, entry).atexit = False
    exec(compile(source, path, "exec"), scope)


def _forget(path: str, entry: Entry) -> None:
    if linecache.cache.get(path) is entry:  # another may have been printed under the name since
        del linecache.cache[path]
