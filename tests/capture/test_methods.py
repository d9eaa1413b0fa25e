"""Every method and operator, rightly and wrongly called: what capture expects, CPython does.

`check` is strict: where capture says that CPython would raise and it does not, the test fails.
"""

from __future__ import annotations

import warnings

import pytest

import labcore as torch
from labcore.ops import OPS
from labcore.tensor.methods import Methods

from .differential import check

ARGUMENTS = ("", "1", "x", "(0, 1)", "dim=0", "x, 2.5", "None", "[x, x]")
EXAMPLES = {
    "floats": lambda: torch.tensor([[1.0, 2.0], [3.0, -4.0]]),
    "integers": lambda: torch.tensor([3, 5]),
}
METHODS = [name for name in sorted(dir(Methods)) if callable(getattr(Methods, name))]
METHODS = [
    name
    for name in METHODS
    if name in vars(Methods)
    and not OPS.get(name, OPS["add"]).mutates
    and not name.startswith("__i")
]
FUNCTIONS = [name for name, op in OPS.items() if hasattr(torch, name) and op.kind != "random"]


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
@pytest.mark.parametrize("name", METHODS)
def test_method(name, example):
    for arguments in ARGUMENTS:
        agrees(f"x.{name}({arguments})", example())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name):
    for arguments in ("x", "x, x", "x, 1", "[x, x]", "x > 0, x, x", "(2,), 1.5"):
        agrees(f"torch.{name}({arguments})", EXAMPLES["floats"]())


def agrees(expression, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is warned of is not the subject
        check(eval(f"lambda x: {expression}", {"torch": torch}), x)
