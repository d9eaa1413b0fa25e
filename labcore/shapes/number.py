"""`SymInt` and `SymFloat`: numbers that compute as Python's do, and remember how.

In: symbols of a `ShapeEnv`, Python numbers.  Out: expressions, printed as the Python that computes
them; comparisons give real bools, the ones of the values seen (see `env.py`).
Invariant: evaluating `text` gives bit for bit what Python gives; ints that are polynomials have one
form, whatever way they were computed.
hash(), range() and a list's index get the value seen; the expression is assumed to have it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .env import SYMBOL, ShapeEnv
from .expr import Expr

Function = Callable[..., Any]


class SymNumber:
    """Base. `env` knows the symbols; `hint` is the value for the numbers seen."""

    __slots__ = ("env",)
    env: ShapeEnv

    @property
    def text(self) -> str:
        """Python for it, which can stand anywhere in a larger expression."""
        raise NotImplementedError

    @property
    def hint(self) -> Any:
        raise NotImplementedError

    @property
    def symbols(self) -> set[str]:
        return set(SYMBOL.findall(self.text))

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """The number it is for these values of the symbols."""
        return eval(self.text, {"math": math}, dict(values))

    def fixed(self) -> Any:
        """The value seen, assumed to be the value."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return bare(self.text)

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(self.fixed(), spec) if spec else repr(self)

    def __hash__(self) -> int:
        return hash(self.fixed())

    def __copy__(self) -> SymNumber:
        return self

    def __deepcopy__(self, memo: Any) -> SymNumber:
        return self

    # ---- comparisons ----

    def __eq__(self, other: object) -> Any:
        return _compared("==", operator.eq, self, other)

    def __ne__(self, other: object) -> Any:
        return _compared("!=", operator.ne, self, other)

    def __lt__(self, other: Any) -> Any:
        return _compared("<", operator.lt, self, other)

    def __le__(self, other: Any) -> Any:
        return _compared("<=", operator.le, self, other)

    def __gt__(self, other: Any) -> Any:
        return _compared(">", operator.gt, self, other)

    def __ge__(self, other: Any) -> Any:
        return _compared(">=", operator.ge, self, other)

    def __bool__(self) -> bool:
        return self != 0

    # ---- arithmetic ----

    def __add__(self, other: Any) -> Any:
        return _arithmetic("+", operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return _arithmetic("+", operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return _arithmetic("-", operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _arithmetic("-", operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return _arithmetic("*", operator.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _arithmetic("*", operator.mul, other, self)

    def __truediv__(self, other: Any) -> Any:
        return _divided("/", operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _divided("/", operator.truediv, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _divided("//", operator.floordiv, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _divided("//", operator.floordiv, other, self)

    def __mod__(self, other: Any) -> Any:
        return _divided("%", operator.mod, self, other)

    def __rmod__(self, other: Any) -> Any:
        return _divided("%", operator.mod, other, self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __pow__(self, other: Any) -> Any:
        return _power(self, other)

    def __rpow__(self, other: Any) -> Any:
        return _power(other, self)

    def __neg__(self) -> Any:
        return self * -1 if isinstance(self, SymInt) else computed("(-{0})", operator.neg, self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        low, high = self.env.bounds(self.expr) if isinstance(self, SymInt) else (-1, 1)
        if low >= 0 or high <= 0:
            return self if low >= 0 else -self
        found = computed("({0}.__abs__())", abs, self)
        if isinstance(found, SymInt):
            self.env.ranges.setdefault(found.text, (0, max(-low, high)))
        return found

    def __round__(self, digits: Any = None) -> Any:
        if digits is None:
            return computed("({0}.__round__())", round, self)
        return computed("({0}.__round__({1}))", round, self, digits)

    def __trunc__(self) -> Any:
        return computed("({0}.__trunc__())", math.trunc, self)

    def __floor__(self) -> Any:
        return computed("({0}.__floor__())", math.floor, self)

    def __ceil__(self) -> Any:
        return computed("({0}.__ceil__())", math.ceil, self)

    def __int__(self) -> int:
        return int(self.fixed())

    def __float__(self) -> float:
        return float(self.fixed())


class SymInt(SymNumber):
    """An integer; `expr` is its polynomial over symbols and atoms."""

    __slots__ = ("_expr",)

    def __init__(self, env: ShapeEnv, expr: Expr) -> None:
        self.env, self._expr = env, expr

    @property
    def expr(self) -> Expr:
        return self.env.simplified(self._expr)

    @property
    def text(self) -> str:
        expr = self.expr
        lone = len(expr.terms) == 1 and expr.terms[0][1] == 1 and len(expr.terms[0][0]) == 1
        return str(expr) if lone else f"({expr})"  # (0), as 0.__round__ is no Python

    @property
    def hint(self) -> int:
        return self._expr.value(self.env.values)

    def fixed(self) -> int:
        _announce(self)
        if not self.env.is_zero(self.expr - self.hint):
            raise AssertionError("a value seen is not its own")
        return self.hint

    def __index__(self) -> int:
        return self.fixed()


class SymFloat(SymNumber):
    """A float, kept as the text that computes it: floats round, so no two ways are one."""

    __slots__ = ("_text",)

    def __init__(self, env: ShapeEnv, text: str) -> None:
        self.env, self._text = env, text

    @property
    def text(self) -> str:
        return self._text

    @property
    def hint(self) -> float:
        return self.evaluate(self.env.values)

    def fixed(self) -> float:
        _announce(self)  # by its bits: -0.0 and nan are what they are
        self.env.holds(f"{self.text}.hex() == {self.hint.hex()!r}", True)
        return self.hint


INTS, FLOATS = (int, SymInt), (float, SymFloat)
NUMBERS = (*INTS, *FLOATS)


def number_like(value: Any) -> bool:
    return isinstance(value, NUMBERS)


def fixed(value: Any) -> Any:
    """A number of Python's own."""
    return value.fixed() if isinstance(value, SymNumber) else value


def surely_equal(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Are these ints the same whatever the symbols are? Nothing is assumed."""
    return len(a) == len(b) and all(Expr.of(x) == Expr.of(y) for x, y in zip(a, b))


def hint(value: Any) -> Any:
    """A number as it was seen, for what is only told."""
    return value.hint if isinstance(value, SymNumber) else value


def bare(text: str) -> str:
    """Without a pair of parentheses around all of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:-1] if place == len(text) - 1 else text
    return text


def _announce(number: SymNumber) -> None:
    if number.env.fixing is not None and not number.env.frozen:
        number.env.fixing(number.symbols)


def _text(value: Any) -> str:
    """Python for an operand. Neither inf nor nan is a word of Python's."""
    if isinstance(value, SymNumber):
        return value.text
    if isinstance(value, float) and value != value:
        return "(1e999 - 1e999)"
    text = repr(value).replace("inf", "1e999")
    return f"({text})" if text.startswith("-") else text


def environment(*operands: Any) -> ShapeEnv:
    return next(value.env for value in operands if isinstance(value, SymNumber))


def _whole(*operands: Any) -> bool:
    return all(isinstance(value, INTS) for value in operands)


def computed(template: str, function: Function, *operands: Any) -> Any:
    """function(*operands), as the text that the template makes of theirs.

    What raises for the values seen raises, and they are assumed to be the values.
    """
    try:
        value = function(*map(hint, operands))
    except Exception:
        for operand in operands:
            fixed(operand)
        raise
    env = environment(*operands)
    text = template.format(*map(_text, operands))
    if type(value) is float:
        return SymFloat(env, text)
    if type(value) is not int:
        return function(*map(fixed, operands))
    env.values.setdefault(text, value)
    return SymInt(env, Expr.of(text))


def _polynomial(env: ShapeEnv, expr: Expr) -> Any:
    return SymInt(env, expr) if expr.const is None else expr.const


def _arithmetic(sign: str, function: Function, a: Any, b: Any) -> Any:
    if not (number_like(a) and number_like(b)):
        return NotImplemented
    if not _whole(a, b):
        return computed(f"({{0}} {sign} {{1}})", function, a, b)
    return _polynomial(environment(a, b), function(Expr.of(a), Expr.of(b)))


def _divided(sign: str, function: Function, a: Any, b: Any) -> Any:
    """/ // %, which raise for a divisor of 0."""
    if not (number_like(a) and number_like(b)):
        return NotImplemented
    if b == 0:
        raise ZeroDivisionError(str(_error(function, hint(a), hint(b))))
    if sign != "/" and _whole(a, b):
        return _divided_ints(sign, function, a, b)
    return computed(f"({{0}} {sign} {{1}})", function, a, b)


def _divided_ints(sign: str, function: Function, a: Any, b: Any) -> Any:
    env, dividend, divisor = environment(a, b), Expr.of(a), Expr.of(b)
    exact = dividend.divided(divisor)
    if exact is not None:
        return _polynomial(env, exact) if sign == "//" else 0
    low, high = env.bounds(dividend)
    least, most = env.bounds(divisor)
    if sign == "%" and 0 <= low and high < least:
        return a
    found = computed(f"({{0}} {sign} {{1}})", function, a, b)
    if isinstance(found, SymInt) and least > 0:
        if sign == "%":
            env.ranges.setdefault(found.text, (0, most - 1))
            env.know(divisor - found.expr - 1)
        else:
            if low >= 0:
                env.ranges.setdefault(found.text, (0, high))
            env.know(dividend - found.expr * divisor)
            env.know(found.expr * divisor + divisor - 1 - dividend)
    return found


def _error(function: Function, *values: Any) -> Exception:
    try:
        function(*values)
    except Exception as error:
        return error
    raise AssertionError("a division by zero gave a number")


def _power(a: Any, b: Any) -> Any:
    """What comes out, an int, a float or a complex number, depends on signs: they are asked."""
    if not (number_like(a) and number_like(b)):
        return NotImplemented
    if _whole(a, b):
        if isinstance(b, SymInt) and b < 0 or abs(hint(b)) > 64:
            return fixed(a) ** fixed(b)
    elif not isinstance(b, int) and a < 0:
        return fixed(a) ** fixed(b)
    return computed("({0} ** {1})", operator.pow, a, b)


SIGNS: dict[str, Callable[[ShapeEnv, Expr], bool]] = {
    "==": lambda env, expr: env.is_zero(expr),
    "!=": lambda env, expr: not env.is_zero(expr),
    "<": lambda env, expr: env.is_negative(expr),
    ">=": lambda env, expr: not env.is_negative(expr),
    ">": lambda env, expr: env.is_negative(expr * -1),
    "<=": lambda env, expr: not env.is_negative(expr * -1),
}


def _compared(sign: str, function: Function, a: Any, b: Any) -> Any:
    if not number_like(b):
        return NotImplemented
    env = environment(a, b)
    if _whole(a, b):
        return SIGNS[sign](env, Expr.of(a) - Expr.of(b))
    return env.holds(f"{_text(a)} {sign} {_text(b)}", function(hint(a), hint(b)))
