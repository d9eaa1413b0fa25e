"""One widget, one module: its own JavaScript with the shared modules inside it.

An anywidget's module is loaded from a blob, so `import ... from "./lab.js"` has nothing to be
relative to.  In: the plain modules in `static/`, where editors, linters and `node --test` follow
their imports.  Out: `esm(name)`, the same text with each imported module closed in a function
before its first use, and `css(name)`, the tokens and shared rules before the own ones.
Invariant: a module's private names stay private, and a shared module appears once.  No build step,
no tools.
"""

from __future__ import annotations

import re
from pathlib import Path

STATIC = Path(__file__).parent / "static"
_IMPORT = re.compile(r'^import\s*(\{[^}]*\})\s*from\s*"\./(\w+)\.js";\n', re.M)
_EXPORT = re.compile(r"^export (const|function) (\w+)", re.M)


def esm(name: str) -> str:
    """The widget's module, self-contained."""
    parts: list[str] = []
    own = _link((STATIC / f"{name}.js").read_text(encoding="utf-8"), parts, set())
    return "".join(parts) + own


def css(name: str) -> str:
    """Tokens, the shared look, then the widget's own rules."""
    return "".join(
        (STATIC / f"{part}.css").read_text(encoding="utf-8") for part in ("tokens", "lab", name)
    )


def _link(source: str, parts: list[str], seen: set[str]) -> str:
    """`source` with its imports turned into names taken from closed modules; those go to `parts`,
    deepest first.
    """

    def take(match: re.Match[str]) -> str:
        names, module = match.groups()
        if module not in seen:
            seen.add(module)
            parts.append(_closed(module, parts, seen))
        return f"const {names} = _{module};\n"

    linked = _IMPORT.sub(take, source)
    if re.search(r"^import\b", linked, re.M) or re.search(r"^const \{[^}]*\bas\b", linked, re.M):
        raise ValueError(
            'widgets import only names from "./<module>.js", without `as` and without `*`'
        )
    return linked


def _closed(module: str, parts: list[str], seen: set[str]) -> str:
    source = _link((STATIC / f"{module}.js").read_text(encoding="utf-8"), parts, seen)
    names = ", ".join(name for _, name in _EXPORT.findall(source))
    body = _EXPORT.sub(r"\1 \2", source)
    return f"const _{module} = (() => {{\n{body}return {{ {names} }};\n}})();\n"
