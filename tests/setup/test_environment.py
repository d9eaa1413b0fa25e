"""environment.yml says for conda what pyproject.toml says for pip; the lock keeps the peers out.

That conda can solve it is not proven here: that takes conda-forge itself. What is checked is
conda's own grammar, the names, and the bounds.
"""
from __future__ import annotations

import hashlib
import pathlib
import tomllib
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from rattler import MatchSpec

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONDA_NAMES = {"graphviz": "python-graphviz", "matplotlib": "matplotlib-base",
               "ml-dtypes": "ml_dtypes"}
# sha256 of the address of uv's default index: no other address will do.
PUBLIC_INDEX = "5a06749b2297be54ac5699f6f2761716adc5001a2d5f8b915ab2172922dd5706"
PEERS = {"torch", "jax", "jaxlib", "numexpr"}


def toml(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


PROJECT = toml("pyproject.toml")["project"]
ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
SPECS = [MatchSpec(line) for line in ENVIRONMENT["dependencies"] if isinstance(line, str)]


def bounds(version: object) -> set[str]:
    return set(str(version).split(",")) if version is not None else set()


def conda_bounds(name: str) -> set[str]:
    (spec,) = [s for s in SPECS if s.name is not None and s.name.normalized == name]
    return bounds(spec.version)


@pytest.mark.parametrize("line", PROJECT["dependencies"])
def test_each_requirement_has_the_same_bounds_for_conda(line: str) -> None:
    wanted = Requirement(line)
    assert conda_bounds(CONDA_NAMES.get(wanted.name, wanted.name)) == bounds(wanted.specifier)


def test_python_has_the_same_bounds_for_conda() -> None:
    assert conda_bounds("python") == bounds(PROJECT["requires-python"])


def test_conda_installs_nothing_that_the_project_does_not_name() -> None:
    named = {Requirement(line).name for line in PROJECT["dependencies"]}
    wanted = {CONDA_NAMES.get(name, name) for name in named} | {"python", "pip"}
    assert {spec.name.normalized for spec in SPECS if spec.name} == wanted


def test_conda_takes_one_channel_and_the_checkout() -> None:
    assert ENVIRONMENT["channels"] == ["conda-forge", "nodefaults"]
    assert [d for d in ENVIRONMENT["dependencies"] if isinstance(d, dict)] == [{"pip": ["-e ."]}]


def test_the_lock_knows_no_peer() -> None:
    assert PEERS.isdisjoint(package["name"] for package in toml("uv.lock")["package"])


def test_the_lock_has_one_public_index() -> None:
    """A lock written against a private mirror installs nowhere else."""
    sources = [package["source"] for package in toml("uv.lock")["package"]]
    indexes = {source["registry"] for source in sources if "registry" in source}
    (index,) = indexes
    assert hashlib.sha256(index.encode()).hexdigest() == PUBLIC_INDEX
    assert [source for source in sources if "registry" not in source] == [{"editable": "."}]
