"""From a view back to what it is a view of.

In: a view node, and nodes for what the viewed tensor and the view contain.  Out: pure nodes for
what the viewed tensor contains when the view's part of it is replaced.
Invariant: reading the view of the result gives the part; every other element stays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..graph import Node
from ..ops import OPS
from ..ops.sharing import meta_of
from .breaks import Break

Emit = Callable[..., Node]


def undo(emit: Emit, view: Node, before: Node, value: Node) -> Node:
    """What the tensor `view` is a view of contains, `before` with the part `value`."""
    name, rest = view.target_name, view.args[1:]
    shape = tuple(meta_of(before).shape)
    if view.target.kind == "detach":
        return value
    if name in ("select", "slice"):
        return emit(OPS[f"{name}_scatter"], (before, value, *rest), dict(view.kwargs))
    if name == "transpose":
        return emit(OPS[name], (value, *rest), dict(view.kwargs))
    if name == "permute":
        places = [place % len(shape) for place in _argument(view, "dims", 1)]
        back = tuple(places.index(axis) for axis in range(len(shape)))
        return emit(OPS[name], (value, back))
    if name in ("view", "squeeze", "unsqueeze"):
        return emit(OPS["reshape"], (value, shape))
    raise Break("inplace-operator", name=f"on what {name} gives", pure="where")


def _argument(node: Node, name: str, place: int) -> Any:
    return node.args[place] if len(node.args) > place else node.kwargs[name]
