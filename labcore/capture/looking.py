"""Looking at values: what a lazy value is, bought with guards.

In: a `Lazy`.  Out: a variable of a definite kind.  Side effect: loads and guards in the builder.
Invariant: two sources that lead to one object give one variable, under a guard that they still do.
Only types of the interpreter's own and of the lab are looked into; a user's object is known by
its class, its attributes one by one.
"""

from __future__ import annotations

import enum
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

from .. import devices, dtypes
from ..graph import Graph
from ..guards import GuardBuilder, Source, kinds
from ..ops import Op
from ..tensor import Tensor
from ..tensor.modes import mode
from ..tensor.size import Size
from .breaks import Break, WouldRaise
from .callables import means_something
from .classes import Classes
from .effects import Effects
from .numbers import Numbers, Varying
from .variables import (
    CellVariable,
    Constant,
    DictVariable,
    FunctionVariable,
    Lazy,
    ListVariable,
    LiveIterator,
    MethodVariable,
    Mutable,
    NumberVariable,
    ObjectVariable,
    TensorVariable,
    TupleVariable,
    Variable,
)

METHOD_DESCRIPTORS = (type(str.join), type(object.__init__), type(dict.fromkeys))
LIVE_ITERATORS: tuple[type, ...] = (type(iter([])), type(iter(())), type(iter(range(1))))
VARYING = int, float, str, range  # constants of these may be another value each time
SYMBOLIC = int, float  # and these can be inputs of the graph
BY_IDENTITY = (BuiltinFunctionType, type, ModuleType, Op, dtypes.dtype, *METHOD_DESCRIPTORS)


class Looker:
    """Gives variables for the values of one call. `known` maps the ids of objects to their
    variables."""

    def __init__(self, builder: GuardBuilder, varying: Varying, graph: Graph) -> None:
        self.builder, self.varying = builder, varying
        self.numbers = Numbers(builder, varying, graph)
        self.known: dict[int, Variable] = {}
        self.tensors: list[TensorVariable] = []
        self.effects, self.classes = Effects(), Classes(builder)
        self._lazies: dict[Source, Lazy] = {}

    def lazy(self, source: Source, value: Any) -> Lazy:
        """One variable a source, however often it is reached."""
        found = self._lazies.get(source)
        return found or self._lazies.setdefault(source, Lazy(source, value))

    def look(self, variable: Variable) -> Variable:
        if not isinstance(variable, Lazy):
            return variable
        if variable.seen is None:
            variable.seen = self._look(variable.source, variable.value)
        return variable.seen

    def _look(self, source: Source, value: Any) -> Variable:
        builder, kind = self.builder, type(value)
        name, origin = source.name, self.builder.origin
        if kind is BuiltinFunctionType and name.startswith("stack["):
            _refuse_fleeting(value)
        if issubclass(kind, BY_IDENTITY) or issubclass(
            kind, enum.Enum
        ):  # never isinstance: it may ask __class__
            constant = builder.constant(value, _constant_hint(value, source))
            found = builder.expression(source)
            if found != constant:
                builder.add(kinds.id_match(name, found, value, constant, origin))
            return Constant(value, home=constant)
        if kind in SYMBOLIC and self.numbers.wanted(source, value):
            return self.numbers.input(source, value, builder.load(source))
        if kind in VARYING:
            self.varying.refuse(name)
        home = builder.load(source)
        if kinds.is_too_long(value):
            raise Break("operation", what=f"{name}, an integer of {value.bit_length()} bits")
        if kind in kinds.ATOMS:
            builder.add(kinds.constant_match(name, home, value, origin))
            return Constant(value, home=home)
        twin = self.known.get(id(value))
        if twin is not None:
            words = f"{name!r} and {twin.home!r} are no longer the same object"
            builder.add(
                kinds.condition(
                    "DUPLICATE_INPUT",
                    name,
                    f"{home} is {twin.home}",
                    home,
                    f"the same object as {twin.home}",
                    words,
                    origin,
                )
            )
            return twin
        variable = self.known[id(value)] = self._of_kind(kind, source, value, home)
        return variable

    def _of_kind(self, kind: type, source: Source, value: Any, home: str) -> Variable:
        if kind is Tensor:
            return self._tensor(source, value, home)
        if issubclass(kind, Tensor):
            raise Break("tensor-subclass", name=source.name)
        if kind is FunctionType:
            return self._function(source, value, home)
        self._type_match(source, value, home)
        if kind is tuple or kind is Size:
            self.length(source.name, home, len(value))
            items: list[Variable] = [
                self.lazy(source.item(n), item) for n, item in enumerate(value)
            ]
            return TupleVariable(items, value, home=home)
        if kind is list:
            return ListVariable(None, value=value, source=source, home=home)
        if kind is dict:
            return DictVariable({}, value=value, source=source, home=home)
        if kind in LIVE_ITERATORS:
            return LiveIterator(value, source, home=home)
        if kind is devices.device:
            return self._device(source, value, home)
        if kind is MethodType:
            function = self.look(self.lazy(source.attribute("__func__"), value.__func__))
            owner = self.lazy(source.attribute("__self__"), value.__self__)
            return MethodVariable(owner, value.__func__.__name__, function, home=home)
        return ObjectVariable(kind, value=value, source=source, home=home)

    def _type_match(self, source: Source, value: Any, home: str) -> None:
        kind = type(value)
        constant = self.builder.constant(kind, kind.__name__)
        self.builder.add(kinds.type_match(source.name, home, value, constant, self.builder.origin))

    def _tensor(self, source: Source, value: Tensor, home: str) -> Variable:
        builder, name, origin = self.builder, source.name, self.builder.origin
        names = (
            builder.constant(Tensor, "Tensor"),
            builder.constant(value.dtype, value.dtype.name),
            builder.constant(value.device, str(value.device)),
        )
        builder.add(kinds.tensor_match(name, home, value, names, origin))
        builder.add(kinds.size_match(name, home, value, origin))
        builder.add(kinds.stride_match(name, home, value, origin))
        variable = TensorVariable(value.meta, None, source, value, home=home)
        self.tensors.append(variable)
        return variable

    def _device(self, source: Source, value: devices.device, home: str) -> Variable:
        where = (value.type, value.index)
        self.builder.add(
            kinds.condition(
                "EQUALS_MATCH",
                source.name,
                f"({home}.type, {home}.index) == {where}",
                home,
                repr(value),
                f"device {source.name!r} changed",
                self.builder.origin,
            )
        )
        return Constant(value, home=home)

    def _function(self, source: Source, value: FunctionType, home: str) -> Variable:
        builder, label = self.builder, value.__name__
        names = (
            builder.constant(FunctionType, "FunctionType"),
            builder.constant(value.__code__, f"{label}_code"),
            builder.constant(value.__globals__, "G"),
        )
        builder.add(kinds.code_match(source.name, home, names, label, builder.origin))
        if means_something(value):  # then it counts which function it is, not only its code
            constant = builder.constant(value, label)
            builder.add(kinds.id_match(source.name, home, value, constant, builder.origin))
        closure = source.attribute("__closure__")
        cells: list[Variable] = [
            self.cell(closure.item(n), name, cell)
            for n, (name, cell) in enumerate(
                zip(value.__code__.co_freevars, value.__closure__ or ())
            )
        ]
        return FunctionVariable(
            value.__code__, value.__globals__, cells=cells, value=value, source=source, home=home
        )

    def cell(self, source: Source, name: str, cell: CellType) -> CellVariable:
        """A cell from outside; what it holds is not looked at."""
        try:
            content = self.lazy(source.cell_contents(name), cell.cell_contents)
        except ValueError:
            content = None
        return CellVariable(content, value=cell, source=source)

    def length(self, name: str, home: str, length: int) -> None:
        self.varying.refuse(f"len({name})")
        self.builder.add(kinds.length_match(name, home, length, self.builder.origin))

    def symbolic_length(self, variable: ListVariable) -> Variable | None:
        """len() of a list from outside that was seen to have other lengths: an input."""
        if not variable.outside or variable.items is not None:
            return None
        source, length = variable.place.length(), len(variable.value)
        if not self.numbers.wanted(source, length):
            return None
        found = self.look(self.lazy(source, length))
        assert isinstance(found, NumberVariable)
        more = found.number + len(variable.tail)
        return NumberVariable(more, more.hint) if variable.tail else found

    def items(self, variable: ListVariable) -> list[Variable]:
        """A list's items, guarding its length now that it matters."""
        if variable.items is None:
            assert variable.source is not None
            self.length(variable.source.name, variable.home, len(variable.value))
            given = [self.lazy(variable.source.item(n), v) for n, v in enumerate(variable.value)]
            variable.items, variable.tail = [*given, *variable.tail], []
        return variable.items

    def append(self, variable: ListVariable, value: Variable) -> None:
        """`variable.append(value)`, done for real at the end of the region."""
        if variable.value is not None:
            live = [v for v in self.known.values() if isinstance(v, LiveIterator)]
            if any(_sequence(iterator.value) is variable.value for iterator in live):
                raise Break("mutation", what="a list that is being iterated")
        self.effects.write(variable, "{}.append({})", value)
        (variable.tail if variable.items is None else variable.items).append(value)

    def _changed_is_nothing_else(self) -> None:
        """What is changed must not be what another object was taken for."""
        written = self.effects.written
        others = [v for v in self.known.values() if isinstance(v, Mutable)]
        for one in written:
            for other in [v for v in others if type(v.value) is type(one.value)]:
                if other is not one and (other not in written or id(other) < id(one)):
                    self._different(one, other)

    def _different(self, one: Mutable, other: Mutable) -> None:
        names = f"{one.place.name}, {other.place.name}"
        words = f"{one.place.name!r} and {other.place.name!r} are one {one.kind} now"
        code = f"{one.home} is not {other.home}"
        self.builder.add(
            kinds.condition("DUPLICATE_INPUT", names, code, one.home, "different", words, None)
        )

    def next_item(self, iterator: LiveIterator) -> Variable | None:
        """The next item of a real iterator, or None; guarded by there being one."""
        if iterator.ended:
            return None
        if any(_sequence(iterator.value) is changed.value for changed in self.effects.written):
            raise Break("mutation", what="a list that is being iterated")
        ahead = peek(iterator.value, iterator.taken + 1)
        name, taken = iterator.source.name, iterator.taken
        function = self.builder.constant(peek, "peek")
        items = Source(f"next of {name}", f"{function}({{}}, {taken + 1})", iterator.source, True)
        home, more = self.builder.load(items), len(ahead) > taken
        code = f"len({home}) {'>' if more else '<='} {taken}"
        words = f"{name!r} has {'no' if more else 'one'} more item"
        expected = f"{'one' if more else 'no'} more item"
        origin = self.builder.origin
        self.builder.add(
            kinds.condition("ITERATOR_MATCH", name, code, home, expected, words, origin)
        )
        self.effects.add("next({})" if more else "next({}, None)", iterator)
        if not more:
            iterator.ended = True
            return None
        iterator.taken += 1
        return self.lazy(Source(name, f"{{}}[{taken}]", items), ahead[taken])

    # ---- dicts: key by key ----

    def has_key(self, variable: DictVariable, key: Any) -> bool:
        """`key in variable`, guarded for one from outside."""
        if variable.value is None or key in variable.items:
            return key in variable.items
        hit = key in variable.value
        name, home = variable.source.name, variable.home  # type: ignore[union-attr]
        code = f"{key!r} {'' if hit else 'not '}in {home}"
        words = f"{name!r} {'no longer' if hit else 'now'} has the key {key!r}"
        self.builder.add(
            kinds.condition(
                "DICT_CONTAINS",
                name,
                code,
                home,
                f"{'' if hit else 'no '}key {key!r}",
                words,
                self.builder.origin,
            )
        )
        return hit

    def item(self, variable: DictVariable, key: Any) -> Variable:
        """`variable[key]`. Raises WouldRaise when it has no such key."""
        if key in variable.items:
            return variable.items[key]
        if variable.value is None or key not in variable.value:
            self.has_key(variable, key)
            raise WouldRaise(KeyError(key), exact=True)
        assert variable.source is not None
        return self.lazy(variable.source.item(key), variable.value[key])

    def dict_items(self, variable: DictVariable) -> dict[Any, Variable]:
        """All items in order, guarding which keys there are."""
        if variable.value is None:
            return variable.items
        assert variable.source is not None
        self.keys(variable.source.name, variable.home, variable.value)
        return {key: self.item(variable, key) for key in variable.value}

    def keys(self, name: str, home: str, value: dict[Any, Any]) -> None:
        if not all(type(key) in kinds.ATOMS for key in value):
            raise Break(
                "operation", what=f"iteration over the dict {name!r}, whose keys are objects"
            )
        constant = self.builder.constant(list(value), f"{name}_keys")
        self.builder.add(kinds.keys_match(name, home, list(value), constant, self.builder.origin))

    def finish(self) -> None:
        """What only all tensors together decide."""
        self._changed_is_nothing_else()
        homes = [t.home for t in self.tensors]
        if len(homes) > 1:
            self._all_different(homes)
        if mode.grad and any(t.meta.requires_grad for t in self.tensors):
            for tensor in self.tensors:
                self._recordable(tensor)

    def _all_different(self, homes: list[str]) -> None:
        """Different tensors stay different: the same one twice is another variant."""
        code = f"{homes[0]} is not {homes[1]}"
        if len(homes) > 2:
            code = f"len({{{', '.join(f'id({h})' for h in homes)}}}) == {len(homes)}"
        names = ", ".join(t.source.name for t in self.tensors if t.source)
        self.builder.add(
            kinds.condition(
                "NO_TENSOR_ALIASING",
                names,
                code,
                homes[0],
                "different tensors",
                f"{names}: one tensor is passed more than once",
                None,
            )
        )

    def _recordable(self, tensor: TensorVariable) -> None:
        """A tensor made under inference_mode may not be saved for a backward."""
        assert tensor.source is not None
        name = tensor.source.name
        if tensor.value.is_inference():
            raise Break("inference-tensor", name=name)
        self.builder.add(
            kinds.condition(
                "NOT_INFERENCE",
                name,
                f"not {tensor.home}.is_inference()",
                tensor.home,
                "no inference tensor",
                f"{name!r} was made under inference_mode",
                None,
            )
        )


def _sequence(iterator: Any) -> Any:
    """What a list's, tuple's or range's iterator goes over."""
    return iterator.__reduce__()[1][0]


def _refuse_fleeting(function: Any) -> None:
    """A builtin method that an instruction has just bound is another object every time."""
    if type(function.__self__) not in (ModuleType, type(None)):
        left = function.__name__ == "__exit__"
        raise Break("context-manager") if left else Break("unknown-call", name=function.__name__)


def peek(iterator: Any, count: int) -> list[Any]:
    """The next items of a list, tuple or range iterator, at most `count`, without taking them."""
    parts = iterator.__reduce__()
    sequence, at = parts[1][0], parts[2] if len(parts) > 2 and parts[2] else 0
    return list(sequence[at : at + count])


def _constant_hint(value: Any, source: Source) -> str:
    name = getattr(value, "__name__", None)
    return name if isinstance(name, str) and name.isidentifier() else source.hint
