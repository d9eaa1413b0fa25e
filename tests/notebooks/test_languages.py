"""Every text cell says the same in English and in Chinese.

English paragraphs are followed by their Chinese ones; both sides name the same code, numbers and
links, so that a correction on one side cannot be forgotten on the other.
"""
from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = sorted(Path("notebooks").glob("*.ipynb"))
CHINESE = re.compile(r"[\u4e00-\u9fff]")
# Words for numbers differ between the languages ("four", 四); figures, code and links may not.
SPANS = {
    "code": re.compile(r"`[^`\n]+`"),
    "figures": re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:/\d+)?"),
    "links": re.compile(r"\]\(([^)\s]+)\)"),
}


def paragraphs(notebook: Path) -> list[tuple[str, str]]:
    """(cell id, paragraph) in order; headings, rules and the folding of answers are no paragraphs.
    """
    found = []
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type != "markdown":
            continue
        for text in re.split(r"\n\s*\n", cell.source):
            text = re.sub(r"<summary>.*?</summary>|</?details>", "", text).strip()
            if text and not text.startswith("#"):
                found.append((cell.id, text))
    return found


def pairs(notebook: Path) -> list[tuple[str, list[str], list[str]]]:
    """Runs of English paragraphs with the run of Chinese ones that follows them."""
    runs: list[tuple[str, bool, list[str]]] = []
    for cell, text in paragraphs(notebook):
        chinese = bool(CHINESE.search(text))
        if runs and runs[-1][0] == cell and runs[-1][1] == chinese:
            runs[-1][2].append(text)
        else:
            runs.append((cell, chinese, [text]))
    assert len(runs) % 2 == 0, "an English run without its Chinese one, or the other way round"
    found = []
    for (cell, zh_first, english), (other, zh, chinese) in zip(runs[::2], runs[1::2]):
        assert (cell, zh_first, zh) == (other, False, True), (
            f"cell {cell}: English first, then Chinese"
        )
        found.append((cell, english, chinese))
    return found


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda p: p.stem)
def test_both_languages_say_the_same(notebook: Path) -> None:
    assert pairs(notebook)
    for cell, english, chinese in pairs(notebook):
        assert len(english) == len(chinese), (
            f"cell {cell}: {len(english)} paragraphs against {len(chinese)}"
        )
        for en, zh in zip(english, chinese):
            for what, pattern in SPANS.items():
                ours, theirs = set(pattern.findall(en)), set(pattern.findall(zh))
                assert ours == theirs, f"cell {cell}, {what}: {ours} against {theirs}\n{en}\n{zh}"


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS
