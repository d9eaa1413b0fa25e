"""A2.6: calls."""

import functools
import operator


def _all_kinds(a, b=2, /, c=3, *args, d, e=5, **kwargs):
    return a * b + c + len(args) + d * e + len(kwargs)


def every_kind_of_parameter(x):
    return _all_kinds(x, d=1), _all_kinds(x, 1, 2, 3, 4, d=5, e=6, f=7)


def star_arguments(x, pair):
    args, kwargs = [x, *pair], {"d": 2, "z": 3}
    return _all_kinds(*args, **kwargs), _all_kinds(x, *pair, d=1, **{"e": 2})


def wrong_arguments(x):
    return _all_kinds(x)


def mutable_default(x):
    def collect(value, into=[]):
        into.append(value)
        return into

    collect(1)
    return x * len(collect(2))


class _Base:
    scale = 2

    def __init__(self, bias=1):
        self.bias = bias

    def forward(self, t):
        return t * self.scale + self.bias

    @classmethod
    def of(cls, bias):
        return cls(bias)

    @staticmethod
    def double(t):
        return t * 2

    @property
    def doubled_bias(self):
        return self.bias * 2


class _Child(_Base):
    scale = 3

    def forward(self, t):
        return super().forward(t) + super().double(t)


BASE, CHILD = _Base(), _Child()


def methods(x):
    return BASE.forward(x), CHILD.forward(x), BASE.double(x), _Base.double(x)


def bound_method_kept(x):
    forward = BASE.forward
    return forward(x) + _Base.forward(CHILD, x)


def class_method(x):
    return _Child.of(4).forward(x)


def property_read(x):
    return x * BASE.doubled_bias


def super_call(x):
    return CHILD.forward(x)


def partial_made_inside(x):
    add = functools.partial(operator.add, x)
    scaled = functools.partial(_all_kinds, d=2)
    return add(1), scaled(x), scaled(x, d=3)


PARTIAL = functools.partial(_all_kinds, d=4)


def partial_from_outside(x):
    return PARTIAL(x), PARTIAL.keywords["d"]


def _logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) + 1

    return wrapper


@_logged
def _wrapped(t):
    return t * 2


def wraps_outside(x):
    return _wrapped(x), _wrapped.__name__


def wraps_inside(x):
    def f(t):
        return t + 1

    @functools.wraps(f)
    def g(t):
        return f(t) * 2

    return g(x), g.__name__


def reduce(x, numbers):
    return functools.reduce(lambda a, b: a * b, numbers, x), functools.reduce(operator.add, numbers)


@functools.lru_cache
def _cached(n):
    return n * 2


@functools.cache
def _fibonacci(n):
    return n if n < 2 else _fibonacci(n - 1) + _fibonacci(n - 2)


def lru_cache(x, n):
    return x * _cached(n) + _fibonacci(10)


def _power(t, n):
    return t if n == 0 else _power(t * 2, n - 1)


def recursion(x, n):
    return _power(x, n)


def mutual_recursion(x):
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    return x * even(4)


def keyword_only_from_outside(x):
    def f(t, *, scale):
        return t * scale

    return f(x, scale=3)


def lambda_called_at_once(x):
    return (lambda a, *b, **c: a * len(b) + c["k"])(x, 1, 2, k=3)


def callable_from_a_dict(x):
    table = {"relu": torch.relu, "twice": lambda t: t * 2}
    return table["relu"](x) + table["twice"](x)


def function_attributes(x):
    return _power.__name__, _power.__defaults__, _cached.__wrapped__(3), x


@functools.singledispatch
def _dispatched(value):
    return 0


@_dispatched.register
def _(value: int):
    return value + 1


def single_dispatch(x, n):
    return x * _dispatched(n)


def method_of_a_class_attribute(x):
    return getattr(BASE, "forward")(x) * getattr(BASE, "missing", 2)


def partial_method(x):
    class_ = _WithPartial
    return class_().twice(x)


class _WithPartial:
    def scale(self, k, t):
        return t * k

    twice = functools.partialmethod(scale, 2)
