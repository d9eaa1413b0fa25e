"""Every access of a schedule in the order in which it happens, with what was computed on the way.

In: a schedule, and the inputs it runs on.  Out: plain data (JSON): passes {"name", "body"} of
statements as in `race.py`, with "index" (a text) and "heads" (the loops that begin before it); and
steps, one an access:

    {"pass", "i": turn, "where": "i0 = 1", "cell": place, "at": statement, "kind": "read" | "write",
     "buf", "reg", "value", "fresh": [{"reg", "at"}]: computed since the last access,
     "base": registers when this turn began, "regs": registers after the access}

A reduction is {"op": "fold", "kind": "sum", "reg": what adds up, "args": [reg]}; what a column adds
up is written once, at the end, as the ledger has it. A pass without loops is a call: "extern".
Invariant: the accesses are the loads and stores of the ledger, made by the interpreter; what a pass
reads again, or leaves in a row nearby, is in a register here.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product as turns_of
from typing import Any

from .. import dtypes
from .cells import Memory, Number
from .deps import Node
from .follow import Body, Question, questions
from .interpret import Interpreter, run
from .ir import Expr
from .nest import Nest
from .parts import ENDS
from .primitives import finished
from .scheduler import Schedule

Json = dict[str, Any]
Loop = tuple[str, Expr]


def tour(schedule: Schedule, inputs: Sequence[Any], constants: Mapping[str, Any]) -> Json:
    """{"passes", "steps", "memory": {buffer: its cells at the end}}."""
    steps: list[Json] = []
    passes: dict[int, Json] = {}
    numbers_of = {id(step): k for k, step in enumerate(schedule.steps)}

    def begin(nest: Nest, memory: Mapping[str, Memory], numbers: Mapping[str, Any]) -> Interpreter:
        number = numbers_of[id(nest)]
        guide = _Tourist(nest, memory, numbers, number, steps)
        passes[number] = {"name": pass_name(nest), "body": guide.body}
        return guide

    done = run(schedule, inputs, constants, begin)
    memory = {
        name: [number(value, buffer.dtype) for value in list(done.memory[buffer.storage])]
        for name, buffer in schedule.buffers.items()
    }
    for step in steps:  # one that was written over has what it had
        memory[step["buf"]][step["cell"]] = step["value"]
    return {
        "passes": [
            passes[k]
            if isinstance(step, Nest)
            else {"name": step.title, "body": [], "extern": True}
            for k, step in enumerate(schedule.steps)
        ],
        "steps": steps,
        "memory": memory,
    }


def pass_name(nest: Nest) -> str:
    """"add · relu": what it computes."""
    names = dict.fromkeys(o for node in nest.nodes for o in node.loops.origin)
    return " · ".join(o.target_name for o in names)


def number(value: Any, dtype: dtypes.dtype) -> Any:
    """A number that JSON can hold."""
    if not dtype.is_floating_point:
        return int(value)
    found = float(value)
    if math.isfinite(found):
        return int(found) if found.is_integer() else found
    return "NaN" if found != found else "Infinity" if found > 0 else "-Infinity"


class _Tourist(Interpreter):
    """An interpreter that writes down each access when it happens."""

    def __init__(self, nest: Nest, memory: Mapping[str, Memory], numbers: Mapping[str, Any],
                 number: int, steps: list[Json]) -> None:
        super().__init__(nest, memory, numbers)
        self.number, self.steps = number, steps
        bodies = questions(nest)
        self.body = _statements(nest, bodies, self.env)
        self.folds = {line["reg"]: at for at, line in enumerate(self.body) if line["op"] == "fold"}
        self.turns = _turns(nest, bodies, self.env)
        self.at, self.turn, self.where, self.table = 0, (-1, -1), "", ""
        self.known: dict[str, Any] = {}  # registers of this turn
        self.kept: dict[str, Any] = {}  # those that the next turn of the row has as well
        self.base: dict[str, Any] = {}
        self.fresh: list[Json] = []
        self.answering = False

    # ---- questions ----

    def _ask(self) -> None:
        """The next statement; a new turn begins with the registers that its row has kept."""
        self.at, turn, self.where = next(self.turns)
        if turn != self.turn:
            if turn[0] != self.turn[0]:
                self.kept = {}
            self.known = dict(self.kept)
            self.base, self.turn = dict(self.kept), turn

    def _know(self, value: Any, varies: bool, reg: str | None = None) -> None:
        reg = reg or self.body[self.at]["reg"]
        self.known[reg] = value
        if not varies:
            self.kept[reg] = value
        self.fresh.append({"reg": reg, "at": self.at})

    def _answer(self, found: Number) -> Number:
        told = number(found.value, found.dtype)
        self.body[self.at]["dtype"] = found.dtype.name
        if self.body[self.at]["op"] == "const":
            self.body[self.at]["value"] = told
        self._know(told, found.varies)
        return found

    def op(self, name: str, *args: Number) -> Number:
        if self.answering:  # part of an answer, and no question
            return super().op(name, *args)
        self._ask()
        return self._answer(super().op(name, *args))

    def constant(self, value: Any, dtype: dtypes.dtype) -> Number:
        self._ask()
        return self._answer(super().constant(value, dtype))

    def to_dtype(self, value: Number, dtype: dtypes.dtype) -> Number:
        self._ask()
        return self._answer(super().to_dtype(value, dtype))

    def index(self, expr: Expr, dtype: dtypes.dtype) -> Number:
        self._ask()
        return self._answer(super().index(expr, dtype))

    def place(self, name: str, value: Number, size: Expr) -> Expr:
        self._ask()
        self._know(value.value, value.varies)
        return super().place(name, value, size)

    def load(self, buffer: str, at: Expr) -> Number:
        self._ask()
        self.table = ""
        found = self._answer(super().load(buffer, at))
        if self.table == "loads":
            self.fresh.pop()
            self._step("read", buffer, at.value(self.env), self.body[self.at]["reg"])
        return found

    def store(self, buffer: str, at: Expr, value: Number) -> None:
        if not self.answering:
            self._ask()
        self.body[self.at]["dtype"] = value.dtype.name
        super().store(buffer, at, value)

    def reduce(self, buffer: str, at: Expr, kind: str, value: Number) -> None:
        self._ask()
        super().reduce(buffer, at, kind, value)
        self.body[self.at]["dtype"] = value.dtype.name
        column = self.part == "colred"
        if column:
            total = list(self.memory[self.nest.storage(buffer)])[at.value(self.env)]
        else:
            folded = self.part == "fold"
            total = self.folded[buffer] if folded else self.in_hand[buffer, at].value
            total = finished(kind, total)
        self._know(number(total, value.dtype), column, buffer)

    def scatter(self, buffer: str, at: Expr, value: Number, add: bool) -> None:
        self._composed("scatter", buffer, at, value, add)

    def scan(self, buffer: str, at: Expr, kind: str, value: Number) -> None:
        self._composed("scan", buffer, at, kind, value)

    def _composed(self, word: str, *args: Any) -> None:
        """A question that the interpreter answers by way of others."""
        self._ask()
        self.answering = True
        getattr(super(), word)(*args)
        self.answering = False

    # ---- accesses ----

    def _count(self, table: str, buffer: str, times: int = 1) -> None:
        self.table = table
        super()._count(table, buffer, times)

    def _write(self, buffer: str, at: Expr, value: Any) -> None:
        super()._write(buffer, at, value)
        if buffer in self.folds:  # a row is complete, or one more of a scan
            self.at = self.folds[buffer]
            self.known[buffer] = number(value, self.nest.buffers_by_name[buffer].dtype)
        self._step("write", buffer, at.value(self.env), self.body[self.at]["reg"])

    def _complete(self, node: Node) -> None:
        super()._complete(node)
        if self.nest.parts[node] == "colred" and self.nest.homes[node.name] == "memory":
            self._columns(node)

    def _columns(self, node: Node) -> None:
        """What a column adds up is complete."""
        self.at, self.where = self.folds[node.name], ""
        for cell, value in enumerate(list(self.memory[self.nest.storage(node.name)])):
            self.known = {node.name: number(value, node.out.dtype)}
            self._step("write", node.name, cell, node.name)

    def _step(self, kind: str, buffer: str, cell: int, reg: str) -> None:
        self.steps.append({
            "pass": self.number, "i": list(self.turn), "where": self.where, "cell": cell,
            "at": self.at, "kind": kind, "buf": buffer, "reg": reg, "value": self.known.get(reg),
            "fresh": self.fresh, "base": dict(self.base), "regs": dict(self.known),
        })  # fmt: skip
        self.fresh = []


# ---- the bodies ----------------------------------------------------------------------------------


def _turns(
    nest: Nest, bodies: list[Body], env: Mapping[str, Any]
) -> Iterator[tuple[int, tuple[int, int], str]]:
    """(statement, (row, turn), where) of every question, in the order in which they are asked."""
    spans = lambda loops: [range(size.value(env)) for _, size in loops]
    outer, inner = nest.outer_loops, nest.inner_loops
    firsts = [sum(len(b.questions) for b in bodies[:k]) for k in range(len(bodies))]
    turn = 0
    for row, place in enumerate(turns_of(*spans(outer))):
        for number in range(len(nest.passes)):
            for level in ("before", "inside"):
                mine = [k for k, b in enumerate(bodies) if (b.number, b.level) == (number, level)]
                loops = outer if level == "before" else outer + inner
                columns = turns_of(*spans(inner)) if level == "inside" else [()]
                for column in columns if mine else ():
                    numbers = zip((name for name, _ in loops), (*place, *column))
                    where = ", ".join(f"{name} = {n}" for name, n in numbers)
                    for k in mine:
                        for at in range(len(bodies[k].questions)):
                            yield firsts[k] + at, (row, turn), where
                    turn += 1
    row = math.prod(len(span) for span in spans(outer))
    for part in ENDS:
        mine = [k for k, b in enumerate(bodies) if b.level == part]
        loops = _loops_of(nest, part)
        for place in turns_of(*spans(loops)) if mine else ():
            where = ", ".join(f"{name} = {n}" for (name, _), n in zip(loops, place))
            for k in mine:
                for at in range(len(bodies[k].questions)):
                    yield firsts[k] + at, (row, turn), where
            turn += 1


def _loops_of(nest: Nest, level: str) -> list[Loop]:
    """The loops that statements at a level run in."""
    if level in ENDS:
        return [*nest.batch_loops, *nest.inner_loops] if level == "column" else []
    return nest.outer_loops + (nest.inner_loops if level == "inside" else [])


def _statements(nest: Nest, bodies: list[Body], env: Mapping[str, Any]) -> list[Json]:
    found: list[Json] = []
    before: tuple[int, str] | None = None
    for body in bodies:
        lines = [_statement(question) for question in body.questions]
        if (body.number, body.level) != before and lines:
            lines[0]["heads"] = _heads(nest, body, before, env)
        depth = len(_loops_of(nest, body.level))
        found += [line | {"depth": depth} for line in lines]
        before = body.number, body.level
    return found


def _heads(nest: Nest, body: Body, before: Any, env: Mapping[str, Any]) -> list[str]:
    """The loops that begin here, each at its depth."""
    outer, inner = nest.outer_loops, nest.inner_loops
    if body.level in ENDS:
        return [_head(loop, k, env) for k, loop in enumerate(_loops_of(nest, body.level))]
    rows = [] if before else [_head(loop, k, env) for k, loop in enumerate(outer)]
    if body.level == "before":
        return rows
    return rows + [_head(loop, len(outer) + k, env) for k, loop in enumerate(inner)]


def _head(loop: Loop, depth: int, env: Mapping[str, Any]) -> str:
    return f"{'  ' * depth}for {loop[0]} in range({loop[1].value(env)}):"


def _statement(question: Question) -> Json:
    word, args = question.word, [text.strip('"') for text in question.args]
    told: Json = {"op": word, "reg": question.name, "dtype": "float32"}
    if word == "load":
        told |= {"buf": args[0], "index": args[1]}
    elif word in ("store", "scatter"):
        told |= {"op": "store", "buf": args[0], "index": args[1], "reg": args[2]}
    elif word in ("reduce", "scan"):
        told |= {"op": "fold", "reg": args[0], "kind": args[2], "args": [args[3]],
                 "buf": args[0], "index": args[1]}
    elif word == "constant":
        told |= {"op": "const"}
    elif word in ("index", "place"):
        told |= {"op": "index", "args": [args[1]] if word == "place" else [], "text": args[0]}
    else:
        told |= {"args": args[:1] if word == "to_dtype" else args}
    if question.node is not None:
        told["node"] = question.node.name
        if question.node.origin is not None:
            told["line"] = question.node.origin.line
    return told
