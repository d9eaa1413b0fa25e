"""What differs from call to call, as far as the variants there are can tell.

In: the variants of a point, and the values that none of them fits.  Out: `Varying`: numbers, sizes
and strides that are to be inputs of the next graph, and what is not to be a constant any more.
Invariant: it only grows, so a function settles. PyTorch calls the first part automatic dynamic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..capture.looking import SYMBOLIC, VARYING
from ..capture.numbers import Varying
from ..guards import Guard, Variant
from ..guards.replay import differences

if TYPE_CHECKING:
    from .points import Point


def notice(point: Point, slots: tuple[Any, ...]) -> Varying:
    """The point's `Varying` with what tells these values from those of its variants."""
    before, dynamic = point.varying, point.state.options.dynamic
    symbols, never = set(before.symbols), set(before.never)
    for variant in point.cache.variants:
        found = list(differences(variant, slots))
        if dynamic is not False:
            symbols.update(name for guard, value in found for name in _varies(guard, value))
        if not _is_worth_it(point, variant):
            never.update(name for guard, _ in found for name in _constants(guard))
    return Varying(frozenset(symbols), frozenset(never), dynamic is True)


def _is_worth_it(point: Point, variant: Variant) -> bool:
    """Is a graph worth a variant for each value? For a whole call it always is; between two breaks
    CPython may as well compute with the value."""
    whole = not point.key and variant.scope.get("graph") is not None
    return whole or not variant.stops or variant.result == "eager"


def _varies(guard: Guard, value: Any) -> list[str]:
    """The names of numbers, sizes and strides that are not what they were."""
    if _is_constant(guard, SYMBOLIC):
        return [guard.source]
    if guard.type == "SEQUENCE_LENGTH":
        return [f"len({guard.source})"]
    if guard.type == "SHAPE_ENV":  # a size that was to be equal to another
        return [guard.source]
    if guard.type == "TENSOR_MATCH" and type(value) in SYMBOLIC:
        return [guard.source]
    if guard.type == "SIZE_MATCH":
        return _axes(guard, value.shape, "size")
    if guard.type == "STRIDE_MATCH":
        return _axes(guard, value._stride, "stride")
    return []


def _axes(guard: Guard, seen: tuple[int, ...], what: str) -> list[str]:
    """Of another rank, all sizes are others."""
    if len(seen) != len(guard.axes):
        differ = [*range(len(seen))] if what == "size" else []
    else:
        pairs = enumerate(zip(guard.axes, seen))
        differ = [n for n, (a, b) in pairs if a is not None and a != b]
    return [f"{guard.source}.{what}()[{n}]" for n in differ]


def _constants(guard: Guard) -> list[str]:
    """The names of values that a variant has as constants, of lengths and of keys."""
    if guard.type == "SEQUENCE_LENGTH":
        return [f"len({guard.source})"]
    if guard.type == "DICT_KEYS_MATCH":
        return [f"keys({guard.source})"]
    return [guard.source] if _is_constant(guard, VARYING) else []


def _is_constant(guard: Guard, kinds: tuple[type, ...]) -> bool:
    """Does it say that a value of one of these types is a constant?"""
    begins = tuple(f"type({guard.subject}) is {kind.__name__} and" for kind in kinds)
    return guard.type == "EQUALS_MATCH" and guard.code.startswith(begins)
