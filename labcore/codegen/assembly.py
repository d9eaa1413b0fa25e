"""A kernel's machine code as text, each instruction with the line of the kernel it comes from.

In: a kernel's text.  Out: an `Assembly`: its loops, each a `Section` of instructions.
The lines are LLVM's own: the kernel is compiled once more with debug locations, which LLVM carries
through its passes and prints as `.loc`; line 0 is what it made of several lines.  That build is
never loaded.  `same` says whether it has the very instructions of a build without locations, which
is the one that runs. A loop that threads share is there for a range of its turns, rows of unknown
length as they are for any length (see `lengths.py`).
Numba's `inspect_asm` has no lines; compiler explorers show such a mapping for C.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .. import dtypes
from .instructions import ARITHMETIC, Instruction, Reader

_LABEL = re.compile(r"([.\w$]+):")
_LOC = re.compile(r"\s*\.loc\s+\d+\s+(\d+)")
_SUBSCRIPT = re.compile(r"\b(\w+)\[")
_POINTER = re.compile(r'(\w+): "(\w+)\*"')
ITEM_BITS = {t.name: 8 * t.itemsize for t in dtypes.ALL}


@dataclass
class Section:
    """Instructions that follow one another. A `loop` jumps back to its own begin; `lines` of
    instructions say which of the kernel's they come from."""

    label: str
    loop: bool
    instructions: list[Instruction] = field(default_factory=list)

    @cached_property
    def turn(self) -> int:
        """How many elements one turn works on: of the array that it accesses most of."""
        by_line: dict[tuple[int, str], int] = {}
        for each in self.instructions:
            if each.access in ("load", "store"):
                key = each.line, each.access
                by_line[key] = by_line.get(key, 0) + each.lanes
        return max(by_line.values(), default=0)

    @property
    def lanes(self) -> int:
        """The most elements that one of its instructions computes, loads or stores."""
        return max((each.lanes for each in self._work), default=0)

    @property
    def bits(self) -> int:
        """The widest registers that it does so with."""
        return max((each.bits for each in self._work), default=0)

    @property
    def _work(self) -> list[Instruction]:
        counted = (*ARITHMETIC, "load", "store")
        return [i for i in self.instructions if i.op in counted or i.access in counted]

    def each(self, *kinds: str) -> float:
        """How many elements are loaded ("load"), stored ("store"), or go through operations of
        these kinds, for each element of a turn."""
        found = sum(i.lanes for i in self.instructions if {i.access, i.op} & {*kinds})
        return found / self.turn if self.turn else 0.0


@dataclass
class Assembly:
    """The sections in the order of the text. `same`: the build that runs has these very
    instructions. `lines` are the numbers of the kernel's statements inside its innermost loops."""

    sections: list[Section]
    same: bool
    lines: frozenset[int] = frozenset()

    @property
    def bodies(self) -> list[Section]:
        """The sections in which the loops' work is done: for each statement inside a loop, the one
        with the most of its lanes. What is left are the ends of loops, before and after them.
        """
        best: dict[int, tuple[int, int]] = {}
        for number, section in enumerate(self.sections):
            work: dict[int, int] = {}
            for each in section.instructions:
                if each.line in self.lines:
                    work[each.line] = work.get(each.line, 0) + max(1, each.lanes)
            for line, lanes in work.items():
                widest = best.get(line, (0, 0))
                if (section.loop, lanes) > (self.sections[widest[1]].loop, widest[0]):
                    best[line] = lanes, number
        return [self.sections[k] for k in sorted({number for _, number in best.values()})]


def assembly_of(source: str, vectorize: bool = True) -> Assembly:
    """The machine code of one kernel. `vectorize=False`: as it would be, one element a turn, if
    LLVM neither made vectors nor unrolled loops; nothing that runs is built like that."""
    from .build import compiled_kernels, show_without_file, unrolls
    from .jit import assembly_text

    path = "<kernel to be read>"
    show_without_file(path, source)
    (function,) = compiled_kernels(source, path).values()
    unroll = unrolls(source)
    marked = assembly_text(function, lines=True, vectorize=vectorize, unroll=unroll)
    same = vectorize and _bare(assembly_text(function, lines=False, unroll=unroll)) == _bare(marked)
    return parsed(marked, source, same)


def parsed(text: str, source: str, same: bool) -> Assembly:
    """The function in an assembler's text, cut into its loops and what lies between."""
    reader = Reader(_item_bits(source))
    labels: dict[str, int] = {}  # -> how many instructions come before
    found: list[Instruction] = []
    line = 0
    for row in _body(text):
        if label := _LABEL.match(row):
            labels[label[1]] = len(found)
        elif loc := _LOC.match(row):
            line = int(loc[1])
        elif not row.strip().startswith("."):
            found.append(reader.read(" ".join(row.split()), line))
    return Assembly(_sections(found, labels), same, _innermost(source))


def _body(text: str) -> list[str]:
    """The rows of the first function: from its label to its end."""
    rows = text.splitlines()
    start = next(k for k, row in enumerate(rows) if row.startswith(".Lfunc_begin") or (
        _LABEL.match(row) and not row.startswith(".")))
    end = next(k for k, row in enumerate(rows) if k > start and row.startswith(".Lfunc_end"))
    return [row.split("\t#")[0] for row in rows[start + 1 : end] if row.strip()]


def _bare(text: str) -> list[str]:
    """Instructions only."""
    rows = (row.strip() for row in _body(text))
    return [row for row in rows if not row.startswith(".") and not _LABEL.match(row)]


def _sections(found: Sequence[Instruction], labels: dict[str, int]) -> list[Section]:
    """A jump back makes a loop of what lies between; of nested ones the innermost counts."""
    loops = [
        (labels[target], end + 1, target)
        for end, each in enumerate(found)
        if (target := each.target) in labels and labels[target] <= end
    ]
    inner = [a for a in loops if not any(a[0] <= b[0] and b[1] <= a[1] and b != a for b in loops)]
    sections: list[Section] = []
    at = 0
    for start, end, label in sorted(inner):
        if start < at:
            continue  # two loops that overlap: the first has what they share
        sections += _straight(found[at:start])
        sections.append(Section(label, True, list(found[start:end])))
        at = end
    return [*sections, *_straight(found[at:])]


def _straight(rows: Sequence[Instruction]) -> Iterable[Section]:
    return [Section("", False, list(rows))] if rows else []


# ---- the kernel's text ---------------------------------------------------------------------------


def _item_bits(source: str) -> dict[int, int]:
    """How wide the elements are that a line of the kernel accesses, where it accesses any."""
    kinds = dict(_POINTER.findall(source))
    found: dict[int, int] = {}
    for number, line in enumerate(source.splitlines(), 1):
        names = [name for name in _SUBSCRIPT.findall(line.split("  # ")[0]) if name in kinds]
        if names:
            found[number] = ITEM_BITS[kinds[names[0]]]
    return found


def _innermost(source: str) -> frozenset[int]:
    """The statements inside of loops that have no loop inside; of a kernel without any, all."""
    rows = source.splitlines()
    deep = [len(row) - len(row.lstrip()) for row in rows]
    heads = [k for k, row in enumerate(rows) if row.lstrip().startswith("for ")]
    found: set[int] = set()
    for head in heads:
        block = []
        for k in range(head + 1, len(rows)):
            if deep[k] <= deep[head]:
                break
            block.append(k)
        if not {*block} & {*heads}:
            found.update(k + 1 for k in block)
    if not heads:
        found = {k + 1 for k, row in enumerate(rows) if " = " in row}
    return frozenset(found)
