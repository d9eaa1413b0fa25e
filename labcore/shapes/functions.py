"""Python's functions of symbolic numbers: int, float, index, math, min and max, bits.

In: numbers, some of them symbolic.  Out: the number, as an expression where it stays one; what the
ranges decide is decided.
Invariant: the text computes what Python's own function gives. Where that would be of one type or of
another, the numbers are compared, and the comparison is assumed.
PyTorch has functions of sympy for them, `Min`, `Max` and so on.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from .expr import Expr
from .number import FLOATS, INTS, SymFloat, SymInt, SymNumber, computed, environment, fixed, hint

MATH_FUNCTIONS = "sqrt exp log log2 log10 sin cos tan tanh atan".split()
LONGEST = 200  # characters of two texts that are said more than once in a larger one


def to_int(value: Any) -> Any:
    """int(value), symbolic where value is."""
    if isinstance(value, SymFloat):
        return math.trunc(value)
    return value if isinstance(value, SymInt) else int(value)


def to_index(value: Any) -> Any:
    """operator.index(value)."""
    return value if isinstance(value, SymInt) else operator.index(value)


def to_float(value: Any) -> Any:
    """float(value), symbolic where value is."""
    if isinstance(value, SymInt):
        return computed("({0}.__float__())", float, value)
    return value if isinstance(value, SymFloat) else float(value)


def of_math(name: str, *operands: Any) -> Any:
    """math.sqrt(operand), math.log(operand, base) and the like."""
    places = ", ".join(["{}"] * len(operands))
    return computed(f"(math.{name}({places}))", getattr(math, name), *operands)


# ---- min and max --------------------------------------------------------------------------------


def smallest(*values: Any) -> Any:
    """min(*values)."""
    return _chosen("<", operator.lt, min, *values)


def largest(*values: Any) -> Any:
    """max(*values)."""
    return _chosen(">", operator.gt, max, *values)


def _chosen(sign: str, better: Callable[[Any, Any], Any], function: Any, *values: Any) -> Any:
    best, *rest = values
    for value in rest:
        symbolic = isinstance(best, SymNumber) or isinstance(value, SymNumber)
        if symbolic and _alike(best, value) and not _decided(best, value):
            template = f"({{1}} if {{1}} {sign} {{0}} else {{0}})"
            candidates = best, value
            best = computed(template, function, *candidates)
            if isinstance(best, SymInt):
                _know_chosen(best, function, candidates)
        elif better(value, best):
            best = value
    return best


def _know_chosen(best: SymInt, function: Any, candidates: tuple[Any, Any]) -> None:
    """A minimum is in the range of minima, and at most each of them; a maximum alike."""
    low, high = (function(pair) for pair in zip(*map(_bounds, candidates)))
    best.env.ranges.setdefault(best.text, (low, high))
    side = 1 if function is min else -1
    for value in candidates:
        best.env.know((Expr.of(value) - best.expr) * side)


def _alike(a: Any, b: Any) -> bool:
    """Of one type, and short enough."""
    same = any(isinstance(a, kind) and isinstance(b, kind) for kind in (INTS, FLOATS))
    return same and bool not in (type(a), type(b)) and len(f"{a!r}{b!r}") < LONGEST


def _bounds(value: Any) -> tuple[int, int]:
    return value.env.bounds(value.expr) if isinstance(value, SymInt) else (value, value)


def _decided(a: Any, b: Any) -> bool:
    """Do the ranges tell which one it is?"""
    if not isinstance(hint(a), int):
        return False
    low, high = environment(a, b).bounds(Expr.of(a) - Expr.of(b))
    return low >= 0 or high <= 0


# ---- bits ---------------------------------------------------------------------------------------


def bitwise(sign: str, function: Callable[[int, int], int], a: Any, b: Any) -> Any:
    """a & b, a | b, a ^ b."""
    found = computed(f"({{0}} {sign} {{1}})", function, a, b)
    if isinstance(found, SymInt):
        (low, most), (least, high) = _bounds(a), _bounds(b)
        if low >= 0 and least >= 0:
            top = min(most, high) if sign == "&" else (1 << max(most, high).bit_length()) - 1
            found.env.ranges.setdefault(found.text, (0, top))
    return found


def left_shift(a: Any, b: Any) -> Any:
    """a << b."""
    if isinstance(a, SymInt) and isinstance(b, int) and 0 <= b <= 64:
        return a * 2**b
    return fixed(a) << fixed(b)


def right_shift(a: Any, b: Any) -> Any:
    """a >> b."""
    if isinstance(a, SymInt) and isinstance(b, int) and 0 <= b <= 64:
        return a // 2**b
    return fixed(a) >> fixed(b)


def inverted(a: Any) -> Any:
    """~a."""
    return -a - 1 if isinstance(a, SymInt) else ~fixed(a)
