"""What `import labcore` loads, and what it does not."""

from __future__ import annotations

import subprocess
import sys

import labcore as torch

HEAVY = (
    "ml_dtypes",
    "numba",
    "llvmlite",
    "sympy",
    "matplotlib",
    "threadpoolctl",
    "networkx",
    "anywidget",
    "numpy.random",
)
LATER = (
    "labcore.compiler",
    "labcore.capture",
    "labcore.trace",
    "labcore.fusion",
    "labcore.testing",
    "labcore.utils",
)


def modules_after(program: str) -> set[str]:
    found = subprocess.run(
        [sys.executable, "-c", f"{program}; import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(found.stdout.split())


def test_import_is_light():
    program = (
        "import labcore as torch; x = torch.ones(2, requires_grad=True); (x * 2).sum().backward()"
    )
    loaded = modules_after(program)
    assert "labcore.tensor.autograd" in loaded
    assert loaded.isdisjoint(HEAVY) and loaded.isdisjoint(LATER)


def test_rooms_come_when_asked_for():
    loaded = modules_after(
        "import labcore as torch; torch.testing.assert_close; torch.compile; torch._dynamo"
    )
    assert {"labcore.testing", "labcore.compiler"} <= loaded and "sympy" not in loaded


def test_public_names():
    from labcore.utils.benchmark import Timer

    assert torch.utils.benchmark.Timer is Timer and callable(torch.compile)
    assert torch.float is torch.float32 and torch.long is torch.int64
    assert torch.add(torch.ones(1), 2).item() == 3 and torch.__version__ == "0.1.0"
    assert not hasattr(torch, "slice") and not hasattr(torch, "nothing")
    assert {"compile", "tensor", "testing", "relu"} <= set(dir(torch))
