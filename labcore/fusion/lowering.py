"""A functional graph to a `Program`: operators lowered by rule, values lazy until realized.

In: a verified functional graph whose nodes have metas.  Out: loops and extern steps over named
buffers. Lowering is an interpreter of operators (like eager mode and the tracer), so a composite
operator lowers by being run.
Invariant: inputs are read with their own strides from their first element; a buffer has the strides
eager mode would give it; the rules are `POINTWISE` and `RULES`, and what has none becomes an extern
step with its reason. `fuse=False` realizes every operator: one loop each, the "before" of the
access ledger.
Inductor's GraphLowering does the same over ATen operators, with FallbackKernel for what it does not
know.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .. import dtypes
from ..graph import Graph, Node as GraphNode, TensorMeta, map_nodes
from ..ops import OPS, Op
from ..ops.dispatch import interpreting
from ..shapes import surely_equal
from . import halves, moments, online, realize
from .indirect import PlaceNames
from .ir import Buffer, Expr, Loops, exprs, ops
from .lowering_indexed import READ_AT_PLACES
from .lowering_pointwise import POINTWISE, NoLoops, Rule
from .lowering_rules import BY_KIND, NO_RULE, WITHOUT_LOOPS
from .options import DEFAULT, FusionOptions
from .pair import Verdict
from .program import Extern, Operand, Program
from .rules import RULES
from .values import Computed, Leaf, Unlinear, Value, expanded, meta_of, probe, through


def lower(
    graph: Graph, fuse: bool | Collection[str] = True, options: FusionOptions = DEFAULT
) -> Program:
    """Lower a graph. Raises LoweringError for a graph that an earlier pass should have cleaned."""
    return Lowering(graph, fuse, options).run()


class LoweringError(AssertionError):
    """An earlier pass handed on a graph it should not have: a bug of the lab, never of its user."""


class Lowering:
    """One lowering. `values` has what each graph node is, `node` is being lowered."""

    def __init__(
        self, graph: Graph, fuse: bool | Collection[str], options: FusionOptions
    ) -> None:
        self.graph, self.fuse, self.options = graph, fuse, options
        self.program = Program(seen=graph.values_seen)
        self.values: dict[GraphNode, Any] = {}
        self.holders: dict[Value, list[GraphNode]] = {}  # value -> the nodes that are it
        self.outputs = {n for n in graph.outputs if isinstance(n, GraphNode)}
        self.names = {n.name for n in graph.nodes}
        # (producer, reader) -> bytes of the loads that the reader does not make
        self.inlined: dict[tuple[GraphNode, GraphNode], int] = {}
        self.place_names = PlaceNames()
        # loops in an order of their own: buffer -> shape of what they run over, axes in order
        self.reordered: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self.stored_of: dict[str, Computed] = {}  # buffer -> what was lazy before it
        self.spreads, self.online = moments.Spreads(self), online.Online(self)
        self.node: GraphNode = graph.nodes[0]
        self.wide = False  # is a node of halves being computed in float32?

    def run(self) -> Program:
        for node in self.graph.nodes:
            self.node = node
            if node.symbol:
                self.program.numbers.append(node.name)
            elif node.op == "placeholder":
                self.program.inputs.append(self._input(node))
            elif node.op == "get_attr":
                self.program.constants[self._input(node).name] = node.target
            elif node.op == "call_function":
                self._lower(node)
        self.program.outputs = [self._output(value) for value in self.graph.outputs]
        self.program.prune()
        self.program.decisions = list(self._decisions())
        return self.program

    # ---- nodes -----------------------------------------------------------------------------------

    def _input(self, node: GraphNode) -> Buffer:
        if node.meta is None:
            raise LoweringError(
                f"{node.op} {node.name} has no meta: its shape and dtype are unknown"
            )
        buffer = self.buffer(node.name, node.meta, "input")
        self.values[node] = Leaf(node.meta, buffer)
        return buffer

    def _lower(self, node: GraphNode) -> None:
        if node.target.mutates:
            raise LoweringError(
                f"{node.name} writes into its input: functionalization comes before lowering"
            )
        args, kwargs = map_nodes((node.args, node.kwargs), self.values.__getitem__)
        with interpreting(self):
            value = node.target(*args, **kwargs)
        if isinstance(value, Computed) and not node.target.alias:
            why = realize.reason_to_realize(node, value, node in self.outputs, self.inlines(node),
                                            self.options.materialize, self.online.spared(node))
            why = why or realize.read_from_memory(node, _why_memory)
            if why is not None:
                value = self.realize(value, node.name, why, self.role)
        self.values[node] = value
        if isinstance(value, Value):
            self.holders.setdefault(value, []).append(node)

    def inlines(self, node: GraphNode) -> bool:
        """May its readers compute it themselves?"""
        return self.fuse is True or bool(self.fuse and node.name in self.fuse)

    def call(self, op: Op, args: tuple, kwargs: dict[str, Any]) -> Value:
        """What an operator means here."""
        parts = op.compose or op.decompose
        if parts is not None:
            return parts(*args, **kwargs)
        params = op.bind(args, kwargs)
        if op.alias:
            return self.view(op, params.pop("input"), params)
        try:
            if op.name in RULES:
                return self.by_rule(op, params)
            if op.name in POINTWISE:
                return self.pointwise(op, POINTWISE[op.name], params)
        except NoLoops as error:
            return self.extern(op, args, kwargs, str(error))
        return self.extern(
            op, args, kwargs, WITHOUT_LOOPS.get(op.name) or BY_KIND.get(op.kind) or NO_RULE
        )

    # ---- the three families ----------------------------------------------------------------------

    def view(self, op: Op, value: Value, params: Mapping[str, Any]) -> Value:
        """The same value, read elsewhere; where that would need division, stored first."""
        if op.kind == "detach":
            return value
        try:
            return through(op, value, dict(params))
        except Unlinear:
            assert isinstance(value, Computed)
            return through(op, self.realize(value, value.node.name, realize.RESHAPED), dict(params))

    def pointwise(self, op: Op, rule: Rule, params: dict[str, Any]) -> Value:
        meta = meta_of(op, params)
        operands = [params.pop(name) for name in rule.operands]
        typed = operands[rule.uncast:]
        dtype = rule.common(
            *[v.meta if isinstance(v, Value) else v for v in typed if v is not None]
        )
        if rule.check is not None:
            rule.check(dtype, dict(zip(rule.operands, operands)))
        inside = dtype if rule.moves else dtypes.computed_in(dtype)
        casts: list[Callable[[Any], Any]] = [halves.same] * rule.uncast
        casts += [halves.cast_of(v, dtype, inside, rule.exact_numbers) for v in typed]
        args = [expanded(v, meta.shape) if isinstance(v, Value) else v for v in operands]

        def body(*given: Any) -> Any:
            found = rule.body(inside, *(cast(v) for cast, v in zip(casts, given)), **params)
            is_wide = meta.dtype.is_half and inside is not dtype
            return ops.to_dtype(found, meta.dtype) if is_wide else found

        return self.computed(meta, args, body)

    def by_rule(self, op: Op, params: dict[str, Any]) -> Value:
        """By a rule of its own; of halves, by that of float32, and rounded."""
        if not halves.computes_with(op, params):
            return RULES[op.name](self, op, params)
        meta = meta_of(op, params)
        self.wide = True
        try:
            found = RULES[op.name](self, op, {k: self._widened(v) for k, v in params.items()})
        finally:
            self.wide = False
        return self.typed(found, meta) if meta.dtype.is_half else found

    def _widened(self, value: Any) -> Any:
        if not halves.is_half(value):
            return value
        if not isinstance(value, Value):
            return dtypes.float32
        return self.typed(value, replace(value.meta, dtype=dtypes.float32))

    def computed(self, meta: TensorMeta, args: Sequence[Any], fn: Callable[..., Any]) -> Computed:
        """A lazy value of the node being lowered; lazy operands are inlined into it."""
        self.inline_all(args, meta)
        return Computed(meta, tuple(args), fn, self.node)

    def extern(self, op: Op, args: tuple, kwargs: dict[str, Any], reason: str) -> Leaf:
        """Call the eager operator: its tensor arguments must lie in memory."""
        operands: list[Operand] = []

        def stored(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return type(value)([stored(v) for v in value])
            if isinstance(value, Value):
                value = self.operand(value)
                operands.append(value)
            return value

        given, named = stored(args), {k: stored(v) for k, v in kwargs.items()}
        meta = meta_of(op, op.bind(args, kwargs))
        out = self.buffer(self.node.name, meta, self.role)
        self.program.steps.append(Extern(out, self.node, op, given, named, tuple(operands), reason))
        return Leaf(meta, out)

    def operand(self, value: Value) -> Operand:
        leaf = self.stored(value, realize.EXTERN)
        assert leaf.buffer is not None
        return Operand(leaf.buffer, leaf.meta.shape, leaf.meta.stride, leaf.offset)

    # ---- buffers ---------------------------------------------------------------------------------

    def realize(self, value: Value, name: str, why: str, role: str = "temp") -> Leaf:
        """Store a lazy value; everybody who had it lazily reads the buffer from now on."""
        out = self.buffer(name, value.meta, role)
        last = value.node if isinstance(value, Computed) else self.node
        self.add(realize.pointwise_loops(
            value, out, like=self._order_of(value), origin=realize.origins(value, last),
            title=name, why=why), value)
        self._inherit_order(value, out)
        if isinstance(value, Computed):
            self.stored_of[out.name] = value
        leaf = Leaf(value.meta, out)
        for node in self.holders.get(value, ()):
            self.values[node] = leaf
        self.holders[leaf] = self.holders.pop(value, [])
        return leaf

    def add(self, loops: Loops, value: Value) -> None:
        """Loops over a value."""
        self.program.steps.append(loops)
        if loops.reordered:
            self.reordered[loops.out.name] = value.meta.shape, loops.reordered

    def _order_of(self, value: Value) -> tuple[int, ...]:
        """The order in which a reduction that the value reads goes over the same axes, where that
        is not the order of memory: in the same order they share a nest."""
        return next((axes for shape, axes in self._orders(value)
                     if surely_equal(shape, value.meta.shape)), ())

    def _inherit_order(self, value: Value, out: Buffer) -> None:
        """Who reads what is computed of such a reduction is to follow its order as well."""
        for order in self._orders(value):
            self.reordered.setdefault(out.name, order)

    def _orders(self, value: Value) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        loads = probe(value).loads if self.reordered else []
        return [self.reordered[buffer] for buffer, _ in loads if buffer in self.reordered]

    def stored(self, value: Value, why: str) -> Leaf:
        """The value in memory."""
        if isinstance(value, Leaf) and value.buffer is not None:
            return value
        known = self.holders.get(value)
        name = known[0].name if known else f"{self.node.name}_input"
        return self.realize(value, name, why)

    def kept_if_dear(self, value: Value) -> Value:
        """A value that the node being lowered reads twice."""
        return self.stored(value, realize.TWICE) if probe(value).heavy else value

    def begin(self, value: Value, meta: TensorMeta) -> tuple[Buffer, Buffer]:
        """A buffer for the node being lowered, and the version that it begins with: a copy."""
        reused = self._last_read_here(value, meta)
        if reused is not None:
            return self.buffer(self.node.name, meta, self.role, reused.storage), reused
        out = self.buffer(self.node.name, meta, self.role)
        first = self.buffer(f"{out.name}_start", meta, "temp", storage=out.name)
        copy = self.typed(value, meta)
        self.program.steps.append(realize.pointwise_loops(
            copy, first, origin=realize.origins(copy, self.node), title=first.name,
            why=realize.WRITTEN))
        return out, first

    def _last_read_here(self, value: Value, meta: TensorMeta) -> Buffer | None:
        """The buffer that the value is, if loops made it in this layout and no other operator
        reads it: nobody sees what is written into it."""
        if not isinstance(value, Leaf) or value.buffer is None or not value.whole:
            return None
        names = set(self.holders.get(value, ()))
        users = {user for n in names for user in n.users} - names
        made = value.buffer.name in {loops.out.name for loops in self.program.loops}
        alone = made and value.buffer.role == "temp" and users == {self.node}
        same = exprs(meta.shape), exprs(meta.stride), meta.dtype
        buffer = value.buffer
        return buffer if alone and same == (buffer.shape, buffer.strides, buffer.dtype) else None

    def typed(self, value: Any, meta: TensorMeta) -> Computed:
        """A value or a number in this shape and type."""
        arg = expanded(value, meta.shape) if isinstance(value, Value) else value
        return self.computed(meta, [arg], halves.cast_of(arg, meta.dtype, meta.dtype))

    def part(self, value: Value, axis: int, start: Any, end: Any) -> Value:
        params = {"dim": axis, "start": start, "end": end, "step": 1}
        return self.view(OPS["slice"], value, params)

    @property
    def role(self) -> str:
        """What the result of the node being lowered is."""
        return "output" if self.node in self.outputs else "temp"

    def buffer(self, wanted: str, meta: TensorMeta, role: str,
               storage: str | None = None) -> Buffer:
        """A new buffer under the graph's name, numbered when that is taken."""
        if self.wide:  # what is made is not yet what the node is
            wanted, role = f"{wanted}_wide", "temp"
        name, number = wanted, 1
        while name in self.program.buffers or (name != wanted and name in self.names):
            name, number = f"{wanted}_{number}", number + 1
        found = Buffer.new(name, meta.shape, meta.dtype, role, meta.stride, storage)
        self.program.buffers[name] = found
        return found

    def inline_all(self, args: Iterable[Any], meta: TensorMeta) -> None:
        for arg in args:
            if isinstance(arg, Computed) and arg.node is not self.node:
                self.inline(arg, meta)

    def inline(self, producer: Computed, meta: TensorMeta) -> None:
        """Note that the node being lowered computes `producer` itself, once an element."""
        loads = meta.numel * producer.meta.dtype.itemsize
        self.inlined.setdefault((producer.node, self.node), loads)

    def _decisions(self) -> Iterator[Verdict]:
        """The verdicts on what was inlined, now that it is known what has a buffer nevertheless."""
        stored = {step.title for step in self.program.steps}
        first_reader: dict[GraphNode, GraphNode] = {}
        for producer, reader in self.inlined:
            first_reader.setdefault(producer, reader)
        for (producer, reader), loads in self.inlined.items():
            saved, detail = loads, f"{reader} computes {producer} itself instead of loading it"
            if producer.name in stored:
                detail += "; it is stored for others."
            else:
                detail += f": the value stays in a register, and {producer} needs no buffer."
                assert producer.meta is not None
                saved += producer.meta.nbytes if reader is first_reader[producer] else 0
            yield Verdict(producer.name, reader.name, True, "producer and consumer", detail,
                          Expr.of(saved))
        yield from self.online.verdicts()

    # ---- outputs ---------------------------------------------------------------------------------

    def _output(self, node: Any) -> Any:
        if not isinstance(node, GraphNode):
            return node
        value = self.values[node]
        if not isinstance(value, Leaf) or value.buffer is None:
            return self.realize(value, node.name, realize.OUTPUT, "output").buffer
        is_view = node.op == "call_function" and node.target.alias
        if value.buffer.role == "input" and (is_view or not value.whole):
            raise LoweringError(
                f"output {node.name} is a view of {value.buffer.name}: such outputs are made "
                "outside the compiled graph, by autodiff's epilogue"
            )
        if not value.whole:  # a view of something computed here: returned as a tensor of its own
            return self.realize(value, node.name, realize.OUTPUT, "output").buffer
        return self._returned(value.buffer.name)

    def _returned(self, name: str) -> Buffer:
        """Make a buffer an output after the fact: a no-op of it is returned."""
        buffer = self.program.buffers[name]
        if buffer.role == "temp":
            buffer = self.program.buffers[name] = replace(buffer, role="output")
            for step in self.program.steps:
                if step.out.name == name:
                    step.out = buffer
        return buffer


def has_loops(op: Op) -> bool:
    """Is there a rule that lowers this operator? (Some rules still refuse some arguments.)"""
    return op.name in RULES or op.name in POINTWISE


def _why_memory(user: GraphNode, node: GraphNode) -> str | None:
    """Why an operator wants this operand in memory, if it does."""
    if not has_loops(user.target):
        return realize.EXTERN
    if user.target.name not in READ_AT_PLACES:
        return None
    bound = user.target.bind(user.args, user.kwargs)
    return realize.AT_PLACES if bound["input"] is node else None
