"""Loop bodies and what six handlers answer them, for LoopStepper.

In: a graph for the loop compiler, with the numbers it ran on.  Out: JSON for `static/bodies.js`
(its header has the schema).
Invariant: every answer, line and count is the handler's own, heard while it ran that very body; the
handlers are those that the compiler uses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from labcore.codegen import options_for, print_kernel
from labcore.codegen.cuda import GridKernel, print_launches
from labcore.codegen.printer import Kernel, Note
from labcore.fusion import Nest, Schedule, fuse_graph, separate
from labcore.fusion.follow import Body, Heard, heard, questions
from labcore.fusion.handlers import Printer, Reads
from labcore.fusion.interpret import Interpreter, run
from labcore.fusion.ir import LAST, Asked, Expr, ops, using
from labcore.fusion.ledger import TABLES, Count, count_nest
from labcore.fusion.primitives import PRIMITIVES
from labcore.fusion.show import ShowNest
from labcore.shapes import Values

from ._graphs import Fused, renamed

Json = dict[str, Any]
MOST_TURNS = 16  # of a loop whose values are shipped
MOST_RUNS = 50_000  # questions that interpreting everything may ask
MARKS = {"load": "read", **dict.fromkeys(("store", "reduce", "scan", "scatter"), "write")}


def bodies_of(fused: Fused) -> Json:
    """The bodies {"before": [...], "after": [...]} of a graph: each operator alone, and scheduled.

    Raises ValueError where the loops are too long to be interpreted.
    """
    graph = fused.module.graph
    fused_plan = fuse_graph(graph, fused.phase, options_for(graph))
    plans = {"before": separate(graph), "after": fused_plan}
    values = Values(graph.values_seen)
    told = {when: _bodies(plan, fused, values) for when, plan in plans.items()}
    return renamed(told, fused.names)


def _bodies(plan: Schedule, fused: Fused, values: Values) -> list[Json]:
    listings = {nest: questions(nest) for nest in plan.nests}
    asked = sum(_turns(n, values) * sum(len(b.questions) for b in listings[n]) for n in plan.nests)
    if asked > MOST_RUNS:
        raise ValueError(
            f"LoopStepper interprets every turn of every loop, here {asked} questions, and takes "
            f"{MOST_RUNS}: give it smaller tensors; the bodies stay the same"
        )
    spoken = heard(Interpreter, lambda: run(plan, fused.inputs, fused.module.attrs), _turn)
    return [
        _body(step, number, listings[step], [h for h in spoken if h.seen[0] is step], values)
        if isinstance(step, Nest)
        else {"title": step.title, "extern": step.reason}
        for number, step in enumerate(plan.steps)
    ]


def _turns(nest: Nest, values: Values) -> int:
    return int((nest.rows * nest.columns).value(values))


def _body(nest: Nest, number: int, bodies: list[Body], spoken: list[Heard], values: Values) -> Json:
    origins = dict.fromkeys(n.name for node in nest.nodes for n in node.loops.origin)
    asked = [question for body in bodies for question in body.questions]
    places = Places(bodies)
    return {
        "title": " + ".join(origins),
        "turns": _turns(nest, values),
        "sections": _sections(nest, bodies),
        "questions": [
            {"text": str(q), "word": q.word, "args": list(q.args), "line": _line(q)}
            for q in asked
        ],
        "handlers": [
            _show(nest, places),
            _reads(nest, bodies),
            _count(nest, values),
            _interpret(nest, spoken, len(asked)),
            _numba(nest, number, places),
            _cuda(nest, number, places),
        ],
    }


def _line(question: Any) -> int | None:
    origin = question.node.origin if question.node is not None else None
    return origin.line if origin is not None else None


def _sections(nest: Nest, bodies: list[Body]) -> list[Json]:
    """One a body: the head of its function, in which pass it runs and how often."""
    found: list[Json] = []
    first = 0
    for body in bodies:
        loops = nest.outer_loops + (nest.inner_loops if body.level == "inside" else [])
        name = body.node.name if len(bodies) > 1 else "body"
        head = f"def {name}({', '.join(var for var, _ in loops)}):"
        found.append({"head": head, "pass": body.number, "level": body.level, "first": first})
        first += len(body.questions)
    return found


# ---- printers ------------------------------------------------------------------------------------


class Places:
    """Which of a nest's questions, counted from 0, each question of a body is."""

    def __init__(self, bodies: Sequence[Body]) -> None:
        self.asked: dict[str, tuple[int, int]] = {}
        first = 0
        for body in bodies:
            self.asked[body.node.name] = first, first + len(body.questions) - 1
            first += len(body.questions)
        self.count = first

    def of(self, asked: Asked | None) -> int | None:
        if asked is None or asked[0] not in self.asked:
            return None
        (first, last), k = self.asked[asked[0]], asked[1]
        return last if k == LAST else first + k


def _show(nest: Nest, places: Places) -> Json:
    found: list[tuple[str, Asked | None]] = []
    told = _answers(lambda: found.extend(ShowNest(nest).lines()), places)
    return _printed("show", "ShowNest", told, found, places)


def _numba(nest: Nest, number: int, places: Places) -> Json:
    kernels: list[Kernel] = []
    told = _answers(lambda: kernels.append(print_kernel(nest, number)), places)
    return _printed("numba", "CpuPrinter", told, _lines(kernels), places)


def _cuda(nest: Nest, number: int, places: Places) -> Json:
    """Kernels for a card, each under how it is launched. There nobody knows which row is the last
    one, so a schedule for a card has no work at its end."""
    if nest.ends or "fold" in nest.parts.values():
        lines: list[tuple[str, Asked | None]] = [(text, None) for text in NOT_ON_A_CARD]
        return _printed("cuda", "GridPrinter", [""] * places.count, lines, places)
    kernels: list[GridKernel] = []
    told = _answers(lambda: kernels.extend(print_launches(nest, number).kernels), places)
    return _printed("cuda", "GridPrinter", told, _lines(kernels), places)


NOT_ON_A_CARD = (
    "# A card's blocks end when they like: none",
    "# of them knows which row is the last one.",
    "# There this is two nests.",
)


def _answers(run: Callable[[], Any], places: Places) -> list[str]:
    """What a printer says to each question; one that it is asked again has its first answer."""
    found: dict[int | None, str] = {}
    for h in heard(Printer, run, lambda handler, args: places.of(ops.asked)):
        found.setdefault(h.seen, str(h.answer or ""))
    return [found.get(place, "") for place in range(places.count)]


def _lines(kernels: Sequence[Kernel]) -> list[tuple[str, Asked | None]]:
    """The kernels' text, each line with the question that made it."""
    found: list[tuple[str, Asked | None]] = []
    for kernel in kernels:
        if isinstance(kernel, GridKernel):
            found.append((f"# launched as {kernel.launch}: {kernel.form}", None))
        for text, note in zip(kernel.source.splitlines(), kernel.notes, strict=True):
            found.append((text, note.asked if isinstance(note, Note) else None))
    return found


def _bare(text: str) -> str:
    """Without the note beside it: the question itself is shown."""
    return re.sub(r"\s+# .*", "", text)


def _printed(
    kind: str, name: str, answers: Sequence[str], lines: Sequence[tuple[str, Asked | None]],
    places: Places,
) -> Json:
    """A printer: its answers, and its text, each line with the question that made it."""
    lines = [(_bare(text), asked) for text, asked in lines]
    since = [places.of(asked) for _, asked in lines]
    notes = [
        "; ".join(text.strip() for (text, _), step in zip(lines, since) if step == place)
        for place in range(places.count)
    ]
    return {
        "id": kind,
        "name": name,
        "steps": [{"answer": a, "note": note} for a, note in zip(answers, notes, strict=True)],
        "lines": _since([text for text, _ in lines], since),
    }


def _since(lines: Sequence[str], since: Sequence[int | None]) -> list[Json]:
    """When each line of a text is there: with its question. The head of a loop comes with what
    stands in it, and any other line of nobody's with the last question before it.
    """
    told, latest = [], 0
    for k, line in enumerate(lines):
        step = since[k]
        if step is None:
            step = latest if not line.endswith(":") else _first_inside(lines, since, k, latest)
        latest = max(latest, step)
        told.append({"text": line, "since": step})
    return told


def _first_inside(
    lines: Sequence[str], since: Sequence[int | None], k: int, latest: int
) -> int:
    """The first question of what stands in the block that line k begins; of a function, none."""
    deep = [len(line) - len(line.lstrip()) for line in lines]
    if not deep[k]:
        return latest
    end = next((j for j in range(k + 1, len(lines)) if deep[j] <= deep[k]), len(lines))
    return min((step for step in since[k + 1 : end] if step is not None), default=latest)


# ---- watchers ------------------------------------------------------------------------------------


def _reads(nest: Nest, bodies: list[Body]) -> Json:
    def run_all() -> None:
        with using(Reads()):
            for body in bodies:
                nest.run(body.node)

    told = heard(Reads, run_all)
    steps, lines, known = [], list[Json](), set[tuple[str, str]]()
    for step, h in enumerate(told):
        note = ""
        if h.word in MARKS:
            place = f"{h.args[0]}[{h.args[1]}]"
            note = place
            if (MARKS[h.word], place) not in known:
                known.add((MARKS[h.word], place))
                lines.append({"text": place, "mark": MARKS[h.word], "since": step})
        elif h.word == "op":
            note = "heavy" if PRIMITIVES[h.args[0]].heavy else "operation"
        steps.append({"answer": "", "note": note})
    return {"id": "reads", "name": "Reads", "steps": steps, "lines": lines}


def _count(nest: Nest, values: Values) -> Json:
    def look(handler: Count, args: Any) -> Counter[tuple[str, str]]:
        tables = ((t, buffer, n) for t in TABLES for buffer, n in getattr(handler, t).items())
        return Counter({(t, buffer): int(n.value(values)) for t, buffer, n in tables})

    told = heard(Count, lambda: count_nest(nest), look)
    steps, lines, before = [], list[Json](), Counter[tuple[str, str]]()
    for step, h in enumerate(told):
        new = [{"table": t, "buf": b, "n": n} for (t, b), n in (h.seen - before).items()]
        before = h.seen
        lines += [line | {"since": step} for line in new]
        steps.append({"answer": str(h.answer), "note": "", "adds": new})
    return {"id": "count", "name": "Count", "steps": steps, "lines": lines}


# ---- the interpreter -----------------------------------------------------------------------------


def _turn(handler: Interpreter, args: tuple[Any, ...]) -> tuple[Nest, dict[str, Any], str, Any]:
    """In which turn of which nest a question is asked, and the partial result it leaves."""
    return handler.nest, dict(handler.env), handler.part, _partial(handler, args)


def _partial(handler: Interpreter, args: tuple[Any, ...]) -> Any:
    """What a reduction, or what is written in turns, has come to; None for any other question."""
    if len(args) != 4 or not isinstance(args[1], Expr):
        return None
    buffer, at, _, _ = args
    if (buffer, at) in handler.in_hand:
        return handler.in_hand[buffer, at].value
    cells = handler.memory[handler.nest.storage(buffer)]
    return list(cells)[at.value(handler.env)]


def _interpret(nest: Nest, spoken: list[Heard], count: int) -> Json:
    """Every turn is interpreted; the first ones are told, each as the questions of that turn."""
    turns = [
        {"at": at, "steps": [_step(h) for h in told]}
        for at, told in _turns_of(nest, spoken)
        if len(told) == count
    ]
    return {"id": "interpret", "name": "Interpreter", "turns": turns}


def _turns_of(nest: Nest, spoken: list[Heard]) -> Iterable[tuple[str, list[Heard]]]:
    """(where, what was asked there): of a row's statements all, of its inner loop one turn."""
    outer, inner = ([var for var, _ in loops] for loops in (nest.outer_loops, nest.inner_loops))
    place: Callable[[Heard, list[str]], tuple] = lambda h, names: tuple(
        h.seen[1].get(var) for var in names
    )
    inside = [h for h in spoken if h.seen[2] != "row"]
    where = dict.fromkeys((place(h, outer), place(h, inner)) for h in inside)
    if not where:
        where = dict.fromkeys((place(h, outer), ()) for h in spoken)
    for row, column in list(where)[:MOST_TURNS]:
        told = [
            h
            for h in spoken
            if place(h, outer) == row and (h.seen[2] == "row" or place(h, inner) == column)
        ]
        numbers = zip([*outer, *inner], [*row, *column])
        yield ", ".join(f"{var} = {n}" for var, n in numbers), told


def _step(h: Heard) -> Json:
    _, env, _, partial = h.seen
    shown = _number(h.answer.value) if h.answer is not None else ""
    if h.word == "op":
        word, *args = h.args
        given = [_number(a.value) for a in args]
        note = f"{PRIMITIVES[word].text.format(*given)} = {shown}"
    elif h.word in MARKS:
        cell = f"{h.args[0]}[{h.args[1].value(env)}]"
        stored = h.args[-1].value if partial is None else partial
        note = f"{cell} = {shown or _number(stored)}"
    else:
        note = shown
    return {"answer": shown, "note": note, "mark": MARKS.get(h.word, "")}


def _number(value: Any) -> str:
    """A number as short as it can be told apart by."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
