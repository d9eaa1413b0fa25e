"""A graph: nodes in execution order, inputs first, one output last.

In: calls, from capture or from a pass.  Out: something printable as Python, runnable and checkable.
Invariant: see `verify.py`; names are unique and stay with their node.
It describes what depends on what; not which loop, which buffer, which machine.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

from .meta import TensorMeta
from .names import Names, signature
from .node import Node, map_nodes

if TYPE_CHECKING:
    from ..shapes import ShapeEnv
    from ..trace import Origin

# What the printed code of a graph says besides the names of its nodes.
OF_PRINTED_CODE = ("self", "torch", "inf", "nan", "math")


class Graph:
    """Nodes in execution order. `call_function` and friends append (or insert, see
    `inserting_before`).
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._names = Names(OF_PRINTED_CODE)
        self._before: Node | None = None
        self._kept: set[str] = set()

    # ---- building ----

    def placeholder(
        self, name: str, meta: TensorMeta | None = None, origin: Origin | None = None
    ) -> Node:
        return self._create("placeholder", name, (), {}, name, meta, origin)

    def new_symbol(self, kind: str) -> str:
        """A name for a number, "s0" or "f0": kept free until `number` makes its placeholder."""
        place = next(n for n in count() if f"{kind}{n}" not in self._names.taken)
        self._names.taken.add(f"{kind}{place}")
        self._kept.add(f"{kind}{place}")
        return f"{kind}{place}"

    def number(self, name: str, symbol: str, origin: Origin | None = None) -> Node:
        """A placeholder for a number, before those for tensors; `symbol` says what it is."""
        self._names.taken -= self._kept & {name}
        first = next((n for n in self.nodes if not n.symbol), None)
        if first is None:
            node = self._create("placeholder", name, (), {}, name, None, origin)
        else:
            with self.inserting_before(first):
                node = self._create("placeholder", name, (), {}, name, None, origin)
        if node.name != name:
            raise RuntimeError(f"the name of symbol {name} is taken in this graph")
        node.symbol = symbol
        return node

    def get_attr(
        self, key: str, meta: TensorMeta | None = None, origin: Origin | None = None
    ) -> Node:
        return self._create("get_attr", key, (), {}, key, meta, origin)

    def call_function(self, target: Any, args: tuple = (), kwargs: dict[str, Any] | None = None, *,
                      meta: TensorMeta | None = None, origin: Origin | None = None,
                      name: str | None = None) -> Node:
        hint = name or str(getattr(target, "__name__", target))
        return self._create("call_function", target, args, kwargs or {}, hint, meta, origin)

    def output(self, value: Any, origin: Origin | None = None) -> Node:
        return self._create("output", "output", (value,), {}, "output", None, origin)

    def node_copy(self, node: Node, env: Callable[[Node], Any]) -> Node:
        """Append a copy of another graph's node; `env` says what stands here for each node it
        reads.
        """
        if node.symbol:
            return self.number(node.name, node.symbol, node.origin)
        args, kwargs = map_nodes(node.args, env), map_nodes(node.kwargs, env)
        return self._create(node.op, node.target, args, kwargs, node.name, node.meta, node.origin)

    def _create(self, op: str, target: Any, args: tuple, kwargs: dict, hint: str,
                meta: TensorMeta | None, origin: Origin | None) -> Node:
        node = Node(self, op, target, args, kwargs, self._names.new(hint), meta, origin)
        at = len(self.nodes) if self._before is None else self.nodes.index(self._before)
        self.nodes.insert(at, node)
        return node

    @contextmanager
    def inserting_before(self, node: Node) -> Iterator[None]:
        """New nodes go before `node` instead of to the end."""
        saved, self._before = self._before, node
        try:
            yield
        finally:
            self._before = saved

    def erase_node(self, node: Node) -> None:
        """Remove a node nobody reads. Raises RuntimeError when somebody does."""
        if node.users:
            readers = ", ".join(u.name for u in node.users)
            raise RuntimeError(f"cannot erase node {node.name}: it is read by {readers}")
        node.set_args(())
        self.nodes.remove(node)

    def eliminate_dead_code(self) -> int:
        """Erase calls whose result nobody reads; returns how many. Placeholders stay: they are the
        signature.
        """
        dead = 0
        for node in reversed(list(self.nodes)):
            if node.op in ("call_function", "get_attr") and not node.users:
                self.erase_node(node)
                dead += 1
        return dead

    # ---- looking ----

    @property
    def placeholders(self) -> list[Node]:
        return [n for n in self.nodes if n.op == "placeholder"]

    @property
    def numbers(self) -> list[Node]:
        """The placeholders that take numbers; they come first."""
        return [n for n in self.nodes if n.symbol]

    @property
    def symbols(self) -> set[str]:
        """The symbols that its nodes speak of."""
        return {symbol for node in self.nodes for symbol in node.symbols}

    @property
    def env(self) -> ShapeEnv | None:
        """What is known of its symbols; None when it speaks of none."""
        number = next((n for node in self.nodes for n in node.symbolic), None)
        return None if number is None else number.env

    @property
    def values_seen(self) -> dict[str, Any]:
        """What the symbols were when the graph was captured."""
        return {} if self.env is None else dict(self.env.values)

    @property
    def calls(self) -> list[Node]:
        return [n for n in self.nodes if n.op == "call_function"]

    @property
    def output_node(self) -> Node:
        return self.nodes[-1]

    @property
    def outputs(self) -> list[Any]:
        """The flat list of what the graph returns: nodes and constants."""
        value = self.output_node.args[0]
        return list(value) if isinstance(value, (tuple, list)) else [value]

    def python_code(self, name: str = "forward", comments: bool = True) -> str:
        """The graph as a Python function; each statement names its shape and the user's line."""
        params = [_parameter(n) for n in self.placeholders]
        lines = [signature(name, ["self", *params])]
        last = None
        for node in self.nodes:
            if node.op == "placeholder":
                continue
            if comments and node.origin and node.op != "output" and node.origin.line != last:
                last = node.origin.line
                where = f"    # {node.origin.file_name}:{last}  {node.origin.source.strip()}"
                lines.append(where.rstrip())
            note = f"  # {node.meta}" if comments and node.meta else ""
            lines.append(f"    {node.format()}{note}")
        return "\n".join(lines) + "\n"

    def copy(self) -> tuple[Graph, dict[Node, Node]]:
        """A copy, and the map from old nodes to new ones."""
        new: Graph = Graph()
        env: dict[Node, Node] = {}
        for node in self.nodes:
            env[node] = new.node_copy(node, env.__getitem__)
        return new, env

    def __str__(self) -> str:
        return self.python_code()


def _parameter(node: Node) -> str:
    about = node.symbol or (str(node.meta) if node.meta else "")
    return f"{node.name}: {about!r}" if about else node.name
