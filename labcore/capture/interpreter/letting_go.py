"""What is told when nobody holds it any more, and runs code there and then: a generator that is let
go of half done is closed, an object with a `__del__` is asked.

In: what leaves a stack or a variable, or a region that ends.  Out: a Break where such code would
run.
Invariant: whether a value that nobody looked at is a generator is guarded, for the same loop may go
over a list in one call and over a generator in the next.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Sequence
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from ...guards import kinds
from ..breaks import Break
from ..classes import is_fixed
from ..frame import SymbolicFrame
from ..peeking import BACKWARDS, COPIED, IN_ORDER
from ..variables import GeneratorVariable, Lazy, Variable

if TYPE_CHECKING:
    from .core import Interpreter

LEAVES = (*IN_ORDER, BACKWARDS, *COPIED)  # builtin iterators that take from no other


def let_go(vm: Interpreter, left: Iterable[Variable]) -> Break | None:
    """They leave a stack, maybe as the last to be held: why capture must end before that."""
    for variable in left:
        if not isinstance(variable, Lazy):
            continue
        if not _iterates(variable.value):
            if id(variable.value) in vm.carried and _is_told(variable.value):
                return _last_reference(variable.value)
            continue
        generator = generator_in(variable.value)
        if generator is not None:
            return Break("generator", name=generator.__qualname__)
        if variable.seen is None or type(variable.value) not in LEAVES:
            _no_generator(vm, variable)
    return None


def _iterates(value: object) -> bool:
    return any("__next__" in vars(cls) for cls in type(value).__mro__)


def generator_in(iterator: Any) -> GeneratorType[Any, Any, Any] | None:
    """The generator that an iterator is, or takes its items from: enumerate, zip, map ... close it
    when they go. One of the user's classes is asked nothing."""
    waiting, met = [iterator], set[int]()
    while waiting:
        value = waiting.pop()
        kind = type(value)
        if kind is GeneratorType:
            return value
        if kind in LEAVES or id(value) in met:
            continue
        met.add(id(value))
        if kind is tuple or is_fixed(kind) and _iterates(value):
            waiting += gc.get_referents(value)
    return None


def _no_generator(vm: Interpreter, left: Lazy) -> None:
    name, home = left.source.name, vm.builder.load(left.source)
    find = vm.builder.constant(generator_in, "generator_in")
    code, words = f"{find}({home}) is None", f"{name!r} is or holds a generator now"
    origin = vm.builder.origin
    vm.builder.add(kinds.condition("TYPE_MATCH", name, code, home, "no generator", words, origin))


# ---- variables ----------------------------------------------------------------------------------


def check_lost(vm: Interpreter, frame: SymbolicFrame, slots: Sequence[int]) -> None:
    """These variables get other values, or the frame goes with them. Raises Break where one is the
    last to hold what is told."""
    for slot in slots:
        value = _value(frame.fast[slot])
        if id(value) in vm.carried and _is_told(value) and not _is_held(vm, frame, value, slots):
            raise _last_reference(value)


def _value(variable: Variable) -> Any:
    """The object from outside that it stands for, or None."""
    return getattr(variable, "value", None)


def _is_told(value: Any) -> bool:
    generator = generator_in(value)
    if generator is not None:
        return generator.gi_suspended
    return any("__del__" in vars(cls) for cls in type(value).__mro__)


def _is_held(vm: Interpreter, frame: SymbolicFrame, value: Any, lost: Sequence[int]) -> bool:
    """Does something else in the frames hold it, too?"""
    kept = [v for n, v in enumerate(frame.fast) if n not in lost]
    for other in vm.frames:
        kept += other.stack if other is frame else [*other.stack, *other.fast]
    return any(_value(variable) is value for variable in kept)


def _last_reference(value: Any) -> Break:
    generator = generator_in(value)
    if generator is not None:
        return Break("last-reference", name=f"generator {generator.__qualname__}")
    return Break("last-reference", name=f"an object of class {type(value).__name__}")


# ---- the end of a region ------------------------------------------------------------------------


def half_done(generators: Iterable[GeneratorVariable]) -> GeneratorVariable | None:
    """The first that the region leaves where code of its own waits to be run."""
    return next((left for left in generators if _guarded(left)), None)


def _guarded(generator: GeneratorVariable) -> bool:
    """Does it stand within a try or a with?"""
    if generator.frame is None or generator.paused is None:
        return False
    return generator.frame.table.catches(generator.paused)
