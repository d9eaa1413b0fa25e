"""Other processes: they need no numba, several may write at once, a program runs on its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from labcore.codegen import cache, compile_graph

from .graphs import chain, meta, traced

ROOT = Path(__file__).parents[2]

CHILD = """
import json, sys
from labcore import trace
from labcore.codegen import compile_graph
from tests.codegen import graphs
from tests.codegen.graphs import filled, meta, traced

def main(function):
    with trace.record() as events:
        call = compile_graph(traced(function, meta(4), meta(4)), "inference")
    x, bias = filled(meta(4), 0), filled(meta(4), 1)
    right = bool((call([x, bias])[0].array == function(x, bias).array).all())
    (disk,) = events.of(trace.DiskCache)
    print(json.dumps({"outcome": disk.outcome, "right": right, "modules": sorted(sys.modules)}))

main(getattr(graphs, sys.argv[1]))
"""


def start(*command: str) -> subprocess.Popen:
    """A process of its own; it may keep Python's compiled modules, as a user's would."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.Popen(
        [sys.executable, *(command or ("-c", CHILD, "chain"))],
        cwd=ROOT,
        text=True,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def answer(child: subprocess.Popen) -> str:
    out, errors = child.communicate(timeout=120)
    assert child.returncode == 0, errors
    return out


@pytest.mark.parametrize("function", ["chain", "arch"])
def test_a_second_process_needs_no_numba(function, cache_folder):
    first, second = (json.loads(answer(start("-c", CHILD, function))) for _ in range(2))
    assert (first["outcome"], first["right"]) == ("miss", True)
    assert (second["outcome"], second["right"]) == ("hit", True)
    assert "numba" in first["modules"]
    assert "numba" not in second["modules"] and "llvmlite.binding" in second["modules"]
    (manifest,) = cache_folder.glob("*/manifest.json")
    assert bool(json.loads(manifest.read_text())["externals"]) == (function == "arch")


def test_several_processes_compile_the_same_at_once(cache_folder):
    found = [json.loads(answer(child)) for child in [start() for _ in range(2)]]
    assert all(f["right"] for f in found)
    names = {p.name for p in cache_folder.iterdir()}
    assert len(names) == 2 and ".stored" in names  # one entry and its size, no leftovers
    assert json.loads(answer(start()))["outcome"] == "hit"


def test_a_program_runs_on_its_own(cache_folder):
    compile_graph(traced(chain, meta(4), meta(4)), "inference")
    (file,) = cache_folder.glob("*/output_code.py")
    out = answer(start(str(file)))
    assert out.startswith("call(x, bias): fastest ") and out.endswith(" runs\n")
    (file.parent / "kernels.o").write_bytes(b"damaged")
    assert answer(start(str(file))).startswith("call(x, bias): fastest ")
    compile_graph(traced(chain, meta(4), meta(4)), "inference")
    assert cache.info().hits == 1  # the program on its own has put it right
