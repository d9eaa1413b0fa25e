"""Small functions, each against eager: what is captured gives what CPython gives."""

from __future__ import annotations

import gc
import math
import operator
import weakref
from collections import OrderedDict, defaultdict

import pytest

import labcore as torch

from .differential import captured, check
from .subjects import CONFIG, FLAG, PAIR, SCALE, Layer, helper, m23, variadic, x4


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
    sizes = [
        len(x),
        abs(-2),
        min(3, 1),
        max(2, 7),
        int(2.7),
        float("1.5"),
        round(2.567, 1),
        divmod(7, 2),
    ]
    return (
        x * sum([1, 2]),
        sizes,
        isinstance(x, torch.Tensor),
        type(x) is torch.Tensor,
        callable(helper),
    )


def enumerations(x):
    total = x
    for i, (a, b) in enumerate(zip((1, 2), (3.0, 4.0)), start=1):
        total = total * i + a - b
    return total, list(reversed((1, 2))), tuple(range(3)), any((0, 1)), all(())


def iterators_are_shared(x):
    pairs = [a * b for a, b in zip(*[iter([x, x + 1, x + 2, x + 3])] * 2)]
    rest = iter([0, 1, 2, 3])
    return pairs, any(rest), list(rest), all(zip(iter(()), rest)), list(zip())


def iterators_see_what_a_list_is_given_later(x):
    made, numbers = [x], [1]
    waiting, numbered, backwards = iter(made), enumerate(made), reversed(made)
    made.append(x + 1)
    for i, _ in enumerate(numbers):
        if i < 3:
            numbers.append(i)
    found = list(waiting), list(numbered), list(backwards), numbers
    made.append(2)
    return found, list(waiting)  # exhausted is exhausted


def views_see_what_a_dict_is_given_later(x):
    made = {"a": x}
    keys, values, items = made.keys(), made.values(), made.items()
    made["b"] = x + 1
    return list(keys), list(values), list(items), len(keys)


def sums(x):
    return sum([0.1] * 10), sum([0.1, 0.2, x, 0.3]), sum([(1,), (x,)], ()), sum([], x) is x


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
    return (
        x.shape,
        x.size(0),
        x.ndim,
        x.dtype,
        x.dim(),
        x.numel(),
        x.stride(),
        x.is_contiguous(),
        x.requires_grad,
        len(x),
    )


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


UNARY = [
    comprehension,
    nested_comprehension,
    loop_over_tuple,
    while_loop,
    break_continue,
    chained,
    closure,
    counter_closure,
    builtins_,
    enumerations,
    iterators_are_shared,
    iterators_see_what_a_list_is_given_later,
    views_see_what_a_dict_is_given_later,
    sums,
    dicts,
    texts,
    lists,
    shapes,
    metas,
    walrus,
    asserting,
    defaults_used,
    star_calls,
    globals_,
    math_,
    lambda_,
    unused_work,
    none,
    to_same_type,
]


@pytest.mark.parametrize("function", UNARY, ids=lambda f: f.__name__)
def test_one_tensor(function):
    captured(function, x4())


@pytest.mark.parametrize(
    "function", [swaps, cat_and_stack, identities, structure], ids=lambda f: f.__name__
)
def test_two_tensors(function):
    captured(function, x4(), torch.ones(4))
    same = x4()
    captured(function, same, same)


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
    captured(
        lambda m, x: (m.twice(x), m.kind, m.weight, hasattr(m, "nope"), getattr(m, "nope", 5)),
        layer,
        m23(),
    )
    captured(layer.forward, m23())
    captured(layer, m23())


def test_a_returned_function_works():
    x = x4()
    report = captured(returned_function, x)
    assert report.counter.frame_count == 0
    made = torch.compile(returned_function, backend=report.counter)(x)
    assert made.__defaults__[0] is x and made(torch.ones(2)).tolist() == [3.0, 3.0]


def test_a_returned_function_shares_the_variables_it_closes_over():
    n = 1

    def adds(x):
        return x + 1, lambda: n

    def calls(x, maker):
        return maker(x)

    for function in (adds, lambda x: calls(x, adds)):
        n = 1
        result, read = torch.compile(function, backend="eager", fullgraph=True)(x4())
        n = 5
        assert read() == 5


def test_a_call_asks_the_class_and_not_the_instance():
    class Adds:
        def __call__(self, x):
            return x + 1

    adds = Adds()
    adds.__call__ = lambda x: x - 1
    captured(lambda x: adds(x), x4())


def test_keyword_and_default_arguments_of_the_compiled_function():
    captured(helper, x4())
    captured(helper, x4(), 3, shift=2)
    captured(helper, factor=1, x=x4())
    captured(variadic, x4(), 1, 2, a=3)
    captured(lambda x, /, *, k: x * k, x4(), k=2)


def test_requires_grad_of_what_is_made_inside():
    def facts(x):
        made = torch.zeros_like(x), torch.ones_like(x), x[1:], x.view(2, 2), x * 2, x > 0
        return [y.requires_grad for y in made], made

    leaf = torch.ones(4, requires_grad=True)
    captured(facts, leaf)
    with torch.no_grad():
        captured(facts, leaf)


def test_tensors_are_not_kept_alive():
    compiled = torch.compile(lambda x: x * 2, backend=lambda gm, example_inputs: gm.forward)
    x = x4()
    compiled(x)
    ref = weakref.ref(x)
    del x
    gc.collect()
    assert ref() is None


def test_ids_are_those_of_the_objects() -> None:
    def ids(x, a, b):
        return id(a) == id(b), id(x), {id(x) == id(x): id(a)}, x + 1

    compiled, one, other = torch.compile(ids), [1], [1]
    for a, b in ((one, one), (one, other), (one, one)):
        x = x4()
        found = compiled(x, a, b)
        assert found[:3] == (a is b, id(x), {True: id(a)})


def test_of_the_library_a_list_of_modules_is_read():
    import colorsys
    import functools

    def read(x):
        return functools.reduce(lambda a, b: a * b, [x, x, 2])

    def not_read(x):
        return x * colorsys.rgb_to_hls(0.5, 0.25, 0.25)[1]

    captured(read, x4())
    (event,) = check(not_read, x4()).breaks
    assert event.what == "call of colorsys.rgb_to_hls()"


@pytest.mark.parametrize("function", [dict, print, lambda **names: names])
def test_names_are_texts(function):
    def f(x, names):
        return x + 1, function(**names)

    check(f, x4(), {1: 2})
    check(f, x4(), {"a": 1, 2: 3})


def collections_of_generators(x):
    pairs = lambda: ((key, x * n) for n, key in enumerate("ab"))
    made = OrderedDict(pairs()), OrderedDict(pairs(), c=1), defaultdict(list, pairs())
    return made, type(made[0])(pairs()), made[2].default_factory is list, made[2]["new"]


def texts_are_mapped(x):
    table, same = str.maketrans("ab", "xy"), "".maketrans({"a": "b"})
    texts = "cab".translate(table), "cab".translate(same)
    return x + 1, texts, b"cab".translate(bytes.maketrans(b"a", b"z"))


def names_of_functions(x):
    found = [function.__name__ for function in (torch.relu, math.sqrt, len)]
    return torch.relu(x), found, hasattr(torch.relu, "__name__")


def methods_are_compared(x):
    one, other = Layer(2.0), Layer(2.0)
    equal = one.__call__ == one.__call__, one.__call__ == other.__call__
    return one(x), equal, one.__call__ != other.__call__, one.__call__ in [1, one.__call__]


@pytest.mark.parametrize(
    "function",
    [collections_of_generators, texts_are_mapped, names_of_functions, methods_are_compared],
)
def test_what_builtins_tell(function):
    captured(function, x4())
