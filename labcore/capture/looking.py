"""Looking at values: what a lazy value is, bought with guards.

In: a `Lazy`.  Out: a variable of a definite kind.  Side effect: loads and guards in the builder.
Invariant: two sources that lead to one object give one variable, under a guard that they still do.
Only types of the interpreter's own and of the lab are looked into; a user's object is known by
its class, its attributes one by one.
"""

from __future__ import annotations

import enum
import re
from collections import OrderedDict, defaultdict, deque
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from .. import devices, dtypes
from ..graph import Graph
from ..guards import GuardBuilder, Source, kinds
from ..guards.source import constant
from ..ops import Op
from ..tensor import Tensor
from ..tensor.modes import mode
from ..tensor.parameter import TENSORS
from ..tensor.size import Size
from .aliases import keep_apart
from .bases import base_of
from .breaks import Break
from .callables import means_something
from .classes import Classes, is_named_tuple
from .contents import Contents
from .effects import Effects
from .layouts import layout, varies
from .numbers import Numbers, Varying
from .peeking import can_peek
from .presence import Presence
from .variables import (
    BytearrayVariable,
    CellVariable,
    Constant,
    DequeVariable,
    DictVariable,
    FunctionVariable,
    IdVariable,
    Lazy,
    ListVariable,
    LiveIterator,
    MethodVariable,
    ModeVariable,
    Mutable,
    NamespaceVariable,
    ObjectVariable,
    SetVariable,
    SliceVariable,
    TensorVariable,
    TupleVariable,
    Variable,
)

METHOD_DESCRIPTORS = (type(str.join), type(object.__init__), type(dict.fromkeys))
VARYING = int, float, str, range  # constants of these may be another value each time
SYMBOLIC = int, float  # and these can be inputs of the graph
BY_IDENTITY = (
    BuiltinFunctionType,
    type,
    ModuleType,
    Op,
    dtypes.dtype,
    re.Pattern,
    CodeType,
    type(NotImplemented),
    *METHOD_DESCRIPTORS,
)


class Looker(Contents):
    """Gives variables for the values of one call. `known` maps the ids of objects to their
    variables."""

    def __init__(self, builder: GuardBuilder, varying: Varying, graph: Graph) -> None:
        self.builder, self.varying = builder, varying
        self.numbers = Numbers(builder, varying, graph)
        self.known: dict[int, Variable] = {}
        self.tensors: list[TensorVariable] = []
        self.effects, self.classes = Effects(), Classes(builder)
        self.distinct: dict[Mutable | TensorVariable, None] = {}  # whose identity counts
        self.ids: dict[Variable, IdVariable] = {}  # keys, by whose ids they are
        self._lazies: dict[Source, Lazy] = {}
        self.presence = Presence(builder)

    def lazy(self, source: Source, value: Any) -> Lazy:
        """One variable a source, however often it is reached."""
        found = self._lazies.get(source)
        return found or self._lazies.setdefault(source, Lazy(source, value))

    def look(self, variable: Variable) -> Variable:
        if not isinstance(variable, Lazy):
            return variable
        if variable.value is mode:
            return ModeVariable(home="mode")
        if variable.seen is None:
            variable.seen = self._look(variable.source, variable.value)
        return variable.seen

    def _look(self, source: Source, value: Any) -> Variable:
        builder, kind = self.builder, type(value)
        name, origin = source.name, self.builder.origin
        if kind is BuiltinFunctionType and _is_bound(value, source):
            return self._bound_builtin(source, value)
        if issubclass(kind, BY_IDENTITY) or issubclass(
            kind, enum.Enum
        ):  # never isinstance: it may ask __class__
            own = builder.constant(value, _constant_hint(value, source))
            found = builder.expression(source)
            if found != own:
                builder.add(kinds.id_match(name, found, value, own, origin))
            return Constant(value, home=own)
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
            if isinstance(twin, NamespaceVariable):
                raise Break("operation", what=f"{name}, the dict of a module that was changed")
            self._still_the_same(source, twin)
            return twin
        variable = self.known[id(value)] = self._of_kind(kind, source, value, home)
        return variable

    def _of_kind(self, kind: type, source: Source, value: Any, home: str) -> Variable:
        if kind in TENSORS:
            return self._tensor(source, value, home)
        if issubclass(kind, Tensor):
            raise Break("tensor-subclass", name=source.name)
        if kind is FunctionType:
            return self._function(source, value, home)
        self._type_match(source, value, home)
        if kind is tuple or kind is Size or is_named_tuple(kind):
            self.length(source.name, home, len(value))
            items: list[Variable] = [
                self.lazy(source.item(n), item) for n, item in enumerate(value)
            ]
            return TupleVariable(items, value, cls=kind, home=home)
        if kind is list:
            return ListVariable(None, value=value, source=source, home=home)
        if kind is deque:
            return self._deque(source, value, home)
        if kind is dict:
            return DictVariable({}, False, value=value, source=source, home=home)
        if kind is OrderedDict:
            return DictVariable({}, False, value=value, source=source, home=home, cls=kind)
        if kind is defaultdict:
            factory = self.lazy(source.attribute("default_factory"), value.default_factory)
            made = DictVariable({}, False, value=value, source=source, home=home, cls=kind)
            made.factory = factory
            return made
        if kind is bytearray:
            return self._bytearray(source, value, home)
        if kind is set:
            return SetVariable(set(), False, value=value, source=source, home=home)
        if can_peek(value):
            return LiveIterator(value, source, home=home)
        if kind is slice:
            ends = ((source.attribute(name), getattr(value, name)) for name in SliceVariable.NAMES)
            return SliceVariable([self.lazy(*end) for end in ends], value=value, home=home)
        if kind is devices.device:
            return self._device(source, value, home)
        if kind is MethodType:
            function = self.look(self.lazy(source.attribute("__func__"), value.__func__))
            owner = self.lazy(source.attribute("__self__"), value.__self__)
            return MethodVariable(owner, value.__func__.__name__, function, home=home)
        return ObjectVariable(kind, value=value, source=source, home=home)

    def _bytearray(self, source: Source, value: bytearray, home: str) -> Variable:
        expected, origin = repr(bytes(value)), self.builder.origin
        words = f"{source.name!r} holds other bytes"
        add = kinds.condition(
            "EQUALS_MATCH", source.name, f"{home} == {expected}", home, expected, words, origin
        )
        self.builder.add(add)
        return BytearrayVariable(bytearray(value), value=value, source=source, home=home)

    def _deque(self, source: Source, value: Any, home: str) -> Variable:
        name, limit, origin = f"{source.name}.maxlen", value.maxlen, self.builder.origin
        self.builder.add(kinds.constant_match(name, f"{home}.maxlen", limit, origin))
        return DequeVariable(None, value=value, source=source, home=home)

    def _bound_builtin(self, source: Source, value: Any) -> Variable:
        """`items.append`, bound by an instruction before the region: another object every time, so
        what counts is its owner and its name."""
        home, name = self.builder.load(source), value.__name__
        self._type_match(source, value, home)
        code, words = f"{home}.__name__ == {name!r}", f"{source.name!r} is another method"
        self.builder.add(
            kinds.condition(
                "BUILTIN_MATCH", source.name, code, home, name, words, self.builder.origin
            )
        )
        owner = self.lazy(source.attribute("__self__"), value.__self__)
        return MethodVariable(owner, name, home=home)

    def _type_match(self, source: Source, value: Any, home: str) -> None:
        kind = type(value)
        name = self.builder.constant(kind, kind.__name__)
        self.builder.add(kinds.type_match(source.name, home, value, name, self.builder.origin))

    def _tensor(self, source: Source, value: Tensor, home: str) -> Variable:
        builder, name, origin = self.builder, source.name, self.builder.origin
        marks = value._layout.marks
        names = (
            builder.constant(type(value), type(value).__name__),
            builder.constant(value.dtype, value.dtype.name),
            builder.constant(value.device, str(value.device)),
            builder.constant(marks, "marks") if marks else "",
        )
        key = ""
        if not marks and not varies(self.numbers, source, value):
            own = builder.constant(value._layout, value._layout.hint)
            key = kinds.layout_key(home, names[0], own)
        builder.add(kinds.tensor_match(name, home, value, names, origin, key))
        meta = layout(self.numbers, source, value, home, key)
        variable = TensorVariable(meta, None, source, value, home=home)
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

    def namespace(self, space: dict[str, Any]) -> NamespaceVariable:
        """A module's globals, to be changed. Raises Break when they are also known as a dict, or
        are no plain one."""
        if type(space) is not dict:
            raise Break("mutation", what="globals that are no plain dict")
        home = self.builder.constant(space, "G")
        made = NamespaceVariable(value=space, source=constant("globals", home), home=home)
        known = self.known.setdefault(id(space), made)
        if not isinstance(known, NamespaceVariable):
            raise Break("mutation", what="the dict of a module")
        return known

    def written_names(self, space: dict[str, Any]) -> dict[str, Variable | None]:
        """The globals of a module that were written so far, None being deleted ones."""
        known = self.known.get(id(space))
        return known.names if isinstance(known, NamespaceVariable) else {}

    def store_name(self, space: dict[str, Any], name: str, value: Variable | None) -> None:
        """A global variable of a module is set, or, with None, deleted."""
        owner = self.namespace(space)
        if value is None:
            self.effects.write(owner, f"del {{}}[{name!r}]")
        else:
            self.effects.write(owner, f"{{}}[{name!r}] = {{}}", value)
        owner.names[name] = value

    def cell(self, source: Source, name: str, cell: CellType) -> CellVariable:
        """A cell from outside; what it holds is not looked at."""
        twin = self.known.get(id(cell))
        if isinstance(twin, CellVariable):
            self._still_the_same(source, twin)
            return twin
        try:
            content = self.lazy(source.cell_contents(name), cell.cell_contents)
        except ValueError:
            content = None
        variable = CellVariable(content, value=cell, source=source)
        self.known[id(cell)] = variable
        return variable

    def _still_the_same(self, source: Source, twin: Variable) -> None:
        """Two sources lead to one object: guarded, for what is known of it is kept once."""
        home = self.builder.load(source)
        other = twin.home
        if isinstance(twin, CellVariable):
            other = self.builder.load(twin.place)
        if home != other:
            name, origin = source.name, self.builder.origin
            title = getattr(getattr(twin, "source", None), "name", other)
            words = f"{name!r} and {title!r} are no longer the same object"
            expected, code = f"the same object as {title}", f"{home} is {other}"
            self.builder.add(
                kinds.condition("DUPLICATE_INPUT", name, code, home, expected, words, origin)
            )

    def finish(self, inputs_are_written: bool) -> None:
        """What only all of it together decides."""
        self.presence.finish(self._lazies.values())
        keep_apart(self, inputs_are_written)
        if mode.grad and any(t.meta.requires_grad for t in self.tensors):
            for tensor in self.tensors:
                self.recordable(tensor)

    def recordable(self, tensor: TensorVariable, step: int | None = None) -> None:
        """A tensor made under inference_mode may not be saved for a backward, nor be written. The
        `step` of a write is where the region then ends."""
        assert tensor.source is not None
        name = tensor.source.name
        if tensor.value.is_inference():
            stop = Break("inference-tensor", name=name)
            stop.step = step
            raise stop
        self.builder.add(
            kinds.condition(
                "NOT_INFERENCE",
                name,
                f"not {tensor.home}.is_inference()",
                tensor.home,
                "no inference tensor",
                f"{name!r} was made under inference_mode",
                self.builder.met_at(tensor.home),
            )
        )


def _is_bound(function: Any, source: Source) -> bool:
    """A method of a value whose methods capture knows. Raises Break for another one that an
    instruction has just bound: it is not this object at any other call."""
    if function.__self__ is None:  # a static method in C: str.maketrans
        return False
    owner = type(function.__self__)
    if owner in kinds.ATOMS or owner in (list, dict, set, tuple) or base_of(owner) is not None:
        return True
    bound = owner is not ModuleType and not issubclass(owner, type)
    if bound and source.name.startswith("stack["):
        left = function.__name__ == "__exit__"
        raise Break("context-manager") if left else Break("unknown-call", name=function.__name__)
    return False


def _constant_hint(value: Any, source: Source) -> str:
    name = getattr(value, "__name__", None)
    return name if isinstance(name, str) and name.isidentifier() else source.hint
