"""Functions that capture does not look into: a call is one node of the graph.

In: a Python function of tensors.  Out: its meaning (see `callables.py`), which writes the node.
Invariant: the function is run on stand-ins to learn its result's shape and type, so it computes
with operators only, and gives one tensor.
The node is a composite operator: backend "eager" calls the function, autodiff replaces the call by
the operators that it consists of, as AOTAutograd does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..graph import Graph, Names, Node, TensorMeta
from ..ops import OPS, Op
from ..ops.dispatch import current, interpreting
from ..ops.sharing import memory_of
from .breaks import Break
from .callables import Meaning
from .operators import CaptureTracer, Traced
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
        return vm.operators.call(op, [*args, *kwargs.values()], {})

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
        return run(*args) if graph is None else _written_out(run, args, graph).node

    def meta(*args: Any) -> TensorMeta:
        scratch = Graph()
        given = _mapped(args, TensorMeta, lambda meta: scratch.placeholder("x", meta))
        return _written_out(run, given, scratch).meta

    op = Op(name, "composite", run, meta, compose=compose)
    op.opaque = True
    return op


def _written_out(run: Callable[..., Any], args: tuple, graph: Graph) -> Traced:
    """Run on stand-ins for nodes, so that the operators are written to `graph`."""
    tracer = CaptureTracer(graph, lambda: None)
    tracer.origin = getattr(current(), "origin", None)

    with interpreting(tracer):
        result = run(*_mapped(args, Node, tracer.known))
    if not isinstance(result, Traced):
        raise Break("opaque-result", what=f"a {type(result).__name__}")
    if {memory_of(node) for node in _nodes_in(args)} & tracer.memory.contents.keys():
        raise Break("inplace-operator", name="of an argument", pure="add")
    return tracer.known(tracer.memory.read(result.node))


def _nodes_in(args: tuple) -> list[Node]:
    found: list[Node] = []
    _mapped(args, Node, found.append)
    return found


def _mapped(value: Any, kind: type, replace: Callable[[Any], Any]) -> Any:
    """`value` with all of a kind in it replaced."""
    if isinstance(value, kind):
        return replace(value)
    if isinstance(value, (tuple, list)):
        return type(value)([_mapped(item, kind, replace) for item in value])
    return value
