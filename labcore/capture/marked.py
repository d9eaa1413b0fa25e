"""What a program said of its sizes (`mark_dynamic`), against what its variant takes for granted.

In: marks as they are met, and each condition under which the variant is valid.  Out: `Violation`s.
Invariant: a size without a violation may be anything that was said, from 2 on, as far as conditions
on it alone go.
PyTorch compares the range that its solver is left with, and does not tell which line narrowed it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..shapes import SYMBOL, ShapeEnv, condition, renamed
from ..tensor.layout import Mark
from ..trace import Origin

LEAST = 2  # sizes of 0 and 1 are constants


@dataclass(frozen=True)
class Violation:
    """`source`: what contradicts its mark; `text`: how; `origin`: the user's place."""

    source: str
    text: str
    origin: Origin | None


@dataclass(frozen=True)
class _Size:
    """A marked size, as it was seen, and where."""

    mark: Mark
    value: int
    origin: Origin | None


class Marked:
    def __init__(self) -> None:
        self._sizes: dict[str, _Size] = {}  # by source
        self._assumed: list[tuple[str, Origin | None]] = []

    def add(self, source: str, mark: Mark, value: int, origin: Origin | None) -> None:
        self._sizes.setdefault(source, _Size(mark, value, origin))

    def assume(self, text: str, origin: Origin | None) -> None:
        self._assumed.append((text, origin))

    def violations(self, env: ShapeEnv, names: Mapping[str, str]) -> Iterator[Violation]:
        """`names`: the sources of symbols."""
        symbols = {source: symbol for symbol, source in names.items()}
        for source, size in self._sizes.items():
            symbol, said = symbols.get(source), f"You marked {source} as {size.mark.words}"
            needs = [each for each in self._assumed if symbol in SYMBOL.findall(each[0])]
            if not size.mark.allows(size.value):
                yield Violation(source, f"{said} but it is {size.value}.", size.origin)
            elif symbol is None or env.is_constant(symbol) and not size.mark.is_one:
                text = f"{said} but your code specialized it to be a constant ({size.value}). "
                fixed = [origin for need, origin in needs if "==" in need]
                advice = "Either remove mark_dynamic or use maybe_mark_dynamic."
                yield Violation(source, text + advice, fixed[-1] if fixed else None)
            else:
                for need, end, origin in _unmet(symbol, size.mark, needs):
                    text = f"{said} but your code needs {renamed(need, names)}: not for {end}."
                    yield Violation(source, text, origin)


def _unmet(
    symbol: str, mark: Mark, needs: list[tuple[str, Origin | None]]
) -> Iterator[tuple[str, int, Origin | None]]:
    """The first condition on this size alone that an end of its range does not satisfy."""
    for text, origin in needs:
        for end in mark.ends if set(SYMBOL.findall(text)) == {symbol} else ():
            if not condition([text])({symbol: max(end, LEAST)}):
                yield text, end, origin
                return
