"""A graph that can be called.

In: a graph and the constants its get_attr nodes name.  Out: `forward`, whose text is `code`.
This is what a backend is handed.
"""
from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from itertools import count
from types import SimpleNamespace
from typing import Any

from .. import dtypes
from .graph import Graph
from .printed import define

_numbers = count()


class GraphModule:
    """`forward(*placeholders)` runs the graph; `code` is its readable Python; `attrs` its
    constants.

    forward returns what the graph's output says: from capture always a tuple. `overwritten` names
    the placeholders whose tensors are written after each call, so that their contents are not to be
    kept; and the place of the output that holds the new contents, and serves nothing else: a
    backend may return the very tensor there, with the contents in it. None if there is none such.
    """

    def __init__(
        self,
        graph: Graph,
        attrs: dict[str, Any] | None = None,
        name: str = "GraphModule",
        overwritten: Mapping[str, int | None] | None = None,
    ) -> None:
        self.graph, self.attrs, self.name = graph, dict(attrs or {}), name
        self.overwritten = dict(overwritten or {})
        self._forward: Any = None

    def __getattr__(self, key: str) -> Any:
        try:
            return self.__dict__["attrs"][key]
        except KeyError:
            raise AttributeError(f"GraphModule has no attribute {key!r}") from None

    @property
    def code(self) -> str:
        return self.graph.python_code()

    @property
    def forward(self) -> Any:
        if self._forward is None:
            self.recompile()
        return self._forward

    def recompile(self) -> None:
        """Build `forward` anew: call it after changing the graph."""
        body = "".join(f"    {n.format()}\n" for n in self.graph.nodes if n.op != "placeholder")
        params = "".join(f", {n.name}" for n in self.graph.placeholders)
        source = f"def forward(self{params}):\n{body}"
        path = f"<graph {next(_numbers)}>"
        operators = {n.target_name: n.target for n in self.graph.calls}
        scope: dict[str, Any] = {
            "torch": SimpleNamespace(**dtypes.BY_NAME, **operators),
            "inf": math.inf,
            "nan": math.nan,
            "math": math,
        }
        define(source, path, scope, self)
        self._forward = scope["forward"].__get__(self)

    def __call__(self, *args: Any) -> Any:
        return self.forward(*args)

    def print_readable(self) -> None:
        sys.stdout.write(self.code)

    def __str__(self) -> str:
        return self.code
