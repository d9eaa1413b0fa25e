"""One step of a graph.

opcode          target                      args
placeholder     the parameter's name        ()     (a tensor, or the number that `symbol` says)
get_attr        a key of GraphModule.attrs  ()
call_function   an operator of the table    nodes, tuples or lists of nodes, Python constants
output          "output"                    (one nested tuple of nodes and constants,)

Invariant: `args` and `kwargs` change only through `set_args` and `replace_all_uses_with`, which
keep `users` right. torch.fx has call_method and call_module too; here a method is the operator it
calls, so there is one vocabulary.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..shapes import SymNumber
from .meta import TensorMeta

if TYPE_CHECKING:
    from ..trace import Origin
    from .graph import Graph

OPCODES = ("placeholder", "get_attr", "call_function", "output")


def map_nodes(value: Any, fn: Callable[[Node], Any]) -> Any:
    """`value` with every node in it replaced by fn(node); containers keep their type."""
    if isinstance(value, Node):
        return fn(value)
    if isinstance(value, (tuple, list)):
        return type(value)([map_nodes(v, fn) for v in value])
    if isinstance(value, dict):
        return {k: map_nodes(v, fn) for k, v in value.items()}
    return value


def _collect(values: Iterable[Any], found: dict[Node, None]) -> None:
    for value in values:
        if isinstance(value, Node):
            found[value] = None
        elif isinstance(value, (tuple, list)):
            _collect(value, found)
        elif isinstance(value, dict):
            _collect(value.values(), found)


class Node:
    """An operation with its inputs; see the table above.

    `meta` is the TensorMeta of the result (None for output, or when the result is no tensor);
    `origin` is the user's place it came from; `users` are the nodes that read it, in order.
    `symbol` is set on a placeholder that takes a number: what it is for people, "float lr". Nobody
    is its user: arguments and metas speak of it by its name, in SymInts and SymFloats.
    """

    def __init__(self, graph: Graph, op: str, target: Any, args: tuple, kwargs: dict, name: str,
                 meta: TensorMeta | None = None, origin: Origin | None = None) -> None:
        self.graph, self.op, self.target, self.name = graph, op, target, name
        self.meta, self.origin = meta, origin
        self.symbol = ""
        self.users: dict[Node, None] = {}
        self.args: tuple = ()
        self.kwargs: dict[str, Any] = {}
        self.set_args(args, kwargs)

    @property
    def all_input_nodes(self) -> list[Node]:
        found: dict[Node, None] = {}
        _collect(self.args, found)
        if self.kwargs:
            _collect(self.kwargs.values(), found)
        return list(found)

    def set_args(self, args: tuple, kwargs: dict[str, Any] | None = None) -> None:
        if self.args or self.kwargs:
            for node in self.all_input_nodes:
                node.users.pop(self, None)
        self.args, self.kwargs = tuple(args), dict(kwargs or {})
        for node in self.all_input_nodes:
            node.users[self] = None

    def replace_all_uses_with(self, other: Node) -> None:
        """Everyone who read this node reads `other` from now on."""
        for user in list(self.users):
            swap = lambda n: other if n is self else n
            user.set_args(map_nodes(user.args, swap), map_nodes(user.kwargs, swap))

    @property
    def symbols(self) -> set[str]:
        """The symbols that its arguments and its meta speak of."""
        return {symbol for number in self.symbolic for symbol in number.symbols}

    @property
    def symbolic(self) -> list[SymNumber]:
        """The symbolic numbers among its arguments and in its meta."""
        found: list[SymNumber] = []
        layout = (*self.meta.shape, *self.meta.stride) if self.meta is not None else ()
        _collect_numbers((self.args, self.kwargs, layout), found)
        return found

    @property
    def target_name(self) -> str:
        return getattr(self.target, "__name__", str(self.target))

    def format(self) -> str:
        """The node as a line of Python."""
        if self.op == "output":
            return f"return {show(self.args[0])}"
        if self.op == "get_attr":
            return f"{self.name} = self.{self.target}"
        given = [show(a) for a in self.args] + [f"{k}={show(v)}" for k, v in self.kwargs.items()]
        return f"{self.name} = torch.{self.target_name}({', '.join(given)})"

    def __repr__(self) -> str:
        return self.name


def _collect_numbers(value: Any, found: list[SymNumber]) -> None:
    if isinstance(value, SymNumber):
        found.append(value)
    elif isinstance(value, (tuple, list)):
        for item in value:
            _collect_numbers(item, found)
    elif isinstance(value, dict):
        _collect_numbers(tuple(value.values()), found)


def show(value: Any) -> str:
    """An argument as Python text."""
    if isinstance(value, Node):
        return value.name
    if isinstance(value, tuple):
        return "(" + ", ".join(map(show, value)) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, list):
        return "[" + ", ".join(map(show, value)) + "]"
    return repr(value)
