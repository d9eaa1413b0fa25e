"""A2.8: builtins, and what the standard library computes."""

import copy
import math
import operator
import os
import random
import re
import time

from tests.capture.rows.marks import breaks


def zips(xs, numbers):
    return [t * n for t, n in zip(xs, numbers)], list(zip("ab", "cde", [1, 2])), list(zip())


def zip_strict(xs, numbers):
    return sum(t * n for t, n in zip(xs, numbers, strict=True))


def zip_strict_fails(x, numbers):
    return [x * a * b for a, b in zip(numbers, (1, 2), strict=True)]


def unzip(x):
    a, b = zip(*[(1, x), (2, x + 1)])
    return a, b


def enumerates(xs):
    return [t * i for i, t in enumerate(xs)], list(enumerate("ab", start=5))


def maps(xs, numbers):
    return (
        list(map(lambda t: t * 2, xs)),
        list(map(operator.mul, numbers, (2, 3))),
        [*map(str, [1])],
    )


def filters(xs, numbers):
    return list(filter(lambda i: i > 1, numbers)), list(filter(None, [0, 1, "", "a"])), xs[0] + 1


def reverses(x, numbers, table):
    return [x * i for i in reversed(numbers)], list(reversed("abc")), list(reversed(range(3)))


def sorts(x, numbers):
    return (
        sorted(numbers), sorted(numbers, reverse=True), sorted("bca"),
        sorted(numbers, key=lambda i: -i),
        sorted([(1, "b"), (0, "c"), (1, "a")], key=lambda p: p[0]),
        sorted([(1, "b"), (0, "c"), (1, "a")], key=lambda p: p[0], reverse=True), x + 1,
    )  # fmt: skip


def sort_by_shape(x, xs):
    return sorted([x[0], x, x[:1]], key=lambda t: t.numel()), sorted("Bca", key=str.lower)


def min_and_max(x, numbers):
    return (
        min(numbers), max(numbers), min(3, 1, 2), max("a", "b"), min([], default=4), max(1, 2.5),
        max(numbers, key=lambda i: -i), min("bb", "a", key=len), x * max(x.shape),
    )  # fmt: skip


def min_of_nothing(x):
    return x * max([])


def sums(x, xs, numbers):
    return sum(xs), sum(numbers), sum(numbers, 10), sum([[1], [2]], []), sum(xs, x), sum([0.1] * 10)


def any_and_all(x, numbers):
    return any(i > 2 for i in numbers), all(numbers), any([]), all([]), any([0, 1]), x + all([1, 0])


def any_stops_early(x):
    seen = []

    def test(i):
        seen.append(i)
        return i > 1

    return any(test(i) for i in range(5)), seen, all(map(test, [2, 0, 3])), seen, x


def rounding(x, f):
    return abs(-3), abs(-f), round(2.5), round(f, 1), round(-7.256, 2), divmod(7, 2), pow(2, 3), x


def pow_with_modulus(x):
    return x * pow(3, 4, 5), pow(2.0, -1), divmod(-7.5, 2)


def abs_of_tensor(x):
    return abs(x), pow(x, 2), round(1234.5, -2)


def lengths(x, numbers, table, names, s):
    return len(x), len(numbers), len(table), len(names), len(s), len(range(0, 9, 2)), len((1, x))


def iter_and_next(x, numbers):
    it = iter(numbers)
    first = next(it)
    rest = list(it)
    return x * first, rest, next(it, "done"), next(it, None)


def next_exhausted(x):
    it = iter([1])
    next(it)
    try:
        next(it)
    except StopIteration:
        return x * 2
    return x


def next_raises(x):
    return x * next(iter([]))


def iterator_stays_exhausted(x):
    items = [1]
    it = iter(items)
    a = list(it)
    items.append(2)
    return a, list(it), x


def iter_with_sentinel(x):
    items = [1, 2, 0, 3]
    return [x * i for i in iter(items.pop, 0)], items


def one_iterator_for_two(x):
    it = iter([1, 2, 3, 4])
    return [x * a + b for a, b in zip(it, it)]


def lazy_map(x):
    log = []

    def note(i):
        log.append(i)
        return i

    m = map(note, [1, 2, 3])
    before = list(log)
    first = next(m)
    return before, first, list(log), list(m), log, x * first


def lazy_filter_and_zip(x):
    log = []

    def odd(i):
        log.append(i)
        return i % 2

    pairs = zip(filter(odd, [1, 2, 3]), "ab")
    return next(pairs), list(log), list(pairs), log, x


def nested_iterators(xs):
    total = 0
    for i, (t, (j, u)) in enumerate(zip(xs, enumerate(reversed(xs), 2))):
        total = total + t * i + u * j
    return total


def ranges(x):
    r = range(1, 10, 3)
    return r[1], r[-1], len(r), 4 in r, r.start, r.step, list(r[1:]), r.index(7), x * r.stop, r


def texts(x, s):
    return (
        s.upper(), s.replace("e", "3"), s.split("e"), ",".join(["a", s]), s.startswith(("re", "x")),
        s.find("l"), s[::-1], s.zfill(6), " a ".strip(), s.center(9, "*"), s.partition("l"),
        "a b".title(), s.encode(), s.isalpha(), "a\nb".splitlines(), s.endswith("u"), s * 2, x,
    )  # fmt: skip


def join_of_a_generator(x, numbers):
    return ", ".join(str(i) for i in numbers), "".join(map(str, numbers)), x


def f_strings(x, n, f, s):
    return (
        f"{n}-{f:.3f}-{s!r:>8}-{n + 1:04d}-{f!s}-{'':>{n}}-{n=}",
        f"{x.shape}",
        f"{x.dtype}",
        x * 2,
    )


def formats(x, n, f, s):
    return (
        "{} {0}".replace("0", "").format(n, f), "{a:>{w}}".format(a=s, w=n),
        "{0[1]}".format([1, 2]),
        "%s=%d %.2f %%" % (s, n, f), "%(a)s" % {"a": n}, format(f, ".2e"), format(n, "b"), x,
        "%s" % n, "%r" % (s,), str(n), repr(s), str([1, "a"]), repr({"a": (1, 2)}), str(None),
        "{:{}}".format(n, 4), "{x}".format_map({"x": n}), ascii("é"),
    )  # fmt: skip


def text_of_containers(x, numbers, table):
    return f"{numbers} {table}", str(numbers), repr(table), f"{(1, numbers)!r}", x


def parsing(x):
    return (
        int("12"), int("ff", 16), int(3.9), float("2.5"), bool(""), bool(3),
        str(1.5), complex("1+2j"),
        int(), float(), list("ab"), tuple("ab"), bytes(2), hex(255), bin(5), oct(8), x * int("3"),
    )  # fmt: skip


def parsing_fails(x):
    return x * int("x")


def parsing_fails_caught(x):
    try:
        return x * int("x")
    except ValueError as error:
        return x, str(error)


def characters(x):
    return chr(97), ord("a"), hash("a") == hash("a"), hash((1, 2)) == hash((1, 2)), hash(3), x


def methods_of_numbers(x, n, f):
    return (
        n.bit_length(),
        f.hex(),
        f.as_integer_ratio(),
        (255).to_bytes(2, "big"),
        x,
        (3.0).is_integer(),
    )


def class_methods_of_builtins(x):
    return int.from_bytes(b"\x01\x02", "big"), float.fromhex("0x1p-1"), bytes.fromhex("ff"), x


def unbound_methods(x, numbers):
    return str.upper("a"), list.index(numbers, 1), dict.get({"a": 1}, "a"), int.bit_length(5), x


def maths(x, n, f):
    return (
        math.sqrt(4), math.floor(f), math.ceil(f), math.log(8, 2), math.exp(0), math.gcd(4, 6), x,
        math.prod([1, 2, 3]), math.isclose(f, 0.5), math.inf, math.isnan(math.nan),
        math.hypot(3, 4),
        math.comb(4, 2), math.factorial(n), math.fsum([0.1] * 10), math.copysign(1, -0.0), math.tau,
        math.trunc(2.7), math.modf(1.5), math.frexp(8.0), math.dist([0, 0], [3, 4]), math.isqrt(17),
    )  # fmt: skip


def math_error(x):
    return x * math.sqrt(-1)


def operators(x, y, numbers):
    return (
        operator.add(x, y), operator.mul(2, 3), operator.lt(1, 2), operator.neg(x),
        operator.not_(0),
        operator.getitem(numbers, 1), operator.contains(numbers, 3), operator.truth([]),
        operator.is_(x, x), operator.is_not(x, None), operator.matmul(x, y.t()),
        operator.concat("a", "b"),
        operator.index(3), operator.abs(-2), operator.pow(2, 3), operator.floordiv(7, 2),
        operator.inv(3),
        operator.countOf(numbers, 1), operator.indexOf(numbers, 2), operator.length_hint([1, 2]),
    )  # fmt: skip


def operator_getters(x, numbers):
    first, pair = operator.itemgetter(0), operator.itemgetter(1, 2)
    shape, upper = operator.attrgetter("shape"), operator.methodcaller("upper")
    scaled = operator.methodcaller("mul", 2)
    return (
        first(numbers), pair(numbers), shape(x), upper("a"), scaled(x),
        sorted([(1, 3), (2, 1)], key=operator.itemgetter(1)),
        operator.attrgetter("shape", "ndim")(x),
    )  # fmt: skip


def operator_in_place(x, numbers):
    copy = list(numbers)
    return operator.iadd(copy, [1]), operator.iadd(2, 3), operator.imul(2, 3), x


def operator_items(x, numbers, table):
    operator.setitem(numbers, 0, x)
    operator.delitem(table, "a")
    return numbers[0] * 2


def torch_helpers(x):
    return (
        torch.is_tensor(x), torch.is_tensor(1), torch.numel(x), torch.is_floating_point(x),
        torch.get_default_dtype(), torch.is_grad_enabled(), torch.tensor([1.0, 2.0]) * 2,
        torch.zeros(2, 3) + x, torch.arange(3), torch.full((2,), 1.5),
    )  # fmt: skip


def type_constructors(x, numbers):
    return (
        list(numbers),
        tuple(numbers),
        set(numbers),
        dict(a=1),
        dict(zip("ab", numbers)),
        frozenset("a"),
        x,
    )


def slice_objects(x):
    s = slice(1, None)
    return x[:, s], s.start, slice(3) == slice(None, 3, None), slice(5).indices(3)


def shallow_copy(x, numbers, table):
    return copy.copy((1, 2)), copy.copy(numbers), copy.copy(table), x


def deep_copy(x, numbers):
    made = copy.deepcopy([numbers, {"a": numbers}])
    made[0].append(4)
    return made, x * len(numbers)


def vars_of_an_object(x):
    return x, "abc".__len__(), (3).__add__(4), [1].__len__(), (1, 2).__contains__(2)


def identities(x, y):
    return id(x) == id(x), id(x) == id(y), id(None) == id(None)


@breaks("side-effect-call")
def prints(x):
    y = x + 1
    print("shape", y.shape)
    return y * 2


@breaks("unknown-call")
def clock(x):
    start = time.time()
    return x * (start > 0)


@breaks("unknown-call")
def random_number(x):
    return x * (0 <= random.random() < 1)


def environment(x):
    return x * len(os.environ.get("SURELY_NOT_SET", "four"))


def path_functions(x):
    return os.path.join("a", "b"), os.path.basename("a/b.py"), os.path.splitext("a.py")[1], x


def dictionary_views(x, table):
    keys, values, items = table.keys(), table.values(), table.items()
    return (
        len(keys),
        1.0 in values,
        ("a", 1.0) in items,
        "b" in keys,
        list(items)[0],
        sum(values),
        x,
    )


def type_of_results(x):
    return (
        type(1 + 1.0),
        type("a" + "b") is str,
        type([]),
        type({}),
        type(x),
        type(x.shape),
        type(None),
    )


def error_in_a_builtin(x):
    return x + len(5)


PATTERN = re.compile(r"(?P<name>\w+)=(?P<value>\d+)")


def matched(x, s):
    found = re.match(r"(\d+)", "12ab")
    pair = PATTERN.match("scale=3")
    if re.search("z", s) is None:
        x = x * int(pair["value"])
    whole = PATTERN.fullmatch("a=")
    return x * int(found.group(1)), pair.groupdict(), pair.span("name"), whole is None


def matched_all(x):
    ends = [m.end() for m in re.finditer(r"\d+", "1 22")]
    return re.sub(r"\d", "#", "a1b2"), re.split("[,;]", "a,b;c"), re.findall("(?i)A", "aA"), ends, x


@breaks("operation", "side-effect-call", "unknown-call")
def match_before_a_break(x):
    found = re.match("a+", "aab")
    print(end="")
    return x * found.end()
