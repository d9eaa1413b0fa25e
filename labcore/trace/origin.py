"""Where in the user's source something came from.

In: positions of a bytecode instruction.  Out: an `Origin` that can be shown as a caret excerpt.
Invariant: source text is for showing only and may be missing; meaning never depends on it.
`linecache` knows notebook cells too, so an origin in a notebook shows its cell's line.
"""
from __future__ import annotations

import linecache
from dataclasses import dataclass


@dataclass(frozen=True)
class Origin:
    """A place in a file: 1-based lines, 0-based columns, `end_column` exclusive; -1 is unknown."""

    file: str
    line: int
    column: int = -1
    end_line: int = -1
    end_column: int = -1
    function: str = ""

    @property
    def file_name(self) -> str:
        """The file's own name, without folders. A notebook cell's generated path becomes "cell".

        It goes into comments of generated code, so what would end a line is left out.
        """
        if "ipykernel_" in self.file or self.file.startswith("<ipython-input"):
            return "cell"
        name = self.file.replace("\\", "/").rsplit("/", 1)[-1]
        return name if name.isprintable() else "".join(c if c.isprintable() else "?" for c in name)

    @property
    def source(self) -> str:
        """The line's text without its newline, or "" when the file cannot be read."""
        return linecache.getline(self.file, self.line).rstrip("\n")

    @property
    def code(self) -> str:
        """The piece of the line the columns point at, or the whole stripped line."""
        start, end = self._span()
        return self.source.encode()[start:end].decode(errors="replace").strip()

    def _span(self) -> tuple[int, int]:
        """Byte columns on the first line: CPython counts columns in UTF-8 bytes."""
        line = self.source.encode()
        if self.column < 0:
            return len(line) - len(line.lstrip()), len(line)
        one_line = self.end_line in (-1, self.line) and self.end_column >= 0
        return self.column, self.end_column if one_line else len(line)

    def excerpt(self) -> str:
        """The place as a traceback would show it: file, line, and carets under the columns."""
        file = "  Cell" if self.file_name == "cell" else f'  File "{self.file}"'
        head = f"{file}, line {self.line}" + (f", in {self.function}" if self.function else "")
        if not self.source:
            return head
        line = self.source.encode()
        start, end = self._span()
        indent = len(line) - len(line.lstrip())
        before = line[indent:start].decode(errors="replace")
        marked = line[start:end].decode(errors="replace")
        text = line[indent:].decode(errors="replace")
        return f"{head}\n    {text}\n    {' ' * len(before)}{'^' * max(1, len(marked))}"

    def beside(self) -> str:
        """The line and where it is, to be put behind something on one line."""
        where = f"{self.file_name}:{self.line}" + (f", in {self.function}" if self.function else "")
        return f"{self.source.strip()} ({where})".lstrip()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f":{self.column}" if self.column >= 0 else "")
