"""A2.9: generators."""

from tests.capture.rows.marks import breaks


def _count(n):
    for i in range(n):
        yield i


def _scaled(xs, k):
    for t in xs:
        yield t * k


def loop_over_a_generator(x):
    for i in _count(3):
        x = x + i
    return x


def generator_of_tensors(xs):
    return sum(_scaled(xs, 2))


def generator_expression(x, numbers):
    return sum(x * i for i in numbers if i > 1), max(i for i in numbers), tuple(i for i in numbers)


def laziness(x):
    log = []

    def steps():
        for i in range(3):
            log.append(i)
            yield i

    it = steps()
    first = next(it)
    return x * first, list(log), list(it), log


def yield_from(x):
    def outer():
        got = yield from inner()
        yield got

    def inner():
        yield 1
        yield 2
        return 3

    return x * sum(outer()), list(outer())


def yield_from_a_list(xs):
    def chained():
        yield from xs
        yield from range(2)

    return list(chained())


def sends(x):
    def accumulator():
        total = 0
        while True:
            value = yield total
            if value is None:
                return
            total = total + value

    g = accumulator()
    next(g)
    a = g.send(x)
    b = g.send(x * 2)
    return a, b


def closed(x):
    log = []

    def steps():
        try:
            yield 1
            yield 2
        finally:
            log.append("closed")

    g = steps()
    value = next(g)
    g.close()
    return x * value, log, next(g, "over")


def thrown(x):
    def steps():
        try:
            yield 1
        except ValueError:
            yield 2

    g = steps()
    return x * next(g) + g.throw(ValueError("in"))


def return_value(x):
    def steps():
        yield 1
        return 5

    g = steps()
    next(g)
    try:
        next(g)
    except StopIteration as stop:
        return x * stop.value


def unpacked(x):
    a, b, c = _count(3)
    first, *rest = _count(4)
    return x * b + c, rest, [*_count(2)], first


def passed_to_builtins(x, numbers):
    return (
        list(zip(_count(2), "ab")), list(enumerate(_count(2))), list(map(str, _count(2))),
        set(_count(2)),
        dict((i, i * i) for i in _count(3)), sorted(_count(3), reverse=True), x, 2 in _count(3),
    )  # fmt: skip


def infinite(x):
    def naturals():
        n = 0
        while True:
            yield n
            n += 1

    for i in naturals():
        if i > 2:
            return x * i


def left_early(x):
    g = _count(5)
    for i in g:
        if i == 1:
            break
    return x * i, list(g)


def raises_inside(x):
    def steps():
        yield 1
        raise KeyError("inside")

    seen = []
    try:
        for i in steps():
            seen.append(i)
    except KeyError as error:
        return x, seen, error.args
    return x


def generator_returned(x):
    return (x * i for i in range(2))


@breaks("generator", "generator")
def generator_started_and_returned(x):
    g = _scaled([x, x + 1, x + 2], 2)
    first = next(g)
    return first, g


def nested_generators(x):
    return sum(a * b for a in _count(3) for b in _count(a)) + x


def recursive_generator(x):
    def flatten(items):
        for item in items:
            if isinstance(item, list):
                yield from flatten(item)
            else:
                yield item

    return [x * i for i in flatten([1, [2, [3]], 4])]
