"""The loop bodies of a graph as data: separate passes and fused, for a race.

In: a functional graph and example inputs.  Out: plain data (JSON). A chain of pointwise loops over
the same elements can be run for any number of them, and has this schema:

    {"version": 1, "function": name,
     "buffers": [{"name", "role": "input" | "intermediate" | "output", "dtype",
                  "values": [...],              inputs only, the elements in order
                  "one": true}],                only where it has one element, read at [0] whatever
                  i is
     "lanes": [{"id": "separate" | "fused",
                "passes": [{"name": "add · relu", "body": [statement, ...]}]}]}

A statement is {"op", "reg", "dtype", "node", "line"} and, by `op`:
    "load", "store"   "buf": the array, at [i], or at [0] if the buffer is "one"
    "const"           "value": a number
    "to_dtype"        "args": [reg]
    a primitive       "args": [reg, ...], meaning as in `primitives.py`
"once": true marks what does not depend on i: kernels do it before the loop, so it counts once a
pass and not once a turn. `node` is the graph node and `line` the user's line (absent when unknown).
"nan" and infinities are the texts that both JavaScript's Number() and Python's float() read.
Any other graph is run for the inputs given: "fixed" is true, a buffer has its "size" and all of its
values, and a lane the "steps" and "memory" of `tour.py`.
Invariant: the bodies are run from the very nests that codegen prints, so counts and values are the
compiler's.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..graph import Graph
from ..shapes import SymNumber, Values
from .cells import plain
from .handlers import Name, Printer
from .ir import Buffer, Expr, ops, using
from .ledger import separate
from .lowering import lower
from .nest import Nest
from .options import DEFAULT, FusionOptions
from .program import Extern
from .scheduler import Schedule, schedule
from .tour import number, pass_name, tour

Json = dict[str, Any]


class NotOneSpace(ValueError):
    """The graph is no chain of pointwise loops over the same elements; the text says where."""


MOST_CELLS = 32  # elements of an array that is drawn
MOST_STEPS = 400  # accesses of a lane


class TooLarge(ValueError):
    """The arrays of a graph are too large to be shown access by access."""


def race_plan(graph: Graph, inputs: Sequence[Any], function: str = "f",
              names: Mapping[str, str] | None = None,
              constants: Mapping[str, Any] | None = None,
             options: FusionOptions = DEFAULT) -> Json:
    """The race of a graph. `inputs` (arrays or tensors) follow its placeholders; `names` replaces
    buffers' names; `constants` are the graph module's attributes; `options` make the schedule.

    Raises TooLarge for a graph that is run for these inputs, if they are more than can be shown.
    """
    fused = schedule(lower(graph, options=options), options=options)
    lanes = {"separate": separate(graph), "fused": fused}
    try:
        trace = _one_space(lanes, inputs)
    except NotOneSpace:
        trace = _fixed(lanes, inputs, constants or {}, Values(graph.values_seen))
    return _renamed({"version": 1, "function": function, **trace}, names or {})


def _fixed(lanes: Mapping[str, Schedule], inputs: Sequence[Any], constants: Mapping[str, Any],
           numbers: Values) -> Json:
    """Every access for these inputs, one after the other."""
    before = lanes["separate"]
    known = {**before.program.buffers, **lanes["fused"].program.buffers}
    sizes = {name: int(buffer.span.value(numbers)) for name, buffer in known.items()}
    turns = sum(int((n.rows * n.columns).value(numbers)) for n in before.nests)
    if max(sizes.values()) > MOST_CELLS or turns > MOST_STEPS:
        raise TooLarge(
            f"its arrays have up to {max(sizes.values())} elements, and what is shown access by "
            f"access has at most {MOST_CELLS}: give it smaller tensors"
        )
    tours = {lane: tour(plan, inputs, constants) for lane, plan in lanes.items()}
    touched = {s["buf"] for told in tours.values() for s in told["steps"]}
    first = tours["separate"]["memory"]
    given = {b.name for b in before.program.inputs} | before.program.constants.keys()
    buffers: list[Json] = []
    for buffer in known.values():
        if buffer.name in touched:
            role = "intermediate" if buffer.role == "temp" else buffer.role
            told: Json = {"name": buffer.name, "role": role, "dtype": buffer.dtype.name}
            values = {"values": first[buffer.name]} if buffer.name in given else {}
            buffers.append({**told, "size": sizes[buffer.name], **values})
    return {"fixed": True, "buffers": buffers,
            "lanes": [{"id": lane, **told} for lane, told in tours.items()]}


def _one_space(lanes: Mapping[str, Schedule], inputs: Sequence[Any]) -> Json:
    """A chain of pointwise loops, to be run for any number of elements.

    Raises NotOneSpace, naming the step, for reductions, extern steps, or loops over different
    elements.
    """
    passes = {lane: [_body(step) for step in plan.steps] for lane, plan in lanes.items()}
    _check_one_space([n for plan in lanes.values() for n in plan.nests])
    told = [
        _buffer(b, lanes["fused"], passes, inputs)
        for b in lanes["separate"].program.buffers.values()
    ]
    return {"buffers": [b for b in told if b],
            "lanes": [{"id": lane, "passes": passes[lane]} for lane in lanes]}


def _body(step: Nest | Extern) -> Json:
    if isinstance(step, Extern):
        raise NotOneSpace(
            f"{step.title} is an extern step ({step.reason}): a race needs loops only"
        )
    bad = next((n for n in step.nodes if n.loops.kind != "pointwise"), None)
    if bad is not None:
        what = "a reduction" if bad.is_reduction else f"a {bad.loops.kind}"
        raise NotOneSpace(f"{bad} is {what}: a race needs pointwise operators only")
    if len(step.loops) != 1:
        sizes = " x ".join(str(s) for _, s, _ in step.loops) or "one element"
        raise NotOneSpace(
            f"{step.name} runs over {sizes}: a race needs one loop over several elements"
        )
    printer = _RaceBody(step)
    with using(printer):
        for node in step.passes[0].inside:
            step.run(node)
    return {"name": pass_name(step), "body": printer.body}


def _check_one_space(nests: list[Nest]) -> None:
    sizes = {str(nest.columns): nest.name for nest in nests}
    if len(sizes) > 1:
        told = ", ".join(f"{name} over {size}" for size, name in sizes.items())
        raise NotOneSpace(f"the loops run over different numbers of elements: {told}")


class _RaceBody(Printer):
    """Writes statements instead of lines."""

    def __init__(self, nest: Nest) -> None:
        super().__init__(nest.buffers_by_name, [v for v, _ in nest.inner_loops])
        self.nest, self.body = nest, list[Json]()
        ((self.var, _),) = nest.inner_loops

    def statement(self, op: str, reg: str, dtype: dtypes.dtype, varies: bool, **more: Any) -> None:
        told: Json = {"op": op, "reg": reg, "dtype": dtype.name, **more}
        if not varies:
            told["once"] = True
        if ops.node is not None:
            told["node"] = ops.node.name
            if ops.node.origin is not None:
                told["line"] = ops.node.origin.line
        self.body.append(told)

    def register(self, key: tuple, op: str, dtype: dtypes.dtype, **more: Any) -> Name:
        if key not in self.memo:
            # A constant takes no number: tmp4 here is tmp4 in the kernel.
            number = sum(k[0] == "const" for k in self.memo) if op == "const" else self.count
            prefix = "const" if op == "const" else self.prefix
            name = self.memo[key] = Name(f"{prefix}{number}", dtype)
            self.count += op != "const"
            varies = any(map(self._varies, key))
            if varies:
                self.varying.add(name)
            self.statement(op, name, dtype, varies, **more)
        return self.memo[key]

    def op(self, name: str, *args: Name) -> Name:
        return self.register(
            (name, args), name, self.dtype_of(name, args), args=[str(a) for a in args]
        )

    def constant(self, value: Any, dtype: dtypes.dtype) -> Name:
        if isinstance(value, SymNumber):
            raise NotOneSpace(f"{ops.node} computes with {value}, an input that is no tensor")
        return self.register(
            ("const", repr(value), dtype.name), "const", dtype, value=number(value, dtype)
        )

    def to_dtype(self, value: Name, dtype: dtypes.dtype) -> Name:
        return self.register(("to_dtype", value, dtype.name), "to_dtype", dtype, args=[str(value)])

    def index(self, expr: Expr, dtype: dtypes.dtype) -> Name:
        raise NotOneSpace(f"{ops.node} computes with the index itself, which a race does not show")

    def place(self, name: str, value: Name, size: Expr) -> Expr:
        raise NotOneSpace(f"{ops.node} reads where another value says, and a race reads in order")

    def load(self, buffer: str, at: Expr) -> Name:
        if (buffer, at) not in self.held:
            self._check(buffer, at)
            self.held[buffer, at] = self.register(
                ("load", buffer, at), "load", self.buffers[buffer].dtype, buf=buffer
            )
        return self.held[buffer, at]

    def store(self, buffer: str, at: Expr, value: Name) -> None:
        self._check(buffer, at)
        if self.nest.homes[buffer] == "memory":
            self.statement("store", value, value.dtype, True, buf=buffer)
        self.held[buffer, at] = value

    def _check(self, buffer: str, at: Expr) -> None:
        if at not in (Expr.of(self.var), Expr()):
            raise NotOneSpace(
                f"{buffer} is used at [{at}]: a race needs every array at [i] or at [0]"
            )


def _buffer(
    buffer: Buffer, fused: Schedule, passes: Mapping[str, list[Json]], inputs: Sequence[Any]
) -> Json | None:
    """What the trace says of a buffer; None for an input that nobody reads."""
    used = [
        s
        for lane in passes.values()
        for p in lane
        for s in p["body"]
        if s.get("buf") == buffer.name
    ]
    if not used:
        return None
    role = "intermediate" if buffer.role == "temp" else buffer.role
    told: Json = {"name": buffer.name, "role": role, "dtype": buffer.dtype.name}
    places = [b.name for b in fused.program.inputs]
    if buffer.name in places:
        value = inputs[places.index(buffer.name)]
        flat = plain(np.asarray(getattr(value, "array", value))).reshape(-1).tolist()
        told["values"] = [number(v, buffer.dtype) for v in flat]
    if any(s.get("once") for s in used if s["op"] == "load"):
        told["one"] = True
    return told


def _renamed(trace: Json, names: Mapping[str, str]) -> Json:
    statements = [s for lane in trace["lanes"] for p in lane["passes"] for s in p["body"]]
    steps = [s for lane in trace["lanes"] for s in lane.get("steps", ())]
    for lane in trace["lanes"]:
        if "memory" in lane:
            lane["memory"] = {names.get(b, b): cells for b, cells in lane["memory"].items()}
    for key, items in (("name", trace["buffers"]), ("buf", statements), ("buf", steps)):
        for item in items:
            if key in item:
                item[key] = names.get(item[key], item[key])
    return trace
