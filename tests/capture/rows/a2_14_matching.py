"""A2.14: pattern matching, and instructions that differ between Pythons."""

from collections import namedtuple
from dataclasses import dataclass

Point = namedtuple("Point", "a b")


@dataclass
class _Shape:
    kind: str
    size: int


SHAPE = _Shape("square", 3)


def match_literals(x, n, s):
    match s:
        case "sigmoid":
            return x
        case "relu" | "gelu":
            x = x * 2
    match n:
        case 1 | 2:
            return x
        case int() if n > 2:
            return x + n
        case _:
            return -x


def match_sequences(x, numbers):
    match numbers:
        case [a]:
            return x * a
        case [a, *rest] if len(rest) == 2:
            return x * a + rest[1], rest
    return x


def match_tuple(x, pair):
    match pair:
        case (0, _):
            return x
        case (a, float() as b):
            return x * a * b
    return x


def match_mapping(x, table):
    match table:
        case {"c": _}:
            return x
        case {"a": a, **rest}:
            return x * a, rest
    return x


def match_class(x):
    match SHAPE:
        case _Shape(kind="circle"):
            return x
        case _Shape("square", size):
            return x * size
    return x


def match_none_and_bool(x, nothing, flag):
    match nothing:
        case None:
            x = x + 1
    match flag:
        case False:
            x = x * 0
        case True:
            x = x * 2
    return x


def match_named_tuple(x):
    match Point(x, 2):
        case Point(a=t, b=2):
            return t * 2
    return x


def match_tensor_class(x):
    match x:
        case torch.Tensor():
            return x + 1
    return x


def match_capture_nested(x):
    match {"op": ("add", [1, 2])}:
        case {"op": ("add", [a, b])}:
            return x + a + b
    return x


def keyword_calls(x):
    def f(t, *, scale=1, bias=0):
        return t * scale + bias

    return f(x, scale=2, bias=3), f(t=x), torch.sum(x, dim=1, keepdim=True)


def exception_in_comprehension(x):
    try:
        return [x * (1 // i) for i in (1, 0)]
    except ZeroDivisionError:
        return x


def comprehension_restores_names(x, n):
    values = [n for n in range(4)]
    return x * n, values


def super_attribute(x):
    class_ = _Derived
    return class_().value(x)


class _Parent:
    k = 2

    def value(self, t):
        return t * self.k


class _Derived(_Parent):
    def value(self, t):
        return super().value(t) + super().k


def unpack_many(x):
    a, b, c, d = 1, 2, 3, x
    [e, f] = [c, d]
    return f * e + a + b


def deep_expression(x):
    return ((((x + 1) * 2 - 3) / 4) ** 2).sum() + (x * (x + (x - (x * 2)))).mean()


def returns_constant(x):
    x + 1
    return 42


def returns_nothing(x):
    x * 2


def boolean_short_circuit(x, n, nothing):
    return (nothing or n) and x * 2, (n and nothing) is None, n if n else nothing


def deleted_in_loop(x):
    for i in range(2):
        t = x * i
        del t
    return x
