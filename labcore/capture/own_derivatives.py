"""The derivative that a program gives to a step of its own, as part of the graph.

In: what `backward` wrote to the graph for a gradient that is not there yet.  Out: an operator that
gives the step's result and has these nodes, in a graph of their own, for its derivative.
Invariant: nothing of a backward is left in the forward's graph, nor in what capture knows of its
memory; what a graph cannot have (an effect, a draw, several results) is a Break, and CPython tells
the tape. Eager mode, autodiff and lowering treat the operator like any other.
Dynamo writes `autograd_function_apply`, an operator of two graphs, for the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from ..graph import Graph, Node, TensorMeta, map_nodes
from ..ops import OPS, Op
from ..ops.derivatives import Rule, meta_of as known_of
from ..ops.sharing import memory_of, meta_of, view_source
from ..shapes import SymNumber
from ..tensor.custom import is_broadcast
from .breaks import Break
from .memory import Memory
from .tape_facts import requires_grad
from .variables import Constant, TensorVariable, TupleVariable, Variable

if TYPE_CHECKING:
    from .interpreter.core import Interpreter

TANGENT = Op("_tangent", "factory", lambda: None, lambda: None)
# What capture knows of a region's memory, by the names that it has there.
KNOWN = (
    "contents current recorded tape_saw unrecorded views_recorded twins _detached _views".split()
)


@dataclass
class Beginning:
    """Where the forward has ended: its result, what stands for the gradient of that, and how far
    everything was that a backward is not to change."""

    result: TensorVariable
    tangent: Node
    effects: int
    memory: dict[str, Any]
    writes: dict[Node, list[int]]


@dataclass(frozen=True)
class Place:
    """Stands for the number at this place of those that a backward speaks of."""

    at: int


def stop(what: str) -> Break:
    return Break("autograd-function", what=what)


def _require(fact: bool, what: str) -> None:
    if not fact:
        raise stop(what)


def begin(vm: Interpreter, result: Variable) -> Variable:
    """A stand-in for the gradient of the result; nothing is recorded from here on."""
    tracer = vm.operators.tracer
    memory = tracer.memory
    _require(vm.modes.entry["grad"], "the region began where nothing is recorded")
    _require(isinstance(result, TensorVariable), "it has several results, or none")
    assert isinstance(result, TensorVariable)
    node = result.node
    _require(node is not None and result.source is None, "its result is an argument")
    assert node is not None
    views = [user for user in node.users if view_source(user) is node]
    own = memory_of(node) is node and node not in memory.contents and not views
    _require(own, "its result shares memory, or is written in place")
    meta = meta_of(node)
    plain = meta.dtype.is_floating_point and meta.is_contiguous and not requires_grad(vm, result)
    _require(plain and vm.derivative is None, "its result has a type, layout or history of its own")
    given = meta.with_grad(False)
    tangent = tracer.graph.call_function(TANGENT, meta=given, origin=tracer.origin, name="gradient")
    known = {name: _copied(getattr(memory, name)) for name in KNOWN}
    writes = {root: list(steps) for root, steps in memory.writes.items()}
    vm.derivative = Beginning(result, tangent, vm.effects.count, known, writes)
    vm.modes.flags["grad"], vm.modes.switched = False, vm.step
    return TensorVariable(given, tangent)


def finish(
    vm: Interpreter, name: str, args: Sequence[Variable], result: Variable, found: Variable
) -> Variable:
    """The result, now that of an operator with the gradients `found` for its derivative."""
    beginning, vm.derivative = vm.derivative, None
    vm.modes.flags["grad"] = True
    _require(beginning is not None and beginning.result is result, "its result is another one")
    assert beginning is not None
    memory = vm.operators.tracer.memory
    _require(all(vm.look(a) is not result for a in args), "its result is an argument")
    inputs, outputs = _pairs(vm, args, found)
    body = _body(vm.operators.tracer.graph, beginning.tangent)
    _check(vm, beginning, body)
    backward, saved = _cut_out(beginning.tangent, body, outputs)
    for node in reversed(body):
        vm.operators.tracer.graph.erase_node(node)
    vm.operators.tracer.graph.erase_node(beginning.tangent)
    for known, value in beginning.memory.items():
        setattr(memory, known, value)
    memory.writes = beginning.writes
    op = operator(_free_name(name, vm.operators.tracer.graph), backward)
    _give_history(vm, beginning.result, op, inputs, saved, numbers_in(backward))
    return beginning.result


def _pairs(
    vm: Interpreter, args: Sequence[Variable], found: Variable
) -> tuple[list[Node], list[Node]]:
    """The arguments that want a gradient, and the gradients."""
    read = vm.operators.tracer.memory.read
    given = list(found.items) if isinstance(found, TupleVariable) else [found]
    gradients = [vm.look(gradient) for gradient in given]
    while len(gradients) > len(args) and _is_none(gradients[-1]):
        gradients.pop()
    _require(len(gradients) == len(args), "its backward gives another number of gradients")
    inputs, outputs = [], []
    for argument, gradient in zip(map(vm.look, args), gradients):
        if not isinstance(argument, TensorVariable):
            _require(_is_none(gradient), "its backward gives a gradient for what is no tensor")
        elif requires_grad(vm, argument):
            _require(isinstance(gradient, TensorVariable), "its backward gives no gradient")
            assert isinstance(gradient, TensorVariable)
            fits = is_broadcast(gradient.meta.shape, argument.meta.shape)
            _require(fits, "its backward gives a gradient of another shape")
            inputs.append(read(vm.operators.input_node(argument)))
            outputs.append(read(vm.operators.input_node(gradient)))
    _require(bool(inputs), "its arguments want no gradient")
    return inputs, outputs


def _is_none(variable: Variable) -> bool:
    return isinstance(variable, Constant) and variable.value is None


def _body(graph: Graph, tangent: Node) -> list[Node]:
    """What was written since the gradient was made up."""
    return graph.nodes[graph.nodes.index(tangent) + 1 :]


def _check(vm: Interpreter, beginning: Beginning, body: list[Node]) -> None:
    """Raises Break for a backward that does more than compute."""
    memory, before = vm.operators.tracer.memory, beginning.writes
    own = {beginning.tangent, *body}
    written = {root for root, steps in memory.writes.items() if steps != before.get(root, [])}
    _require(written <= own, "its backward writes in place what is not its own")
    writes = sum(len(memory.writes[root]) for root in written)
    silent = vm.effects.count - beginning.effects == writes
    _require(silent, "its backward changes what is not its own")
    _require(_keys(memory) <= _keys(beginning.memory) | own, "its backward meets shared memory")
    dependent = {beginning.tangent}
    for node in body:
        plain = node.op == "call_function" and node.target.kind != "random"
        _require(plain and not node.target.opaque, f"its backward has {node.target_name}")
        sources = node.all_input_nodes
        if not dependent.isdisjoint(sources):
            # An output that nobody uses has no gradient, and nothing is then left of what has one.
            linear = node.target.name not in ("add", "sub") or dependent.issuperset(sources)
            _require(linear, "its backward adds something to a gradient")
            dependent.add(node)


def _keys(memory: Memory | dict[str, Any]) -> set[Node]:
    """The tensors of which anything is known."""
    known = memory if isinstance(memory, dict) else {name: getattr(memory, name) for name in KNOWN}
    return {key for name, value in known.items() if name != "_views" for key in value}


def _copied(known: Any) -> Any:
    if isinstance(known, dict):
        return {k: list(v) if isinstance(v, list) else v for k, v in known.items()}
    return set(known)


def _cut_out(tangent: Node, body: list[Node], outputs: list[Node]) -> tuple[Graph, list[Node]]:
    """The backward as a graph of the gradient and of what it reads of the forward; and these."""
    own = {tangent, *body}
    read = [node for user in body for node in user.all_input_nodes] + outputs
    saved = list(dict.fromkeys(node for node in read if node not in own))
    graph = Graph()
    env = {tangent: graph.placeholder("gradient", tangent.meta, tangent.origin)}
    for node in saved:
        env[node] = graph.placeholder(node.name, node.meta, node.origin)
    for node in body:
        env[node] = graph.node_copy(node, env.__getitem__)
    graph.output(tuple(env[node] for node in outputs))
    return graph, saved


def _free_name(name: str, graph: Graph) -> str:
    """One that no other operator of the graph has, for its printed code calls them by name."""
    taken = {*OPS, *(node.target_name for node in graph.calls)}
    numbered = (f"{name}_{number}" for number in count(1))
    return next(n for n in chain([name], numbered) if n not in taken)


def operator(name: str, backward: Graph) -> Op:
    """(result, tensors, saved, numbers) -> the result, a tensor of its own; the gradients of
    `tensors` are what `backward` computes of the result's gradient and `saved`. `numbers` are those
    that it speaks of and that vary."""
    # By place: what a number is called changes as more becomes known of it.
    places = {number.text: Place(at) for at, number in enumerate(numbers_in(backward))}
    by_place = lambda value: _mapped(value, SymNumber, lambda number: places[number.text])
    calls = [(node, by_place(node.args), by_place(node.kwargs)) for node in backward.calls]

    def formula(grad: Any, saved: list[Any], numbers: list[Any]) -> list[Any]:
        first, *others = backward.placeholders
        if not known_of(grad).is_contiguous:  # as it was taken to be
            grad = OPS["clone"](grad, True)
        env = {first: grad, **dict(zip(others, saved))}
        value_of = lambda place: numbers[place.at]
        for node, args, kwargs in calls:
            given, named = (_mapped(map_nodes(v, env.get), Place, value_of) for v in (args, kwargs))
            env[node] = node.target(*given, **named)
        return [env[node] for node in backward.outputs]

    def meta(result: TensorMeta, tensors: Any, saved: Any, numbers: Any) -> TensorMeta:
        return result

    op = Op(
        name,
        "custom",
        lambda result, *read: result.copy(),
        meta,
        decompose=lambda result, *read: OPS["clone"](result),
    )
    op.derivatives["tensors"] = Rule(formula, ("saved", "numbers"))
    return op


def numbers_in(graph: Graph) -> list[SymNumber]:
    """The numbers that vary among the arguments of its calls, each once."""
    found: dict[str, SymNumber] = {}
    for node in graph.calls:
        collect = lambda number: found.setdefault(number.text, number)
        _mapped((node.args, node.kwargs), SymNumber, collect)
    return list(found.values())


def _mapped(value: Any, kind: type, replace: Callable[[Any], Any]) -> Any:
    if isinstance(value, kind):
        return replace(value)
    if isinstance(value, (tuple, list)):
        return type(value)([_mapped(item, kind, replace) for item in value])
    if isinstance(value, dict):
        return {name: _mapped(item, kind, replace) for name, item in value.items()}
    return value


def _give_history(
    vm: Interpreter,
    result: TensorVariable,
    op: Op,
    inputs: list[Node],
    saved: list[Node],
    numbers: list[SymNumber],
) -> None:
    """The result stays the object that it is, and shows the operator's node."""
    tracer = vm.operators.tracer
    detach: Callable[[Node], Node] = lambda node: tracer.graph.call_function(
        OPS["detach"], (node,), meta=meta_of(node).with_grad(False), origin=tracer.origin
    )
    kept = [detach(node) if meta_of(node).requires_grad else node for node in saved]
    assert result.node is not None
    meta = meta_of(result.node).with_grad(True)
    given = (result.node, inputs, kept, numbers)
    node = tracer.graph.call_function(op, given, meta=meta, origin=tracer.origin)
    tracer.steps[node] = vm.step
    tracer.memory.save((node, result.node, *inputs, *saved))
    result.node, result.meta = node, meta
    tracer.stand_in(node, result)
