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


# One word for one thing: what a reader meets under a second name looks like a second thing.
WORDS = sorted(Path("widgets/static").glob("words*.js"))
NOT_OURS = {"操作": "运算", "算子": "运算", "追踪": "捕获", "重编译": "重新编译"}


@pytest.mark.parametrize("path", [*NOTEBOOKS, *WORDS], ids=lambda p: p.stem)
def test_a_thing_has_one_chinese_word(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = "\n".join(paragraph for _, paragraph in paragraphs(path))
    assert {word: ours for word, ours in NOT_OURS.items() if word in text} == {}


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_question_stands_before_its_answer(notebook: Path) -> None:
    """What answers a guess is stored folded; running the cell unfolds it. JupyterLab shows the
    first line of what is folded, so that one is words."""
    cells = nbformat.read(notebook, as_version=4).cells
    for asking, cell in zip(cells, cells[1:]):
        if asking.cell_type != "markdown" or "**Guess" not in asking.source:
            continue
        told = [o for o in cell.get("outputs", []) if "Not begun" not in str(o)]
        folded = cell.metadata.get("jupyter", {}).get("outputs_hidden", False)
        assert folded or not told, f"cell {cell.id} shows what cell {asking.id} asks for"
        if told:
            first = str(told[0].get("text", "a picture: 0")).partition("\n")[0]
            assert not re.search(r"\d", first), f"cell {cell.id} begins with an answer: {first}"


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS
