"""Comparisons with PyTorch itself. `make peers` installs it apart from the lab and runs these.

Elsewhere they are skipped: a module imports `pairs`, which skips it, or asks for the fixture.
"""
from __future__ import annotations

from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def torch() -> ModuleType:
    module: ModuleType = pytest.importorskip("torch", reason="torch is a peer: `make peers`")
    return module
