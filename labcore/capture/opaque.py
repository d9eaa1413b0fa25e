"""Functions that capture does not look into: a call is one node of the graph.

In: a Python function of tensors.  Out: its meaning (see `callables.py`), which writes the node.
Invariant: the function is run on stand-ins to learn its results' shapes and types, so it computes
with operators only.
The node is a composite operator: backend "eager" calls the function, autodiff replaces the call by
the operators that it consists of, as AOTAutograd does. Of a function that gives a tuple, a list or
a dict the node has no meta; a node for each tensor in it reads it by its place, `torch._item`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..graph import Graph, Names, Node, TensorMeta
from ..ops import OPS, Op
from ..ops.dispatch import current, interpreting
from ..ops.sharing import memory_of
from .breaks import Break
from .callables import Meaning
from .operators import CaptureTracer, mapped
from .traced import Traced
from .variables import FunctionVariable, Variable

if TYPE_CHECKING:
    from .interpreter.core import Interpreter

Key = tuple[str, ...]
_names = Names(OPS)
_operators: WeakKeyDictionary[Callable, dict[Key, Op]] = WeakKeyDictionary()


def one_node(function: Callable) -> Meaning:
    """A call of `function` is one node."""

    def meaning(
        vm: Interpreter, called: FunctionVariable, args: list[Variable], kwargs: dict[str, Variable]
    ) -> Variable:
        op = operator_of(function, tuple(kwargs))
        write = partial(vm.operators.tracer.call_whole, op)
        return vm.operators.call(write, [*args, *kwargs.values()], {})

    return meaning


def operator_of(function: Callable, keywords: Key) -> Op:
    """The operator that calls `function`, the last arguments by these keywords."""
    known = _operators.setdefault(function, {})
    if keywords not in known:
        known[keywords] = _operator(function, keywords)
    return known[keywords]


def _operator(function: Callable, keywords: Key) -> Op:
    name = _names.new(function.__name__)

    def run(*args: Any) -> Any:
        count = len(args) - len(keywords)
        return function(*args[:count], **dict(zip(keywords, args[count:])))

    def compose(*args: Any) -> Any:
        graph = next((node.graph for node in _nodes_in(args)), None)
        if graph is None:
            return run(*args)
        return mapped(_written_out(run, args, graph), Traced, lambda found: found.node)

    def meta(*args: Any) -> Any:
        scratch = Graph()
        given = mapped(args, TensorMeta, lambda meta: scratch.placeholder("x", meta))
        return mapped(_written_out(run, given, scratch), Traced, lambda found: found.meta)

    op = Op(name, "composite", run, meta, compose=compose)
    op.opaque = True
    return op


def _written_out(run: Callable[..., Any], args: tuple, graph: Graph) -> Any:
    """Run on stand-ins for nodes, so that the operators are written to `graph`; gives what the
    function does, of stand-ins."""
    tracer = CaptureTracer(graph, lambda: None)
    tracer.origin = getattr(current(), "origin", None)

    with interpreting(tracer):
        result = run(*mapped(args, Node, tracer.known))
    _check(result)
    given = {memory_of(node) for node in _nodes_in(args)}
    if given & tracer.memory.contents.keys():
        raise Break("inplace-operator", name="of an argument", pure="add")
    found = mapped(result, Traced, lambda part: tracer.known(tracer.memory.read(part.node)))
    homes: list[Node] = []
    mapped(found, Traced, lambda part: homes.append(memory_of(part.node)))
    if len({*homes} - given) < len(homes):  # nobody sees that in the node
        raise Break("opaque-result", what="a tensor that shares its memory")
    return found


def _check(result: Any) -> None:
    """Raises Break for what is neither a tensor nor made of tensors."""
    kind = type(result)
    if kind is tuple or kind is list or kind is dict and all(type(key) is str for key in result):
        for part in result.values() if kind is dict else result:
            _check(part)
    elif kind is not Traced and result is not None:
        raise Break("opaque-result", what=f"a {kind.__name__}")


def _nodes_in(args: tuple) -> list[Node]:
    found: list[Node] = []
    mapped(args, Node, found.append)
    return found
