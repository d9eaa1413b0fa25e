"""Small functions, each against eager: what is captured gives what CPython gives."""
from __future__ import annotations

import math
import operator

import pytest

import labcore as torch

from .differential import captured, check

SCALE = 3.0
FLAG = True
PAIR = (2, 0.5)
CONFIG = {"scale": 2.0, "steps": 3}


def helper(x, factor=2, *, shift=1.0):
    return x * factor + shift


def variadic(*args, **kwargs):
    return args[0] * len(args) + sum(kwargs.values())


class Layer:
    kind = "linear"

    def __init__(self, weight, bias):
        self.weight, self.bias, self.training = weight, bias, True

    def forward(self, x):
        out = x @ self.weight
        return out + self.bias if self.training else out

    @staticmethod
    def twice(x):
        return x * 2

    def __call__(self, x):
        return self.forward(x).relu()


def x4():
    return torch.tensor([1.0, -2.0, 3.0, -0.0])


def m23():
    return torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])


def comprehension(x):
    return [x * i for i in range(3)]


def nested_comprehension(x):
    return [[x + i + j for j in range(2)] for i in range(2) if i != 5]


def loop_over_tuple(x):
    for factor in PAIR:
        x = x * factor
    return x


def while_loop(x):
    n = 0
    while n < 3:
        x = x + n
        n += 1
    else:
        x = x * 2
    return x


def break_continue(x):
    for i in range(10):
        if i == 1:
            continue
        if i == 4:
            break
        x = x + i
    return x, i


def chained(x):
    n = x.shape[0]
    return x if 0 < n <= 4 < 10 else x * 2


def swaps(x, y):
    x, y = y, x
    (a, b), *rest, c = (x, y), 1, 2, y
    return a - b, rest, c


def closure(x):
    factor = 2.5

    def inner(y):
        return y * factor
    return inner(x) + inner(x)


def counter_closure(x):
    n = 0

    def step(y):
        nonlocal n
        n += 1
        return y * n
    return step(x) + step(x), n


def returned_function(x):
    factor = 3

    def inner(y, z=x):
        return y * factor
    return inner


def builtins_(x):
    sizes = [len(x), abs(-2), min(3, 1), max(2, 7), int(2.7), float("1.5"), round(2.567, 1), divmod(7, 2)]
    return x * sum([1, 2]), sizes, isinstance(x, torch.Tensor), type(x) is torch.Tensor, callable(helper)


def enumerations(x):
    total = x
    for i, (a, b) in enumerate(zip((1, 2), (3.0, 4.0)), start=1):
        total = total * i + a - b
    return total, list(reversed((1, 2))), tuple(range(3)), any((0, 1)), all(())


def dicts(x):
    made = {"a": x + 1, "b": 2}
    made["c"] = made["a"] * made.get("b", 0)
    return made, [key for key in made], "a" in made, made.get("zz"), list(made.items())[1]


def texts(x):
    return f"{x.shape[0]:>3}|{SCALE!r}|{'a' + 'b'}", "x".join(("a", "b")), "abc"[1:], x


def lists(x):
    made = [x]
    made.append(x + 1)
    made += [1, 2]
    made[2] = "two"
    last = made.pop()
    return made, last, made[0] is x, len(made)


def shapes(x):
    return x.shape, x.size(0), x.ndim, x.dtype, x.dim(), x.numel(), x.stride(), x.is_contiguous(), x.requires_grad, len(x)


def metas(x):
    y = x * 2
    return y.shape, y.shape[0] * 2, y.dtype is torch.float32, y.shape[1:], y.numel()


def walrus(x):
    return (y := x + 1) * y


def asserting(x):
    assert x.shape[0] == 4, "four"
    return x * 2


def conditional(x, flag):
    return x + 1 if flag else x - 1


def defaults_used(x):
    return helper(x), helper(x, 3), helper(x, factor=4, shift=0.0)


def star_calls(x):
    args, options = (x, 2), {"shift": 0.5}
    return helper(*args, **options) + variadic(x, 1, k=2)


def recursive(x, n):
    return x if n == 0 else recursive(x + n, n - 1)


def globals_(x):
    return x * SCALE + PAIR[1] * CONFIG["scale"], FLAG


def math_(x):
    return x * math.sqrt(4.0) + math.pi, math.floor(2.5), operator.mul(x, 2)


def lambda_(x):
    return (lambda y, k=2: y * k)(x)


def cat_and_stack(x, y):
    return torch.cat([x, y]), torch.stack((x, y), dim=1)


def unused_work(x):
    x + 1
    x.relu()
    return x


def none(x):
    x * 2


def identities(x, y):
    return x is y, x is None, None is None, (x, x)[0] is x, x is not x


def structure(x, y):
    z = x + y
    return {"z": z, "again": [z, (z, x)], "n": None}, (), [], x


def to_same_type(x):
    return x.to(torch.float32), x.contiguous(), x.float(), x.reshape(2, 2).flatten()


def ternary_none(x, bias=None):
    return x if bias is None else x + bias


def boolean_chain(x, a, b):
    return x * 2 if a and not b or a == 5 else x


def or_value(x, a):
    return x * (a or 7), a and 3


UNARY = [comprehension, nested_comprehension, loop_over_tuple, while_loop, break_continue, chained, closure,
         counter_closure, builtins_, enumerations, dicts, texts, lists, shapes, metas, walrus, asserting,
         defaults_used, star_calls, globals_, math_, lambda_, unused_work, none, to_same_type]


@pytest.mark.parametrize("function", UNARY, ids=lambda f: f.__name__)
def test_one_tensor(function):
    captured(function, x4())


@pytest.mark.parametrize("function", [swaps, cat_and_stack, identities, structure], ids=lambda f: f.__name__)
def test_two_tensors(function):
    captured(function, x4(), torch.ones(4))
    same = x4()
    captured(function, same, same)


@pytest.mark.parametrize("expression", [
    "x + 1", "1 - x", "x * 2.5", "2 / x", "x / 3", "x // 2", "x % 2", "x ** 2", "2 ** x", "-x", "abs(x)",
    "x > 0", "0 >= x", "x == x", "x != 1", "(x > 0) & (x < 2)", "~(x > 0)", "(x > 0) | (x < -1)", "x @ x", "1.0 * x",
    "x[0]", "x[-1]", "x[1:3]", "x[None]", "x[..., 0]", "x[::2]", "x[1:][0]", "x[:, None]", "x.T", "x.sum()",
    "x.mean(dim=0, keepdim=True)", "x.view(2, 2)", "x.reshape((2, -1))", "x.unsqueeze(0).squeeze()", "torch.exp(x)",
    "torch.where(x > 0, x, 0.0)", "torch.maximum(x, -x)", "x.clamp(-1, 1)", "x.relu().sigmoid().tanh()",
    "torch.zeros(4) + x", "torch.full((2,), 3.0)", "torch.ones_like(x) * x", "torch.arange(4) * x", "x.double()",
    "x.to(torch.int64)", "x.to(x.dtype) is x", "x.expand(3, 4)", "x.amax()", "x.new_zeros(3)", "x.add(x, alpha=2)",
    "(x, x + 1, [x])", "x.T is x", "True + x", "x * True", "x.size()[0]", "torch.is_tensor(x)", "x.isnan()",
    "[row for row in x.view(2, 2)]", "x.numel() * x", "torch.get_default_dtype()", "len(x.view(2, 2)[0])",
    "x.permute(0)", "torch.matmul(x.view(2, 2), x.view(2, 2))", "sum([x, x, x])", "x + (1 if x.ndim == 1 else 2)",
])
def test_expression(expression):
    captured(eval(f"lambda x: {expression}", {"torch": torch}), x4())


@pytest.mark.parametrize("value", [1, 0, -3, True, False, 2.5, -0.0, float("inf"), "text", None, (1, 2), [], {}, {"a": 1}])
def test_arguments_that_are_python_values(value):
    captured(lambda x, v: (x + 1, v, v is None, [v]), x4(), value)


def test_numbers_take_part_in_operators():
    captured(lambda x, k: x * k + k, x4(), 3)
    captured(lambda x, k: x * k + k, x4(), -0.0)
    captured(conditional, x4(), True)
    captured(conditional, x4(), 0)
    captured(ternary_none, x4())
    captured(ternary_none, x4(), torch.ones(4))
    captured(or_value, x4(), 0)
    captured(boolean_chain, x4(), 5, 1)
    captured(recursive, x4(), 4)


def test_objects_are_read_with_their_methods():
    layer = Layer(torch.ones(3, 2), torch.ones(2))
    captured(lambda m, x: m(x), layer, m23())
    captured(lambda m, x: (m.twice(x), m.kind, m.weight, hasattr(m, "nope"), getattr(m, "nope", 5)), layer, m23())
    captured(layer.forward, m23())
    captured(layer, m23())


def test_a_returned_function_works():
    x = x4()
    report = captured(returned_function, x)
    assert report.counter.frame_count == 0
    made = torch.compile(returned_function, backend=report.counter)(x)
    assert made.__defaults__[0] is x and made(torch.ones(2)).tolist() == [3.0, 3.0]


def test_keyword_and_default_arguments_of_the_compiled_function():
    captured(helper, x4())
    captured(helper, x4(), 3, shift=2)
    captured(helper, factor=1, x=x4())
    captured(variadic, x4(), 1, 2, a=3)
    captured(lambda x, /, *, k: x * k, x4(), k=2)


@pytest.mark.parametrize("call", [
    lambda f: f(), lambda f: f(x4(), 1, 2), lambda f: f(x4(), nope=1), lambda f: f(x4(), x=1),
])
def test_a_wrong_call_raises_what_eager_raises(call):
    with pytest.raises(TypeError) as expected:
        call(helper)
    with pytest.raises(TypeError) as found:
        call(torch.compile(helper, backend="eager"))
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("function", [
    lambda x: x + torch.ones(3), lambda x: x @ torch.ones(5, 5), lambda x: x[9], lambda x: x.view(3), lambda x: x.nope,
    lambda x: x(), lambda x: undefined_name, lambda x: helper(x, 1, 2, 3), lambda x: helper(), lambda x: (1, 2)[5],
    lambda x: CONFIG["nope"], lambda x: 1 / 0 * x, lambda x: [a for a, b in (1, 2)], lambda x: x.sum(dim=4),
    lambda x: x & 1.5, lambda x: len(3), lambda x: "a" + 1, lambda x: x[1.5], lambda x: x + "a", lambda x: x + None,
    lambda x: torch.cat([x, torch.ones(2, 2)]), lambda x: helper(x, factor=1, nope=2), lambda x: math.nope,
    lambda x: x.relu(1, 2, 3), lambda x: iter(5), lambda x: x.shape[7], lambda x: sum(3), lambda x: None.a, lambda x: x[()][1, 2],
])
def test_what_eager_raises_is_raised_and_nothing_is_kept(function):
    report = check(function, x4())
    assert not report.breaks and report.counter.frame_count == 0


def raiser(x):
    y = x * 2
    if x.shape[0] == 4:
        raise ValueError("four is bad")
    return y


def test_a_raise_statement_raises_with_the_users_line():
    compiled = torch.compile(raiser, backend="eager")
    with pytest.raises(ValueError, match="four is bad") as caught:
        compiled(x4())
    assert str(caught.traceback[-1].path) == __file__
    assert caught.value.__context__ is None
    assert compiled(torch.ones(3)).tolist() == [2.0, 2.0, 2.0]
