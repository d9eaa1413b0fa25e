"""Generators that are let go of half done: CPython closes them there and then, and their own
`finally` and `with` run.

In: what leaves a stack, or a region that ends.  Out: a Break where code of a generator would run.
Invariant: whether a value that nobody looked at is a generator is guarded, for the same loop may go
over a list in one call and over a generator in the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import GeneratorType
from typing import TYPE_CHECKING

from ...guards import kinds
from ..breaks import Break
from ..variables import GeneratorVariable, Lazy, Variable

if TYPE_CHECKING:
    from .core import Interpreter


def let_go(vm: Interpreter, left: Iterable[Variable]) -> Break | None:
    """They leave a stack, maybe as the last to be held: why capture must end before that."""
    for variable in left:
        if isinstance(variable, Lazy) and type(variable.value) is GeneratorType:
            return Break("generator", name=variable.value.__qualname__)
        if isinstance(variable, Lazy) and variable.seen is None and _iterates(variable.value):
            _no_generator(vm, variable)
    return None


def _iterates(value: object) -> bool:
    return any("__next__" in vars(cls) for cls in type(value).__mro__)


def _no_generator(vm: Interpreter, left: Lazy) -> None:
    name, home = left.source.name, vm.builder.load(left.source)
    kind = vm.builder.constant(GeneratorType, "generator")
    code, words = f"type({home}) is not {kind}", f"{name!r} is a generator now"
    origin = vm.builder.origin
    vm.builder.add(kinds.condition("TYPE_MATCH", name, code, home, "no generator", words, origin))


def half_done(generators: Iterable[GeneratorVariable]) -> GeneratorVariable | None:
    """The first that the region leaves where code of its own waits to be run."""
    return next((left for left in generators if _guarded(left)), None)


def _guarded(generator: GeneratorVariable) -> bool:
    """Does it stand within a try or a with?"""
    if generator.frame is None or generator.paused is None:
        return False
    return generator.frame.table.catches(generator.paused)
