"""`is`: decided by looking at identities only, guarded by as little as settles it."""

from __future__ import annotations

from typing import Any

from ...guards import kinds
from ..breaks import Break
from ..variables import Constant, Lazy, NumberVariable, Variable
from .core import Interpreter

SINGLETONS = (None, True, False, ...)
KEPT_ONCE = range(-5, 257)  # there is one object of each of these integers
COMPARED_BY_VALUE = (int, float, complex, str, bytes, tuple, range, frozenset)


def same(vm: Interpreter, a: Variable, b: Variable) -> bool:
    """`a is b`."""
    if isinstance(b, Lazy) and not isinstance(a, Lazy):
        a, b = b, a
    if vm.frames[-1].ours and _left_to_equality(a) and _left_to_equality(b):
        return a is b
    other = b.seen if isinstance(b, Lazy) else b
    if (
        isinstance(a, Lazy)
        and isinstance(other, Constant)
        and any(other.value is s for s in SINGLETONS)
    ):
        return _against_singleton(vm, a, other.value)
    if isinstance(a, Lazy) and isinstance(b, Lazy):
        return _two_inputs(vm, a, b)
    a, b = vm.look(a), vm.look(b)
    if isinstance(a, Constant) and isinstance(b, Constant):
        return _two_constants(vm, a.value, b.value)
    numbers = isinstance(a, NumberVariable), isinstance(b, NumberVariable)
    if all(numbers) or any(numbers) and isinstance(a, Constant) | isinstance(b, Constant):
        return _number_is(a, b)
    if a is b:
        return True
    value, other_value = _object(a), _object(b)
    if a.home and b.home and type(value) is type(other_value) and value is not other_value:
        _stay_different(vm, a, b)
    # what was made inside, by this very call, is nothing else's twin
    return value is not None and value is other_value


def _against_singleton(vm: Interpreter, lazy: Lazy, value: Any) -> bool:
    hit = lazy.value is value
    if lazy.seen is None:
        name, home = lazy.source.name, vm.builder.load(lazy.source)
        code = f"{home} is {'' if hit else 'not '}{value!r}"
        words = f"{name!r} is {'no longer' if hit else 'now'} {value!r}"
        expected = f"{'' if hit else 'not '}{value!r}"
        vm.builder.add(
            kinds.condition("ID_MATCH", name, code, home, expected, words, vm.builder.origin)
        )
    return hit


def _two_inputs(vm: Interpreter, a: Lazy, b: Lazy) -> bool:
    hit = a.value is b.value
    first, second = vm.builder.load(a.source), vm.builder.load(b.source)
    if first != second:
        name = f"{a.source.name}, {b.source.name}"
        change = "no longer" if hit else "now"
        words = f"{a.source.name!r} and {b.source.name!r} are {change} the same object"
        code = f"{first} is {'' if hit else 'not '}{second}"
        vm.builder.add(
            kinds.condition(
                "DUPLICATE_INPUT",
                name,
                code,
                first,
                "the same" if hit else "different",
                words,
                vm.builder.origin,
            )
        )
    return hit


def _stay_different(vm: Interpreter, a: Variable, b: Variable) -> None:
    """Two objects that were looked at before: the same one in both places is another variant."""
    words = f"{a.home!r} and {b.home!r} are now the same object"
    code, origin = f"{a.home} is not {b.home}", vm.builder.origin
    names = f"{a.home}, {b.home}"
    vm.builder.add(
        kinds.condition("DUPLICATE_INPUT", names, code, a.home, "different", words, origin)
    )


def _object(variable: Variable) -> Any:
    """The object from outside that a variable stands for, or None."""
    return getattr(variable, "value", None)


def _left_to_equality(variable: Variable) -> bool:
    """A polyfill asks `is` of what it then asks `==`, which answers for these."""
    value = variable.value if isinstance(variable, (Lazy, Constant, NumberVariable)) else None
    return type(value) in (int, str, bytes)


def _number_is(a: Variable, b: Variable) -> bool:
    """Whether equal numbers are one object is CPython's business; others never are."""
    if a is b or a.kind != b.kind:
        return a is b
    one, other = (v.number if isinstance(v, NumberVariable) else v.value for v in (a, b))  # type: ignore[attr-defined]
    if one == other or one != one:  # a nan may be itself
        raise Break("operation", what="`is` between equal numbers or texts")
    return False


def _two_constants(vm: Interpreter, a: Any, b: Any) -> bool:
    """Numbers and texts are compared by value nowhere: whether equal ones are one object is
    CPython's own business, but for small integers. A polyfill only asks to save a `==`."""
    if type(a) is not type(b):
        return False
    if type(a) in COMPARED_BY_VALUE and a == b:
        if vm.frames[-1].ours or type(a) is int and a in KEPT_ONCE:
            return True
        raise Break("operation", what="`is` between equal numbers or texts")
    return a is b
