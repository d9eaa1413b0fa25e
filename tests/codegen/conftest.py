"""Every test has a cache folder of its own, and finds the process's counts at zero."""

from __future__ import annotations

import pytest

from labcore import cuda
from labcore.codegen import cache


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("LAB_CACHE_DIR", str(folder))
    monkeypatch.delenv("LAB_CACHE", raising=False)
    cache.clear()
    return folder


@pytest.fixture
def card():
    """A simulated card, for as long as a test takes."""
    cuda.simulate()
    yield
    cuda.simulate(False)
