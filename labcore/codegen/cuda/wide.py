"""Words of several elements, which a form's threads load and store at once.

In: what a thread holds in registers.  Out: statements: `load4(x, 4096*i0 + i1, x_r, 4 * k)` fills
four registers, one k after the other, from there on.
Loop bodies compute one element after the other, and leave what they make in registers too. So much
is done at once only where an array begins at a multiple of a word's size, which the kernel asks: a
view may begin elsewhere. Then the same elements are loaded one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...fusion.handlers import Name
from ...fusion.ir import Expr
from ..printer import Line, indented, note_now
from .base import GridPrinter, Held
from .side_by_side import LOADS


class WidePrinter(GridPrinter):
    """`results`: what the bodies of a pass leave in registers for memory. A form says how many
    elements a thread has (`own`), and a word (`wide`), and how loops over either look."""

    own, wide = 0, 1
    results: list[Held]
    asks_once = False  # for all arrays, before anything is done; else of those that are moved
    asked: dict[str, int]  # the bytes of a word of each array

    def in_words(self, lines: Iterable[Line]) -> list[Line]:
        """The statements for each word of a thread."""
        raise NotImplementedError

    def one_by_one(self, lines: Iterable[Line]) -> list[Line]:
        """The statements for each element of a thread."""
        raise NotImplementedError

    def store(self, buffer: str, at: Expr, value: Name) -> None:
        if self.wide == 1 or self.part != "each" or self.nest.homes[buffer] != "memory":
            return super().store(buffer, at, value)
        array = self.array(f"{buffer}_w", self.own, value.dtype)
        self.brief.add(array)
        self.results.append(Held(buffer, at, array, note_now()))
        self.put(True, f"{array}[k] = {value}")
        self.held[buffer, at] = value

    def moved(self, held: Sequence[Held], verbs: dict[int, str]) -> list[Line]:
        """Statements that fill registers (LOADS), or take them to memory (STORES)."""
        each = self.loaded if verbs is LOADS else self.stored
        alone = self.one_by_one(map(each, held))
        if self.wide == 1 or not held:
            return alone
        words = self.in_words(self._word(each, verbs[self.wide]) for each in held)
        sizes = {self._array(each): self.wide * self.buffers[each.buffer].dtype.itemsize
                 for each in held}
        if self.asks_once:
            self.asked |= sizes
            return words
        return if_aligned(sizes, words, alone)

    def stored(self, held: Held) -> Line:
        return f"{self._cell(held.buffer, held.at)} = {held.array}[k]", held.note

    def _word(self, held: Held, verb: str) -> Line:
        place = f"{self._array(held)}, {self.spell_offset(held.at)}"
        return f"{verb}({place}, {held.array}, {self.wide} * k)", held.note

    def _array(self, held: Held) -> str:
        return self.names[self.nest.storage(held.buffer)]


def if_aligned(sizes: dict[str, int], words: list[Line], alone: list[Line]) -> list[Line]:
    """The statements by words where all these arrays begin at a multiple of so many bytes."""
    test = " & ".join(f"aligned({array}, {size})" for array, size in sizes.items())
    return [(f"if {test}:", ""), *indented(words, 1), ("else:", ""), *indented(alone, 1)]
