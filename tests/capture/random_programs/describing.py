"""A graph of objects as plain data: two worlds are alike if their descriptions are equal.

In: objects.  Out: nested tuples of plain values.  An object has one number for ever, so what is one
object here is one object there, in this call and in all that follow.
What Python itself shares or not as it likes (numbers, texts, tuples of such) has no number.
"""

from __future__ import annotations

import collections
import enum
import re
import sys
import types
from typing import Any

import numpy as np

from labcore.ops import Op
from labcore.tensor import Tensor
from labcore.tensor.storage import Storage

PLAIN = (int, bool, str, bytes, complex, range, type(None), type(...), type(NotImplemented))
NUMBER = re.compile(r"\d+\.\d+(?:e[-+]\d+)?")
NODE = re.compile(r"which is output \d+ of \w+")
ADDRESS = re.compile(r"0x[0-9a-f]+")


class Describer:
    """Describes objects of one world; `path` is where its program's code comes from."""

    def __init__(self, path: str, exact: bool = True) -> None:
        self.path, self.exact = path, exact
        self.numbers: dict[int, int] = {}
        self.kept: list[Any] = []  # so that no two objects have one id
        self.shown: set[int] = set()
        self.gradients: set[int] = set()  # storages of them

    def start(self) -> None:
        """A new look: what an object contains is told once a look."""
        self.shown = set()

    def __call__(self, value: Any) -> Any:
        kind = type(value)
        if kind in PLAIN:
            return kind.__name__, self.text(value) if kind is str else value
        if kind is float:
            return "float", self.number(value)
        if kind in (tuple, frozenset) and all(type(item) in (*PLAIN, float) for item in value):
            return kind.__name__, [self(item) for item in value]
        if isinstance(value, (types.ModuleType, enum.Enum)) or kind in BUILTIN:
            return kind.__name__, ADDRESS.sub("0x", repr(value))
        if kind is types.MethodType:
            return "method", self(value.__func__), self(value.__self__)
        if id(value) not in self.numbers:
            self.numbers[id(value)] = len(self.numbers)
            self.kept.append(value)
        number = self.numbers[id(value)]
        if number in self.shown:
            return kind.__name__, number
        self.shown.add(number)
        return kind.__name__, number, self._parts(kind, value)

    def text(self, text: str) -> str:
        """Without addresses, and without the names of derivatives, which of a graph are others;
        with numbers as far as they must be equal."""
        text = NODE.sub("which is an output", ADDRESS.sub("0x", text))
        return text if self.exact else NUMBER.sub(lambda m: f"{float(m[0]):.4g}", text)

    def number(self, value: float) -> Any:
        return value.hex() if self.exact else float(f"{value:.4g}")

    def _parts(self, kind: type, value: Any) -> Any:
        if kind is Tensor:
            return self._tensor(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, BaseException):
            return self._error(value)
        if kind in CONTAINERS:
            return CONTAINERS[kind](self, value)
        if kind is types.FunctionType:
            return self._function(value)
        if kind is types.GeneratorType:
            return self._generator(value)
        if kind in ITERATORS:
            made_by, parts, *state = value.__reduce__()
            return made_by.__name__, [self(part) for part in parts], [self(s) for s in state]
        own = dict(object.__getattribute__(value, "__dict__")) if hasattr(value, "__dict__") else {}
        inherited = self._inherited(value)
        return [(name, self(item)) for name, item in own.items()], inherited, self._slots(value)

    def _inherited(self, value: Any) -> Any:
        """What it holds as an instance of a builtin class, whatever its own has made of that."""
        base = next((base for base in HOLDERS if isinstance(value, base)), None)
        if base is dict:
            return [(self(key), self(item)) for key, item in dict.items(value)]
        if base in (str, int, float):
            return base.__repr__(value)
        return [] if base is None else [self(item) for item in base.__iter__(value)]

    def _slots(self, value: Any) -> Any:
        names = [n for cls in type(value).__mro__ for n in vars(cls).get("__slots__", ())]
        missing = object()
        found = [(name, _slot(value, name, missing)) for name in names]
        return [(name, self(item)) for name, item in found if item is not missing]

    def _tensor(self, value: Tensor) -> Any:
        array = value.array
        numbers = array.tolist() if self.exact else np.round(array.astype(float), 3).tolist()
        return (
            value.dtype.name,
            tuple(value.shape),
            tuple(value._stride),
            (value.requires_grad, value.is_leaf, value.storage_offset()),
            repr(numbers),
            self(value.untyped_storage()),
            self._gradient(value.grad),
        )

    def _gradient(self, value: Tensor | None) -> Any:
        """The tape keeps a gradient that nobody else holds, and copies another: by chance."""
        if value is not None:
            self.gradients.add(id(value.untyped_storage()))
        return None if value is None else self(value)

    def version(self, storage: Storage) -> int | None:
        return None if id(storage) in self.gradients else storage.version

    def _class(self, value: type) -> Any:
        if value.__module__ != self.path:
            return value.__qualname__
        hidden = ("__dict__", "__weakref__", "__doc__", "__module__", "__annotations__")
        names = [name for name in vars(value) if name not in hidden]
        return value.__qualname__, [
            (n, self(vars(value)[n]))
            for n in names
            if isinstance(vars(value)[n], (*PLAIN, types.FunctionType))
        ]

    def _function(self, value: types.FunctionType) -> Any:
        if value.__code__.co_filename != self.path:
            return value.__qualname__
        cells = [self._cell(cell) for cell in value.__closure__ or ()]
        more = {k: v for k, v in vars(value).items() if k != "_labcore_state"}
        own = [(name, self(item)) for name, item in more.items()]
        defaults = self(value.__defaults__), self(value.__kwdefaults__)
        return value.__qualname__, value.__name__, cells, defaults, own

    def _cell(self, cell: types.CellType) -> Any:
        if id(cell) not in self.numbers:
            self.numbers[id(cell)] = len(self.numbers)
            self.kept.append(cell)
        try:
            return self.numbers[id(cell)], self(cell.cell_contents)
        except ValueError:
            return self.numbers[id(cell)], "empty"

    def _generator(self, value: types.GeneratorType) -> Any:
        frame = value.gi_frame
        if frame is None:
            return value.__qualname__, "finished"
        inner = None if value.gi_yieldfrom is None else self(value.gi_yieldfrom)
        variables = {k: v for k, v in frame.f_locals.items() if not k.startswith(".")}
        shown = [(name, self(item)) for name, item in variables.items()]
        return value.__qualname__, frame.f_lineno, shown, inner

    def _error(self, error: BaseException) -> Any:
        entries: list[Any] = []
        entry = error.__traceback__
        while entry is not None:
            code = entry.tb_frame.f_code
            if code.co_filename == self.path:
                where = list(code.co_positions())[entry.tb_lasti // 2]
                entries.append((code.co_name, entry.tb_lineno, where))
            entry = entry.tb_next
        if isinstance(error, UnboundLocalError) and sys.version_info < (3, 12) and entries:
            entries[-1] = entries[-1][0]  # a superinstruction of 3.11 tells the one before
        args = [self(item) for item in error.args]
        around = self(error.__context__), self(error.__cause__), error.__suppress_context__
        own = {k: v for k, v in vars(error).items()}
        return args, entries, around, [(name, self(item)) for name, item in own.items()]


def _slot(value: Any, name: str, missing: Any) -> Any:
    for cls in type(value).__mro__:
        if name in vars(cls) and hasattr(vars(cls)[name], "__get__"):
            try:
                return vars(cls)[name].__get__(value)
            except AttributeError:
                return missing
    return missing


def _items(describe: Describer, value: Any) -> Any:
    return [describe(item) for item in value]


def _elements(describe: Describer, value: Any) -> Any:
    """Of a set, in its own order; but where an address is one's hash, that is chance, and is
    another in the other world."""
    by_address = (object.__hash__, Tensor.__hash__)
    if any(type(item).__hash__ in by_address for item in value):
        value = sorted(value, key=_by_kind)
    return [describe(item) for item in value]


def _by_kind(item: Any) -> tuple[str, str]:
    kind = type(item)
    return kind.__name__, repr(item) if kind in (*PLAIN, float) else ""


def _pairs(describe: Describer, value: Any) -> Any:
    return [(describe(key), describe(item)) for key, item in value.items()]


CONTAINERS: dict[type, Any] = {
    list: _items,
    tuple: _items,
    set: _elements,
    frozenset: _elements,
    dict: _pairs,
    collections.deque: lambda describe, value: (_items(describe, value), value.maxlen),
    collections.defaultdict: lambda describe, value: (
        _pairs(describe, value),
        describe(value.default_factory),
    ),
    collections.Counter: _pairs,
    collections.OrderedDict: _pairs,
    slice: lambda describe, value: repr(value),
    Storage: lambda describe, value: describe.version(value),
}
HOLDERS: tuple[Any, ...] = (list, tuple, dict, set, str, int, float)
BUILTIN = (types.BuiltinFunctionType, types.MethodWrapperType, Op)
ITERATORS = (
    *(type(iter(value)) for value in ([], (), range(0), "", {}, set())),
    *(type(iter({}.values())), type(iter({}.items())), type(reversed([])), type(reversed(()))),
    *(map, zip, enumerate, filter, type(reversed(range(0)))),
)
