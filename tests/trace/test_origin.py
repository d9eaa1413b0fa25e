"""An origin shows the user's line with carets, also when columns are bytes of wider characters."""
from __future__ import annotations

import linecache

from labcore.trace.origin import Origin


def source(name: str, text: str) -> str:
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    return name


def test_excerpt_points_at_the_columns() -> None:
    file = source("<one>", "def block(x, bias):\n    return (x + bias).relu() * 2\n")
    origin = Origin(file, 2, 12, 2, 20, "block")
    assert origin.code == "x + bias"
    assert origin.excerpt() == (
        '  File "<one>", line 2, in block\n'
        "    return (x + bias).relu() * 2\n"
        "            ^^^^^^^^"
    )


def test_columns_count_utf8_bytes() -> None:
    line = "    y = größe + 1\n"
    file = source("<two>", line)
    start = line.encode().index(b"gr")
    origin = Origin(file, 1, start, 1, start + len("größe".encode()))
    assert origin.code == "größe"
    assert origin.excerpt().split("\n")[2] == "        ^^^^^"


def test_without_columns_the_whole_line_is_meant() -> None:
    origin = Origin(source("<three>", "    return x\n"), 1)
    assert origin.code == "return x"
    assert origin.excerpt().endswith("^" * len("return x"))


def test_an_expression_over_several_lines_ends_with_its_first() -> None:
    origin = Origin(source("<four>", "y = (x +\n     1)\n"), 1, 5, 2, 6)
    assert origin.code == "x +"


def test_unreadable_source_still_names_the_place() -> None:
    assert Origin("<gone>", 7).excerpt() == '  File "<gone>", line 7'
    assert str(Origin("a.py", 7, 3)) == "a.py:7:3"


def test_a_notebook_cell_has_no_path_worth_showing() -> None:
    file = source("/tmp/ipykernel_17/123.py", "y = x.item()\n")
    origin = Origin(file, 1, 4, 1, 12, "f")
    assert origin.file_name == "cell"
    assert origin.excerpt() == "  Cell, line 1, in f\n    y = x.item()\n        ^^^^^^^^"
    assert Origin("/home/me/block.py", 1).file_name == "block.py"


def test_a_files_name_fits_into_a_comment() -> None:
    assert Origin("/tmp/a\nimport os.py", 1).file_name == "a?import os.py"
    assert Origin("/tmp/caf\udce9.py", 1).file_name == "caf?.py"
