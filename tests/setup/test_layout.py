"""What no tool checks: tests that would not be found, files too long to read, peers let in."""
from __future__ import annotations

import ast
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST = 400
PEERS = {"torch", "jax", "numexpr"}


def sources(folder: str, *suffixes: str) -> list[pathlib.Path]:
    return sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in suffixes)


CODE = [*sources("labcore", ".py"), *sources("widgets", ".py", ".js")]


def name(path: pathlib.Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", CODE, ids=name)
def test_a_file_can_be_read_at_one_sitting(path: pathlib.Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST


def imported(path: pathlib.Path) -> set[str]:
    """The top-level packages that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "importorskip":
            found |= {str(a.value) for a in node.args if isinstance(a, ast.Constant)}
    return found


def test_only_the_peers_tests_import_peers() -> None:
    elsewhere = [p for p in sources("tests", ".py") if (ROOT / "tests" / "peers") not in p.parents]
    lab = [*sources("labcore", ".py"), *sources("widgets", ".py")]
    lab = [p for p in lab if ROOT / "labcore" / "measure" not in p.parents]
    assert [name(p) for p in lab + elsewhere if imported(p) & PEERS] == []


def test_every_javascript_test_has_a_name_that_make_finds() -> None:
    found = sources("tests/js", ".js", ".mjs")
    with_tests = [p for p in found if "node:test" in p.read_text(encoding="utf-8")]
    assert [name(p) for p in with_tests if not p.stem.endswith(".test")] == []


def test_every_python_test_is_in_a_package() -> None:
    """Two files of one name in two folders collide when the folders are no packages."""
    folders = {p.parent for p in sources("tests", ".py")}
    assert [name(f) for f in sorted(folders) if not (f / "__init__.py").exists()] == []
