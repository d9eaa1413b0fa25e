"""What tests of operators have in common."""

from __future__ import annotations

import pytest

from labcore.fusion.lowering_pointwise import POINTWISE
from labcore.ops import OPS


@pytest.fixture
def tables_as_before():
    """The test may add operators: the tables are as they were for the tests after it."""
    tables = [(table, dict(table)) for table in (OPS, POINTWISE)]
    yield
    for table, before in tables:
        table.clear()
        table.update(before)
