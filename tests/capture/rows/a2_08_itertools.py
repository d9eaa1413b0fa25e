"""A2.8, continued: itertools and functools."""

import functools
import itertools
import sys


def product(x):
    return [x * a + b for a, b in itertools.product([1, 2], (3, 4))], list(
        itertools.product("ab", repeat=2)
    )


def chains(xs, numbers):
    return list(itertools.chain(numbers, "ab", [])), list(itertools.chain.from_iterable([xs, [1]]))


def islices(x, numbers):
    it = iter(range(10))
    head = list(itertools.islice(it, 3))
    return (
        head,
        next(it),
        list(itertools.islice("abcdef", 1, None, 2)),
        [*itertools.islice(numbers, 1, 2)],
        x,
    )


def accumulates(xs, numbers):
    return (
        list(itertools.accumulate(xs)), list(itertools.accumulate(numbers, lambda a, b: a * b)),
        list(itertools.accumulate(numbers, initial=10)),
    )  # fmt: skip


def cycles(x):
    out = []
    for i, c in zip(range(5), itertools.cycle("ab")):
        out.append(c * i)
    return out, x + 1


def zip_longests(x):
    return list(itertools.zip_longest([1, 2], "a", fillvalue=0)), list(
        itertools.zip_longest("ab", [x])
    )


def repeats(x):
    return list(itertools.repeat(x, 2)), [a for a, _ in zip(itertools.repeat(3), range(2))]


def counts(x):
    return [x * n for n, _ in zip(itertools.count(2, 3), range(3))], next(itertools.count())


def whiles(numbers, x):
    return (
        list(itertools.takewhile(lambda i: i > 2, numbers)),
        list(itertools.dropwhile(lambda i: i > 2, numbers)), x,
        list(itertools.filterfalse(lambda i: i > 2, numbers)),
    )  # fmt: skip


def groups(x):
    return (
        [(k, list(g)) for k, g in itertools.groupby("aabbb")],
        [(k, [*g]) for k, g in itertools.groupby([1, 3, 2, 4], key=lambda i: i % 2)],
        x,
    )


def pairwises(xs):
    return [b - a for a, b in itertools.pairwise(xs)], list(itertools.pairwise("a"))


def selections(x):
    return (
        list(itertools.combinations([1, 2, 3], 2)), list(itertools.permutations([1, 2, 3], 2)),
        list(itertools.combinations_with_replacement("ab", 2)), x,
        list(itertools.permutations("ab")),
    )  # fmt: skip


def starmaps(xs):
    return list(itertools.starmap(lambda a, b: a * b, zip(xs, [1, 2, 3]))), list(
        itertools.starmap(pow, [(2, 3), (3, 2)])
    )


def tees(x, numbers):
    a, b = itertools.tee(numbers)
    return next(a), list(b), list(a), x


def compresses(x):
    return list(itertools.compress("abcd", [1, 0, True, 0])), x


if sys.version_info >= (3, 12):

    def batches(x):
        return list(itertools.batched("abcde", 2)), x


def pipeline(x):
    evens = filter(lambda i: i % 2 == 0, itertools.count())
    squares = map(lambda i: i * i, evens)
    return [x * i for i in itertools.islice(squares, 3)]


def reduces(xs):
    return functools.reduce(torch.add, xs), functools.reduce(lambda a, b: a + b, [], 5)


def reduce_of_nothing(x):
    return functools.reduce(lambda a, b: a, [])


@functools.total_ordering
class _Rank:
    def __init__(self, rank):
        self.rank = rank

    def __eq__(self, other):
        return self.rank == other.rank

    def __lt__(self, other):
        return self.rank < other.rank


def total_ordering(x):
    return _Rank(1) <= _Rank(2), _Rank(3) > _Rank(2), _Rank(1) >= _Rank(2), x


def compare_to_key(x, numbers):
    return sorted(numbers, key=functools.cmp_to_key(lambda a, b: b - a)), x
