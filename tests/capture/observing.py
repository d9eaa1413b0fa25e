"""Everything that can be observed of a call: value, identity, mutations, events, exception.

In: a function and the objects it is given.  Out: plain data, equal for two runs that nobody can
tell apart.
"""

from __future__ import annotations

import types
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from typing import Any

from labcore.tensor import Tensor
from labcore.tensor.size import Size

PLAIN = (int, bool, str, bytes, range, type(None))
HOLDERS = (list, tuple, deque, OrderedDict, dict, set, frozenset, str, int, float)


class Describer:
    """One object gets one number, so equal descriptions share and alias alike."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.seen: dict[int, int] = {}
        self.kept: list[Any] = []

    def __call__(self, value: Any) -> Any:
        kind = type(value)
        if kind in PLAIN:
            return kind.__name__, value
        if kind is float:
            return "float", value.hex()
        if kind in (tuple, Size) and all(type(item) in PLAIN for item in value):
            return kind.__name__, tuple(value)  # Python itself makes one of equal constants
        if id(value) in self.seen:
            return "again", self.seen[id(value)]
        self.seen[id(value)] = len(self.seen)
        self.kept.append(value)
        return kind.__name__, len(self.seen), self._parts(kind, value)

    def _parts(self, kind: type, value: Any) -> Any:
        if kind is Tensor:
            facts = value.dtype.name, tuple(value.shape), tuple(value._stride), value.requires_grad
            return *facts, value.tolist()
        if isinstance(value, HOLDERS):
            own = dict(vars(value)) if hasattr(value, "__dict__") else {}
            return self._contents(value), *([self(own)] if own else [])
        if isinstance(value, Iterator):
            return [self(item) for item in value]  # what was left in it
        if kind is types.FunctionType:
            cells = [self(cell.cell_contents) for cell in value.__closure__ or ()]
            return value.__code__.co_name, cells
        if isinstance(value, BaseException):
            return self.error(value)
        if isinstance(value, type):
            return value.__qualname__
        if hasattr(value, "__dict__"):
            return self(dict(vars(value)))
        if hasattr(value, "__slots__"):
            return [self(getattr(value, name, None)) for name in value.__slots__]
        return repr(value)

    def _contents(self, value: Any) -> Any:
        """Of a container, or of an object of a class derived from a builtin one, whatever that has
        made of its methods."""
        base = next(base for base in HOLDERS if isinstance(value, base))
        if base in (dict, OrderedDict):
            return [(self(key), self(item)) for key, item in base.items(value)]
        if base in (set, frozenset):
            return sorted(map(repr, base.__iter__(value)))
        if base in (str, int, float):
            return base.__repr__(value)
        return [self(item) for item in base.__iter__(value)]

    def error(self, error: BaseException | None) -> Any:
        """Type, text, context, and the user's part of the traceback, by position."""
        if error is None:
            return None
        entries, entry = [], error.__traceback__
        while entry is not None:
            code = entry.tb_frame.f_code
            if code.co_filename == self.path:
                where = list(code.co_positions())[entry.tb_lasti // 2]
                entries.append((code.co_name, entry.tb_lineno, where))
            entry = entry.tb_next
        context = error.__context__ if error.__cause__ is None else error.__cause__
        return type(error).__name__, str(error), entries, self.error(context)


def observed(
    function: Callable[..., Any], args: tuple, events: list[Any], world: dict[str, Any], path: str
) -> Any:
    """Call, and tell all there is to see: result or error, arguments, events, globals."""
    describe = Describer(path)
    for value in (args, world):
        describe(value)
    describe.seen = {key: n for key, n in describe.seen.items()}
    try:
        result = ("value", describe(function(*args)))
    except Exception as error:
        result = ("error", describe.error(error))
    again = Describer(path)
    return result, again(list(args)), again(list(events)), again(world)
