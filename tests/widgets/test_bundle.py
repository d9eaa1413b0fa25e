"""One module a widget: shared files are closed inside, and nothing is left to import."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.widgets import ops_fixture
from widgets import _bundle

WIDGETS = (
    "access_race", "amortizer", "break_map", "fusion_court", "grid_view", "guard_matrix",
    "kernel_lens", "launch_timeline", "loop_stepper", "save_or_recompute",
    "trace_stepper", "variant_theater",
)
PREFIXES = "lab|am|ar|bm|fc|gm|gv|kl|ls|lt|sr|ts|vt"


@pytest.mark.parametrize("name", WIDGETS)
def test_nothing_is_imported_from_outside(name):
    text = _bundle.esm(name)
    assert not re.search(r"^import\b", text, re.M)
    assert text.count("export default") == 1


@pytest.mark.parametrize("name", WIDGETS)
def test_each_shared_module_is_there_once_and_before_its_use(name):
    text = _bundle.esm(name)
    defined = re.findall(r"^const _(\w+) = \(\(\) => \{$", text, re.M)
    assert len(defined) == len(set(defined)) and "dom" in defined
    for module in defined:
        uses = [m.start() for m in re.finditer(rf"\}} = _{module};", text)]
        assert min(uses) > text.index(f"const _{module} = ")


@pytest.mark.skipif(shutil.which("node") is None, reason="node loads the module")
@pytest.mark.parametrize("name", WIDGETS)
def test_the_module_loads_and_renders(name, tmp_path):
    file = tmp_path / "widget.mjs"
    file.write_text(_bundle.esm(name), encoding="utf-8")
    program = f"import widget from {file.as_uri()!r}; if (!widget.render) process.exit(1);"
    subprocess.run(["node", "--input-type=module", "-e", program], check=True, timeout=60)


def test_an_import_that_cannot_be_closed_is_refused(tmp_path, monkeypatch):
    (tmp_path / "odd.js").write_text('import * as d3 from "https://example.org/d3";\n')
    monkeypatch.setattr(_bundle, "STATIC", tmp_path)
    with pytest.raises(ValueError, match="widgets import only names"):
        _bundle.esm("odd")


@pytest.mark.parametrize("name", WIDGETS)
def test_styles_stay_inside_the_widget(name):
    css = re.sub(r"/\*.*?\*/", "", _bundle.css(name), flags=re.S)
    for selectors in re.findall(r"^([^@{}\n][^{}]*)\{", css, re.M):
        for selector in re.split(r",(?![^(]*\))", selectors):
            assert re.search(rf"\.({PREFIXES})(\b|-)", selector), selector


def test_the_operators_fixture_is_up_to_date():
    assert ops_fixture.FILE.read_text() == ops_fixture.printed(), (
        "run: python -m tests.widgets.ops_fixture"
    )
