"""The functions of `itertools`. Those that read a whole iterable before they give anything do so
at once; the others ask for an item when one is wanted."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

MISSING: Any = object()
real_combinations: Any = itertools.combinations
real_combinations_with_replacement: Any = itertools.combinations_with_replacement
real_islice: Any = itertools.islice
real_permutations: Any = itertools.permutations
real_product: Any = itertools.product
real_repeat: Any = itertools.repeat
real_tee: Any = itertools.tee
real_batched: Any = getattr(itertools, "batched", None)  # since 3.12


def check(function: Any, *args: Any, **names: Any) -> None:
    """Raise what the function in C raises for such arguments: a rule calls it while capturing."""


def accumulate(iterable: Any, func: Any = None, *, initial: Any = None) -> Iterator:
    return accumulated(iter(iterable), func, initial)


def accumulated(iterator: Iterator, function: Any, total: Any) -> Iterator:
    if total is None:
        total = next(iterator, MISSING)
        if total is MISSING:
            return
    yield total
    for item in iterator:
        total = total + item if function is None else function(total, item)
        yield total


def chain(*iterables: Any) -> Iterator:
    return chained(iter(iterables), ())


def from_iterable(iterable: Any, /) -> Iterator:
    """chain.from_iterable."""
    return chained(iter(iterable), ())


def chained(rest: Iterator, current: Any) -> Iterator:
    for iterable in rest:
        current = iter(iterable)
        yield from current


def compress(data: Any, selectors: Any) -> Iterator:
    return compressed(iter(data), iter(selectors))


def compressed(data: Iterator, selectors: Iterator) -> Iterator:
    for item in data:
        wanted = next(selectors, MISSING)
        if wanted is MISSING:
            return
        if wanted:
            yield item


def count(start: Any = 0, step: Any = 1) -> Iterator:
    return counted(start, step)


def counted(number: Any, step: Any) -> Iterator:
    while True:
        now, number = number, number + step
        yield now


def cycle(iterable: Any, /) -> Iterator:
    return cycled(iter(iterable))


def cycled(iterator: Iterator) -> Iterator:
    seen: list = []
    for item in iterator:
        seen.append(item)
        yield item
    while seen:
        yield from seen


def dropwhile(predicate: Any, iterable: Any, /) -> Iterator:
    return dropped(predicate, iter(iterable))


def dropped(predicate: Any, iterator: Iterator) -> Iterator:
    for item in iterator:
        if not predicate(item):
            yield item
            break
    yield from iterator


def takewhile(predicate: Any, iterable: Any, /) -> Iterator:
    return taken(predicate, iter(iterable))


def taken(predicate: Any, it: Iterator) -> Iterator:
    for item in it:
        if not predicate(item):
            return
        yield item


def filterfalse(function: Any, iterable: Any, /) -> Iterator:
    return refused(function, iter(iterable))


def refused(function: Any, it: Iterator) -> Iterator:
    for item in it:
        if not (item if function is None or function is bool else function(item)):
            yield item


def groupby(iterable: Any, key: Any = None) -> Iterator:
    return grouped(iter(iterable), key)


def grouped(iterator: Iterator, key: Any) -> Iterator:
    """A group ends for good when the next one is asked for: `serial` counts them."""
    value = rank = target = MISSING
    serial = 0

    def step() -> bool:
        nonlocal value, rank
        value = next(iterator, MISSING)
        if value is MISSING:
            return False
        rank = value if key is None else key(value)
        return True

    def group(mine: int, wanted: Any) -> Iterator:
        nonlocal value
        while mine == serial:
            if value is MISSING and not step():
                return
            if not (wanted is rank or wanted == rank):
                return
            item, value = value, MISSING
            yield item

    while True:
        serial += 1
        while rank is MISSING or target is not MISSING and (target is rank or target == rank):
            if not step():
                return
        target = rank
        yield rank, group(serial, target)


def islice(iterable: Any, /, *bounds: Any) -> Iterator:
    check(real_islice, (), *bounds)
    part = slice(*bounds)
    start = 0 if part.start is None else part.start
    step = 1 if part.step is None else part.step
    return sliced(iter(iterable), start, part.stop, step, 0)


def sliced(iterator: Iterator, wanted: int, stop: Any, step: int, taken: int) -> Iterator:
    while True:
        while taken < wanted:
            if next(iterator, MISSING) is MISSING:
                return
            taken += 1
        if stop is not None and taken >= stop:
            return
        item = next(iterator, MISSING)
        if item is MISSING:
            return
        taken += 1
        wanted = wanted + step if stop is None or wanted + step < stop else stop
        yield item


def pairwise(iterable: Any, /) -> Iterator:
    return paired(iter(iterable))


def paired(iterator: Iterator) -> Iterator:
    before = next(iterator, MISSING)
    if before is MISSING:
        return
    for item in iterator:
        yield before, item
        before = item


def repeat(object: Any, times: Any = MISSING) -> Iterator:
    if times is MISSING:
        return repeated(object, None)
    check(real_repeat, (), times)
    return repeated(object, times)


def repeated(object: Any, times: Any) -> Iterator:
    while times is None or times > 0:
        if times is not None:
            times -= 1
        yield object


def starmap(function: Any, iterable: Any, /) -> Iterator:
    return star_mapped(function, iter(iterable))


def star_mapped(function: Any, it: Iterator) -> Iterator:
    for args in it:
        yield function(*args)


def tee(iterable: Any, n: Any = 2, /) -> tuple:
    check(real_tee, (), n)
    iterator = iter(iterable)
    seen: list = []
    return tuple([shared(iterator, seen) for _ in range(n)])


def shared(iterator: Iterator, seen: list) -> Iterator:
    place = 0
    while True:
        if place == len(seen):
            item = next(iterator, MISSING)
            if item is MISSING:
                return
            seen.append(item)
        yield seen[place]
        place += 1


def zip_longest(*iterables: Any, fillvalue: Any = None) -> Iterator:
    return zipped_longest([iter(iterable) for iterable in iterables], fillvalue)


def zipped_longest(iterators: list, fill: Any) -> Iterator:
    left = len(iterators)
    while left:
        row: list = []
        for n in range(len(iterators)):
            item = MISSING if iterators[n] is None else next(iterators[n], MISSING)
            if item is MISSING:
                if iterators[n] is not None:
                    iterators[n], left = None, left - 1
                if not left:
                    return
                item = fill
            row.append(item)
        yield tuple(row)


def batched(iterable: Any, n: Any, *, strict: Any = False) -> Iterator:
    check(real_batched, (), n)
    return batches(iter(iterable), n, strict)


def batches(iterator: Iterator, size: int, strict: Any) -> Iterator:
    while True:
        batch: list = []
        while len(batch) < size:
            item = next(iterator, MISSING)
            if item is MISSING:
                break
            batch.append(item)
        if not batch:
            return
        if strict and len(batch) < size:
            raise ValueError("batched(): incomplete batch")
        yield tuple(batch)


# ---- all choices of some items ------------------------------------------------------------------


def product(*iterables: Any, repeat: Any = 1) -> Iterator:
    check(real_product, repeat=repeat)
    return products([tuple(iterable) for iterable in iterables] * repeat)


def products(pools: list) -> Iterator:
    if not pools:
        yield ()
        return
    for head in products(pools[:-1]):
        for item in pools[-1]:
            yield (*head, item)


def permutations(iterable: Any, r: Any = None) -> Iterator:
    pool = tuple(iterable)
    check(real_permutations, (), r)
    return arrangements(pool, len(pool) if r is None else r)


def arrangements(pool: tuple, count: int) -> Iterator:
    if count == 0:
        yield ()
        return
    for n in range(len(pool)):
        for rest in arrangements(pool[:n] + pool[n + 1 :], count - 1):
            yield (pool[n], *rest)


def combinations(iterable: Any, r: Any) -> Iterator:
    pool = tuple(iterable)
    check(real_combinations, (), r)
    return choices(pool, r, 1)


def combinations_with_replacement(iterable: Any, r: Any) -> Iterator:
    pool = tuple(iterable)
    check(real_combinations_with_replacement, (), r)
    return choices(pool, r, 0)


def choices(pool: tuple, count: int, after: int) -> Iterator:
    if count == 0:
        yield ()
        return
    for n in range(len(pool)):
        for rest in choices(pool[n + after :], count - 1, after):
            yield (pool[n], *rest)
