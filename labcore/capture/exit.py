"""Python that makes what leaves a region, from what is known of it.

In: variables.  Out: lines of code, and the nodes that the graph has to output.
Invariant: one object is made once, however often it is reached, and what came in goes out as the
very same object.
New lists, dicts and cells are made empty and filled last, so they may contain each other, or
themselves.
"""

from __future__ import annotations

import re
from collections import deque
from functools import partial
from types import CellType, FunctionType, MethodType

from ..graph import Node
from ..guards import GuardBuilder
from ..tensor.size import Size
from ..tensor.tensor import to_inference
from .bases import base_of
from .binding import VARARGS, parameter_names
from .breaks import Break
from .filling import Filling
from .frame import POLYFILLS
from .looking import Looker
from .memory import Memory
from .modes import Modes
from .remaking import is_ours, remade
from .variables import (
    BytearrayVariable,
    CellVariable,
    Constant,
    DequeVariable,
    DictVariable,
    ExceptionVariable,
    FunctionVariable,
    GeneratorVariable,
    IdVariable,
    IteratorVariable,
    Lazy,
    ListVariable,
    MethodVariable,
    Mutable,
    NumberVariable,
    ObjectVariable,
    SetVariable,
    SliceVariable,
    TensorVariable,
    TracebackVariable,
    TupleVariable,
    Variable,
    ViewVariable,
)

LITERALS = (int, str, bool, type(None), bytes)


class Exit(Filling):
    """`build` gives Python for a variable; `lines` then make what it names. `outputs` maps nodes
    to their names."""

    def __init__(
        self,
        builder: GuardBuilder,
        looker: Looker,
        memory: Memory,
        modes: Modes,
        born: dict[Variable, int],
    ) -> None:
        self.memory, self.modes = memory, modes
        self.builder, self.looker, self.born = builder, looker, born
        self.outputs: dict[Node, str] = {}
        self.handed_out: set[Node] = set()  # outputs that the program goes on with
        self.first: list[str] = []  # before anything is overwritten
        self.lines: list[str] = []
        self._made: dict[Variable, str] = {}
        self._counted: set[Node] = set()  # memories whose writes are told already
        self._unrecorded: set[str] = set()
        self._unfilled: list[Variable] = []
        self._last: list[str] = []

    def build(self, variable: Variable) -> str:
        """Python for a variable. Raises Break, with the step that made what cannot be made anew."""
        try:
            return self._build(variable)
        except Break as stop:
            if stop.step is None:
                stop.step = self.born.get(variable)
            raise

    def _build(self, variable: Variable) -> str:
        if isinstance(variable, Lazy):
            return (
                self.build(variable.seen)
                if variable.seen is not None
                else self.builder.load(variable.source)
            )
        if isinstance(variable, Mutable) and variable.whole is not None:
            return self.build(variable.whole)
        if variable.home:
            return variable.home
        if isinstance(variable, TensorVariable):
            assert variable.node is not None
            return self._tensor(variable.node)
        if isinstance(variable, Constant):
            return self._constant(variable)
        if isinstance(variable, NumberVariable):
            if variable not in self._made:
                self._made[variable] = self.looker.numbers.computed(variable.number)
            return self._made[variable]
        if isinstance(variable, CellVariable) and variable.source is not None:
            return self.builder.load(variable.source)  # shared with whoever else closes over it
        if variable not in self._made:
            self._made[variable] = self._make(variable)
        return self._made[variable]

    def _tensor(self, node: Node) -> str:
        name = self.output(self.memory.shown(node))
        self.handed_out.add(self.memory.shown(node))
        if node in self.modes.made and node not in self._counted:
            self._counted.add(node)
            self.lines.append(f"{self.builder.constant(to_inference, 'to_inference')}({name})")
        root = self.memory.written_inside(node)
        if root is not None and root not in self._counted:
            self._counted.add(root)
            self.lines.append(f"written({name}, {len(self.memory.writes[root])})")
        if self.memory.made_unrecorded(node) and name not in self._unrecorded:
            self._unrecorded.add(name)
            self.first.append(f"unrecord({name})")
        if self.memory.made_recorded(node) and name not in self._unrecorded:
            self._unrecorded.add(name)
            self.first.append(f"record_view({name}, {self.memory.base_home(node)})")
        detached = self.memory.own_history(node)
        if detached is not None and detached not in self._counted:
            self._counted.add(detached)
            names = f"{self._tensor(detached)}, {self.output(self.memory.current[detached])}"
            self.handed_out.add(self.memory.current[detached])
            self.lines.append(f"overwrite_recorded({names}, 0)")
        return name

    def output(self, node: Node) -> str:
        if node not in self.outputs:
            self.outputs[node] = self.builder.names.new(node.name)
        return self.outputs[node]

    def _constant(self, variable: Constant) -> str:
        value = variable.value
        if type(value) in LITERALS:
            return repr(value)
        if type(value) is re.Match:  # each call makes another one
            raise Break("operation", what="a match, in use where capture stops")
        return self.builder.constant(value, getattr(value, "__name__", None) or "constant")

    def _make(self, variable: Variable) -> str:
        if isinstance(variable, ListVariable):
            return self._later(variable, "list_", "[]")
        if isinstance(variable, DequeVariable):
            kind = self.builder.constant(deque, "deque")
            return self._later(variable, "deque", f"{kind}((), {variable.maxlen})")
        if isinstance(variable, BytearrayVariable):
            return self._named("bytes_", f"bytearray({bytes(variable.items)!r})")
        if isinstance(variable, DictVariable) and variable.owner is not None:
            return self._named("attributes", f"{self.build(variable.owner)}.__dict__")
        if isinstance(variable, DictVariable):
            return self._later(variable, "dict_", self._empty_dict(variable))
        if isinstance(variable, SetVariable):
            return self._set(variable)
        if isinstance(variable, CellVariable):
            return self._later(variable, "cell", f"{self.builder.constant(CellType, 'CellType')}()")
        if isinstance(variable, TupleVariable) and variable.cls is Size:
            kind = self.builder.constant(Size, "Size")
            return self._named("size", f"{kind}({self._tuple(variable.items)})")
        if isinstance(variable, TupleVariable):
            text = self._tuple(variable.items)
            if variable.cls is not tuple:
                new = self.builder.constant(tuple.__new__, "new_tuple")
                cls = self.builder.constant(variable.cls, variable.cls.__name__)
                return self._named(variable.cls.__name__.lower(), f"{new}({cls}, {text})")
            return self._named("tuple_", text) if variable.items else "()"
        if isinstance(variable, SliceVariable):
            return self._named("slice_", f"slice{self._tuple(list(variable.parts))}")
        if isinstance(variable, FunctionVariable):
            return self._function(variable)
        if isinstance(variable, IdVariable):
            return self._named("id_", f"id({self.build(variable.of)})")
        if isinstance(variable, IteratorVariable):
            return self._iterator(variable)
        if isinstance(variable, ViewVariable):
            function = getattr(variable.owner.cls, variable.name)
            method = self.builder.constant(function, variable.name)
            return self._named(variable.name, f"{method}({self.build(variable.owner)})")
        if isinstance(variable, MethodVariable):
            return self._method(variable)
        if isinstance(variable, (ExceptionVariable, TracebackVariable)):
            return self._exception(variable)
        if isinstance(variable, GeneratorVariable):
            return self._generator(variable)
        if isinstance(variable, ObjectVariable):
            return self._object(variable)
        raise Break("operation", what=f"a {variable.kind} that leaves the function")

    def _method(self, method: MethodVariable) -> str:
        owner = self.build(method.owner)
        if method.function is None:
            return self._named(method.name, f"({owner}).{method.name}")
        function = self.build(method.function)
        if isinstance(method.function, FunctionVariable):
            kind = self.builder.constant(MethodType, "MethodType")
            return self._named(method.name, f"{kind}({function}, {owner})")
        # with the type: for some methods in C CPython reads it without asking whether it was given
        return self._named(method.name, f"{function}.__get__({owner}, type({owner}))")

    def _object(self, made: ObjectVariable) -> str:
        """Made as `object.__new__` makes it; its `__init__` was followed, not to be run again."""
        cls = made.cls
        if cls is partial:
            return self._partial(made)
        if is_ours(cls):
            raise Break("operation", what="what cmp_to_key() made, in use where capture stops")
        given = [self.builder.constant(cls, cls.__name__)]
        if made.contents is not None and not isinstance(made.contents, Mutable):
            given.append(self.build(made.contents))
        base = object if made.contents is None else base_of(cls) or object
        new = self.builder.constant(base.__new__, "new")
        return self._later(made, cls.__name__.lower(), f"{new}({', '.join(given)})")

    def _generator(self, made: GeneratorVariable) -> str:
        """One that did not begin is what calling its function gives."""
        code = made.function.code
        if code.co_filename.startswith(POLYFILLS):
            return self._library_iterator(made)
        if made.frame is None or made.paused is not None or made.running:
            raise Break("generator", name=made.title)
        count, given = code.co_argcount, made.arguments
        texts = [self.build(given[name]) for name in code.co_varnames[:count]]
        rest = list(parameter_names(code)[count + code.co_kwonlyargcount :])
        if code.co_flags & VARARGS:
            texts.append(f"*{self.build(given[rest.pop(0)])}")
        for name in code.co_varnames[count : count + code.co_kwonlyargcount]:
            texts.append(f"{name}={self.build(given[name])}")
        texts += [f"**{self.build(given[name])}" for name in rest]
        return self._named("generator", f"{self.build(made.function)}({', '.join(texts)})")

    def _library_iterator(self, made: GeneratorVariable) -> str:
        """Python of ours was read in place of a builtin: the builtin's own iterator goes on."""
        found = remade(made)
        if found is None:
            raise Break("operation", what=f"a {made.kind} that is in use where capture stops")
        maker, given = found
        texts = ", ".join(map(self._inline, given))
        return self._named("iterator", f"{self.builder.constant(maker, 'remade')}({texts})")

    def _inline(self, variable: Variable) -> str:
        """A list of a polyfill's own is spelled out: others are filled later."""
        if isinstance(variable, ListVariable) and not variable.outside:
            return f"[{', '.join(map(self.build, self.looker.items(variable)))}]"
        return self.build(variable)

    def _exception(self, variable: ExceptionVariable | TracebackVariable) -> str:
        """One that was not raised yet, if there is no more to it than its arguments."""
        error = variable.error if isinstance(variable, TracebackVariable) else variable
        if error.raised or error.attributes or not error.plain:
            stop = Break("exception", name=error.cls.__name__)
            stop.step = self.born.get(error)
            raise stop
        cls = self.builder.constant(error.cls, error.cls.__name__)
        arguments = ", ".join(map(self.build, error.arguments))
        return self._named("error", f"{cls}({arguments})")

    def _partial(self, made: ObjectVariable) -> str:
        names = "func", "args", "keywords"
        function, args, keywords = (made.attributes.pop(name) for name in names)
        assert isinstance(args, TupleVariable) and isinstance(keywords, DictVariable) and function
        parts = [self.build(function), *map(self.build, args.items)]
        named = [f"{key!r}: {self.build(value)}" for key, value in keywords.items.items()]
        kind = self.builder.constant(partial, "partial")
        return self._later(made, "partial", f"{kind}({', '.join(parts)}, **{{{', '.join(named)}}})")

    def _iterator(self, variable: IteratorVariable) -> str:
        if type(variable) is not IteratorVariable or variable.sequence is None:
            raise Break("operation", what="an iterator that is in use where capture stops")
        sequence, function = variable.sequence, "iter"
        if isinstance(sequence, ListVariable) and sequence.whole is not None:
            function = self.builder.constant(list.__iter__, "list_iter")
        name = self._named("iterator", f"{function}({self.build(sequence)})")
        if variable.index:  # after its list is filled, for it goes no further than that is long
            self._last.append(f"{name}.__setstate__({variable.index})")
        return name

    def _empty_dict(self, variable: DictVariable) -> str:
        if variable.cls is dict:
            return "{}"
        kind = self.builder.constant(variable.cls, variable.cls.__name__)
        return f"{kind}({'' if variable.factory is None else self.build(variable.factory)})"

    def _tuple(self, items: list[Variable]) -> str:
        texts = [self.build(item) for item in items]
        return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"

    def _named(self, hint: str, text: str) -> str:
        name = self.builder.names.new(hint)
        self.lines.append(f"{name} = {text}")
        return name

    def _later(self, variable: Variable, hint: str, text: str) -> str:
        self._unfilled.append(variable)
        return self._named(hint, text)

    def _function(self, made: FunctionVariable) -> str:
        if made.code.co_filename.startswith(POLYFILLS):
            name = made.code.co_qualname.partition(".")[0]  # of the builtin that gave it
            raise Break("operation", what=f"what {name}() gave, in use where capture stops")
        if made.annotated:
            raise Break(
                "operation",
                what="a function with annotations that leaves the function it was made in",
            )
        if len(made.cells) != len(made.code.co_freevars):
            raise Break("opcode", name="MAKE_FUNCTION")  # 3.13: its closure is still to be set
        code = self.builder.constant(made.code, f"{made.code.co_name}_code")
        space = self.builder.constant(made.namespace, "G")
        kind = self.builder.constant(FunctionType, "FunctionType")
        defaults = self._tuple(made.defaults) if made.defaults else None
        closure = self._tuple(made.cells) if made.cells else None
        parts = f"{code}, {space}, None, {defaults}, {closure}"
        name = self._named(made.code.co_name, f"{kind}({parts})")
        if made.keyword_defaults:
            given = ", ".join(
                f"{key!r}: {self.build(value)}" for key, value in made.keyword_defaults.items()
            )
            self.lines.append(f"{name}.__kwdefaults__ = {{{given}}}")
        if made.attributes:
            self._unfilled.append(made)
        return name
