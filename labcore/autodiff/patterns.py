"""A pattern matcher for graphs: what to look for and what to put there are both plain functions.

    Pattern("double_negation", lambda x: ops.neg(ops.neg(x)), lambda x: x, why="...")

In: a graph and patterns.  Out: a graph in which each place that a pattern fits is replaced.
Invariant: a replacement has the shape, strides and dtype of what it replaces, or is left undone;
what is returned stays a tensor of its own. A parameter stands for the same node wherever it occurs;
one that is annotated `Constant` stands for a number or another argument that is no tensor.
Inductor's `register_replacement` traces such functions into graphs of ATen operators, and matches
those.
"""
from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..graph import Graph, Node, TensorMeta, map_nodes
from ..ops import Op
from ..ops.dispatch import interpreting
from ..ops.parts import OnMetas
from ..ops.sharing import handed_on, memory_of
from ..ops.tracer import Tracer
from ..shapes import surely_equal
from .told import told

COMMUTATIVE = ("add", "mul")
Bound = dict[str, Any]


class Constant:
    """The annotation of a parameter that stands for what is no tensor."""


@dataclass(frozen=True)
class _Any:
    """A parameter of a pattern."""

    name: str
    constant: bool


@dataclass(frozen=True, eq=False)
class _Call:
    """A call in a pattern; `params` as the operator binds them."""

    op: Op
    params: dict[str, Any]


class _Reader:
    """The interpreter that writes down which operators a pattern calls."""

    def call(self, op: Op, args: tuple, kwargs: dict[str, Any]) -> _Call:
        return _Call(op, op.bind(args, kwargs))


@dataclass(frozen=True, eq=False)
class Pattern:
    """Replace what `find` computes by what `make` computes, where `when` is true of the parameters'
    values (nodes and constants). `why` is what makes that right. A pattern that leaves an operand
    out must see to it that nothing is `drawn` for it: the generator would be behind.
    """

    name: str
    find: Callable[..., Any]
    make: Callable[..., Any]
    why: str
    when: Callable[..., bool] = lambda **bound: True
    term: _Call = field(init=False)

    def __post_init__(self) -> None:
        given = [
            _Any(name, parameter.annotation in (Constant, Constant.__name__))
            for name, parameter in inspect.signature(self.find).parameters.items()
        ]
        with interpreting(_Reader()):
            object.__setattr__(self, "term", self.find(*given))

    def match(self, node: Node) -> Bound | None:
        """What each parameter stands for where the pattern ends in `node`; None if it does not."""
        return next((b for b in _matches(self.term, node, {}) if self.when(**b)), None)


def _matches(term: Any, value: Any, bound: Bound) -> Iterator[Bound]:
    """Every way in which a value fits a term, given what parameters stand for already."""
    if isinstance(term, _Any):
        if isinstance(value, Node) == term.constant:
            return
        if term.name not in bound or _same(bound[term.name], value):
            yield {**bound, term.name: value}
    elif isinstance(term, _Call):
        if isinstance(value, Node) and value.op == "call_function" and value.target is term.op:
            params = term.op.bind(value.args, value.kwargs)
            yield from _each(term, params, bound)
            if term.op.name in COMMUTATIVE:
                turned = {**params, "input": params["other"], "other": params["input"]}
                yield from _each(term, turned, bound)
    elif _same(term, value):
        yield bound


def _each(term: _Call, params: dict[str, Any], bound: Bound) -> Iterator[Bound]:
    """All parameters of a call, one after the other."""
    found = [bound]
    for name, part in term.params.items():
        found = [b for before in found for b in _matches(part, params[name], before)]
    yield from found


def _same(one: Any, other: Any) -> bool:
    """The same node; or constants that mean the same: 1 and 1.0 do, 0.0 and -0.0 do not."""
    if isinstance(one, Node) or isinstance(other, Node):
        return one is other
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    return type(one) is type(other) and bool(one == other)


def replace_patterns(graph: Graph, patterns: Iterable[Pattern], name: str) -> Graph:
    """Walk through the graph once; what a replacement ends in is looked at again."""
    by_root: dict[Op, list[Pattern]] = {}
    for pattern in patterns:
        by_root.setdefault(pattern.term.op, []).append(pattern)
    kept, new, env = returned(graph), Graph(), dict[Node, Any]()
    for node in graph.nodes:
        env[node] = found = new.node_copy(node, env.__getitem__)
        while found.op == "call_function":
            better = _replaced(found, by_root.get(found.target, ()), node in kept, name)
            if better is None:
                break
            env[node] = found = better
    new.eliminate_dead_code()
    return new


def _replaced(node: Node, patterns: Iterable[Pattern], kept: bool, name: str) -> Node | None:
    """What the first pattern that fits puts in the place of a node."""
    for pattern in patterns:
        bound = pattern.match(node)
        if bound is None or not _fits(pattern, bound, node):
            continue
        before = len(node.graph.nodes)
        with interpreting(Tracer(node.graph, node.origin)):
            found: Node = pattern.make(**bound)
        if kept and len(node.graph.nodes) == before:  # nothing was made: it is another tensor
            continue
        told(name, node, found, f"{pattern.name}: {pattern.why}")
        return found
    return None


def _fits(pattern: Pattern, bound: Bound, node: Node) -> bool:
    """Does the replacement have the node's layout and type?"""
    try:
        with interpreting(OnMetas()):
            meta = pattern.make(**map_nodes(bound, lambda n: n.meta))
    except (RuntimeError, TypeError, ValueError):  # not for these sizes or types
        return False
    return same_layout(meta, node.meta)


def same_layout(a: TensorMeta | None, b: TensorMeta | None) -> bool:
    """Equal shape, strides and dtype, whatever the symbols are."""
    if a is None or b is None or a.dtype is not b.dtype or a.ndim != b.ndim:
        return False
    return surely_equal((*a.shape, *a.stride), (*b.shape, *b.stride))


def returned(graph: Graph) -> set[Node]:
    """The nodes whose memory the caller gets: each must stay a tensor of its own."""
    found: set[Node] = set()
    for value in graph.outputs:
        while isinstance(value, Node):
            found |= {value, memory_of(value)}
            value = handed_on(value)
    return found


def drawn(value: Node) -> bool:
    """Are random numbers drawn for this value?"""
    todo, seen = [value], set[Node]()
    while todo:
        node = todo.pop()
        if node.op == "call_function" and node.target.kind == "random":
            return True
        seen.add(node)
        todo += [source for source in node.all_input_nodes if source not in seen]
    return False
