"""Python that PyTorch captures whole is captured whole here: the programs of `tests/capture/rows`.

Each is called under `torch.compile(fullgraph=True)`. Where that does not stop, the program must not
be one that is known to break here.
"""
from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest

from tests.capture.rows.running import FILES, arguments, load, programs

torch = pytest.importorskip("torch", reason="torch is a peer: `make peers`")

# Whole in PyTorch and not here, though the program says that it is as it should be.
KNOWN = {
    "item": "under fullgraph=True PyTorch makes the number an unbacked symbol",
    "float_of_tensor": "the same",
    "max_of_tensors": "PyTorch makes it torch.maximum, a new tensor; Python returns one of them",
}


def _cases() -> list[Any]:
    cases = []
    for path in FILES:
        for program in programs(load(path, torch), path):
            why = getattr(program, "pending", None)
            breaking = why or getattr(program, "breaks", ())
            cases.append(pytest.param(path, program.__name__, breaking, id=program.__name__))
    return cases


def taken_whole(path: Path, name: str) -> bool:
    """Does PyTorch capture it without a graph break?"""
    from torch._dynamo.exc import TorchDynamoException

    torch._dynamo.reset()
    program = load(path, torch)[name]
    compiled = torch.compile(program, backend="eager", fullgraph=True)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            compiled(*arguments(program, torch))
    except TorchDynamoException:
        return False
    except Exception:
        return False  # the program's own: PyTorch reruns it eagerly, if it captured it at all
    return True


@pytest.mark.parametrize(("path", "name", "breaking"), _cases())
def test_what_pytorch_takes_whole(path: Path, name: str, breaking: Any) -> None:
    if not breaking or name in KNOWN:
        return  # `tests/capture/test_rows.py` holds it to no breaks
    if taken_whole(path, name):
        assert isinstance(breaking, str), f"PyTorch takes it whole, and here: {breaking}"
        pytest.xfail(breaking)
