"""Real iterators in place of polyfills that are in use where a region ends.

In: a generator of `polyfills/`, started or not.  Out: the function that makes the builtin's own
iterator, and the generator's variables that it needs.
Invariant: what is made has the builtin's type, takes from the same iterators, and goes on where
the generator stands. Nothing is taken from them while it is made.
"""

from __future__ import annotations

import builtins
import inspect
import itertools
from collections.abc import Callable
from types import CodeType, FunctionType, GeneratorType
from typing import Any

from .frame import POLYFILLS
from .polyfills import iterators, selections
from .variables import GeneratorVariable, Variable
from .variables.generators import STANDS_FOR

Maker = Callable[..., Any]
MAKERS: dict[CodeType, Maker] = {}


def makes(polyfill: Any, cls: type, maker: Maker | None = None) -> None:
    """Generators of `polyfill` stand for a `cls`; `maker` takes its variables, by their names."""
    assert isinstance(polyfill, FunctionType)
    STANDS_FOR[polyfill.__code__] = cls
    if maker is not None:
        MAKERS[polyfill.__code__] = maker


def type_of_generator(generator: GeneratorVariable) -> type:
    return STANDS_FOR.get(generator.function.code, GeneratorType)


def is_iterator(cls: type) -> bool:
    """Is it a builtin iterator's class, whose `__iter__` gives the iterator itself?"""
    return any(cls is kind for kind in STANDS_FOR.values())


def is_ours(cls: type) -> bool:
    """Is it a class of a polyfill's, whose instances stand for those of a class in C?"""
    init = vars(cls).get("__init__")
    return type(init) is FunctionType and init.__code__.co_filename.startswith(POLYFILLS)


def remade(generator: GeneratorVariable) -> tuple[Maker, list[Variable]] | None:
    """The maker and what to give it; None when it cannot be made anew."""
    maker, frame = MAKERS.get(generator.function.code), generator.frame
    if maker is None or frame is None or generator.running:
        return None
    slots = frame.table.slots
    return maker, [frame.fast[slots.index(name)] for name in inspect.signature(maker).parameters]


def _reversed(sequence: Any, place: int) -> Any:
    made = builtins.reversed(sequence)
    made.__setstate__(place)
    return made


def _islice(iterator: Any, wanted: int, taken: int, stop: Any, step: int) -> Any:
    return itertools.islice(iterator, wanted - taken, None if stop is None else stop - taken, step)


def _repeat(object: Any, times: Any) -> Any:
    return itertools.repeat(object) if times is None else itertools.repeat(object, times)


def _zip_longest(iterators: list, fill: Any) -> Any:
    columns = [() if iterator is None else iterator for iterator in iterators]
    return itertools.zip_longest(*columns, fillvalue=fill)


makes(iterators.mapped, map, lambda function, iterators: map(function, *iterators))
makes(iterators.filtered, filter, lambda function, iterator: filter(function, iterator))
makes(iterators.enumerated, enumerate, lambda iterator, number: enumerate(iterator, number))
makes(iterators.zipped, zip, lambda iterators, strict: zip(*iterators, strict=strict))
makes(iterators.reversed_items, reversed, _reversed)
makes(
    iterators.called_until,
    type(iter(int, 1)),
    lambda function, sentinel: iter(function, sentinel),
)
makes(
    selections.chained,
    itertools.chain,
    lambda current, rest: itertools.chain(current, itertools.chain.from_iterable(rest)),
)
makes(selections.sliced, itertools.islice, _islice)
makes(selections.counted, itertools.count, lambda number, step: itertools.count(number, step))
makes(selections.repeated, itertools.repeat, _repeat)
makes(
    selections.taken, itertools.takewhile, lambda predicate, it: itertools.takewhile(predicate, it)
)
makes(
    selections.refused,
    itertools.filterfalse,
    lambda function, it: itertools.filterfalse(function, it),
)
makes(
    selections.star_mapped, itertools.starmap, lambda function, it: itertools.starmap(function, it)
)
makes(
    selections.compressed,
    itertools.compress,
    lambda data, selectors: itertools.compress(data, selectors),
)
makes(selections.zipped_longest, itertools.zip_longest, _zip_longest)
for _polyfill, _cls in (
    (selections.accumulated, itertools.accumulate),
    (selections.cycled, itertools.cycle),
    (selections.dropped, itertools.dropwhile),
    (selections.grouped, itertools.groupby),
    (selections.paired, itertools.pairwise),
    (selections.shared, type(itertools.tee(())[0])),
    (selections.products, itertools.product),
    (selections.arrangements, itertools.permutations),
):
    makes(_polyfill, _cls)
