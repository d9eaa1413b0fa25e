"""A program in a namespace of its own, called again and again.

In: source text.  Out: for each call, all there is to see of it, as plain data.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import sys
import warnings
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any
from unittest.mock import patch

import labcore as torch
from labcore.compiler import disable, graph_break
from labcore.compiler.exc import Unsupported
from labcore.tensor import Tensor

from .describing import Describer


class Refused(Exception):
    """The call raised Unsupported; `untouched`: and nothing of it had happened."""

    def __init__(self, untouched: bool) -> None:
        self.untouched = untouched


class World:
    """One run of the program's module; `f` is called as it is, or compiled."""

    def __init__(self, code: CodeType, exact: bool = True, looks_before: bool = False) -> None:
        self.looks_before = looks_before
        self.describe = Describer(code.co_filename, exact)
        self.events: list[Any] = []
        module = ModuleType(code.co_filename)
        self.scope: dict[str, Any] = vars(module)
        self.scope |= {
            "torch": torch,
            "disable": disable,
            "graph_break": graph_break,
            "note": disable(self._note),
        }
        with patch.dict(sys.modules, {module.__name__: module}):  # dataclasses look it up
            exec(code, self.scope)

    def _note(self, value: Any) -> None:
        """What it is right now, not what becomes of it."""
        self.describe.start()
        self.events.append(self.describe(value))

    def call(self, function: Callable[..., Any], number: int) -> Any:
        """Everything that can be observed of one call, and of the world after it."""
        with contextlib.suppress(Exception):  # a name that `f` has deleted: in both worlds
            self.scope["between"](number)
        try:
            args, kwargs = self.scope["inputs"](number)
        except Exception as error:  # no arguments from what `f` made of the world: in both, too
            self.describe.start()
            return {"outcome": ("raised", self.describe(error)), "world": self._world()}
        self.events.clear()
        self.scope.get("CLOSED", self.events).clear()
        self.describe.start()
        before = self._look(args, kwargs) if self.looks_before else None
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                outcome = "returned", function(*args, **kwargs)
                _backward(outcome[1])
            except Exception as error:
                outcome = "raised", error
        if isinstance(outcome[1], Unsupported):
            self.describe.start()
            told = bool(self.events or printed.getvalue())
            raise Refused(before == self._look(args, kwargs) and not told)
        self.describe.start()
        seen = {
            "outcome": (outcome[0], self.describe(outcome[1])),
            "arguments": (self.describe(args), self.describe(kwargs)),
            "printed": self.describe.text(printed.getvalue()),
            "events": list(self.events),
            "warnings": [
                (w.category.__name__, str(w.message), w.lineno)
                for w in warned
                if w.category is not RuntimeWarning and w.filename == self.describe.path
            ],
            "world": self._world(),
            # A traceback keeps values that nobody needs any more only in eager's frames.
            "closed": outcome[0] == "returned" and sorted(self.scope.get("CLOSED", {}).items()),
        }
        return seen

    def _look(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.describe(args), self.describe(kwargs), self._world()

    def _world(self) -> Any:
        names = [name for name in self.scope if name[0].isupper() and name != "CLOSED"]
        return [(name, self.describe(self.scope[name])) for name in names]


def _backward(value: Any) -> None:
    """The gradients of what is returned are to be seen, too."""
    parts = list(value) if type(value) in (tuple, list) else [value]
    for tensor in parts:
        if isinstance(tensor, Tensor) and tensor.requires_grad and not tensor.is_leaf:
            tensor.sum().backward()
            return


def compiled_source(source: str, path: str) -> CodeType:
    linecache.cache[path] = (len(source), None, source.splitlines(True), path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return compile(source, path, "exec")
