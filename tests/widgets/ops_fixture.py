"""What every primitive gives on chosen numbers, computed in Python, for `tests/js/ops.test.js` to
agree with.

`python -m tests.widgets.ops_fixture` writes `tests/js/ops.json`; a test says when it is out of
date.
"""

from __future__ import annotations

import inspect
import itertools
import json
from pathlib import Path
from typing import Any

from labcore import dtypes
from labcore.fusion.primitives import PRIMITIVES
from widgets._race import rounded

FILE = Path(__file__).parents[1] / "js" / "ops.json"
FLOATS = [-2.5, -1.0, -0.0, 0.0, 0.1, 3.0, float("inf"), float("-inf"), float("nan")]
NUMBERS: dict[str, list[Any]] = {
    "float32": FLOATS,
    "float64": [-2.5, 0.1, 0.5, 1.0, 3.0, float("nan")],
    "int64": [-7, -1, 0, 1, 2, 5],
    "bool": [False, True],
}
FLOATING_ONLY = {
    *("div", "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sqrt", "rsqrt", "erf"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sigmoid"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "trunc", "round"),
}
NOT_BOOL = {"sub", "floor_divide", "remainder", "fmod", "pow", "neg", "abs", "relu"}
BITS = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"}


def fits(name: str, dtype: str) -> bool:
    """Operators whose meaning on a dtype eager PyTorch refuses are not compared there."""
    if name in BITS:
        return not dtype.startswith("float")
    if name in FLOATING_ONLY:
        return dtype.startswith("float")
    return dtype != "bool" or name not in NOT_BOOL


def cases() -> list[dict[str, Any]]:
    """One row a primitive and dtype: calls as [*arguments, result], numbers as JavaScript reads
    them.
    """
    rows = []
    for (name, primitive), (dtype, numbers) in itertools.product(
        PRIMITIVES.items(), NUMBERS.items()
    ):
        if not fits(name, dtype):
            continue
        arity = 1 if name == "abs" else len(inspect.signature(primitive.fn).parameters)
        result = primitive.dtype(*[getattr(dtypes, dtype)] * arity).name
        calls = []
        for values in itertools.product(numbers, repeat=arity):
            args = [rounded(v, dtype) for v in values]
            if name == "where" and args[0] not in (0, 1):
                continue  # its first argument is a bool
            if dtype == "int64" and name in ("floor_divide", "remainder", "fmod") and args[1] == 0:
                continue  # an error in eager, and no value
            calls.append(" ".join(map(text, [*args, rounded(primitive.fn(*args), result)])))
        rows.append({"op": name, "dtype": result, "heavy": primitive.heavy, "calls": calls})
    return rows


def text(value: Any) -> str:
    """A number as JavaScript's `Number` reads it; booleans are 0 and 1 there."""
    spelled = repr(int(value) if isinstance(value, bool) else value)
    return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(spelled, spelled)


def printed() -> str:
    return "[\n" + ",\n".join(json.dumps(row) for row in cases()) + "\n]\n"


if __name__ == "__main__":
    FILE.write_text(printed())
