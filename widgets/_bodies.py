"""Loop bodies and what five handlers answer them, for LoopStepper.

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

from labcore.codegen import print_kernel
from labcore.fusion import Nest, Schedule, fuse_graph, separate
from labcore.fusion.follow import Body, Heard, heard, questions
from labcore.fusion.handlers import Printer, Reads
from labcore.fusion.interpret import Interpreter, run
from labcore.fusion.ir import Expr, using
from labcore.fusion.ledger import TABLES, Count, count_nest
from labcore.fusion.primitives import PRIMITIVES
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
    plans = {"before": separate(graph), "after": fuse_graph(graph, fused.phase)}
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
    return {
        "title": " + ".join(origins),
        "turns": _turns(nest, values),
        "sections": _sections(nest, bodies),
        "questions": [
            {"text": str(q), "word": q.word, "args": list(q.args), "line": _line(q)}
            for q in asked
        ],
        "handlers": [
            _show(nest),
            _reads(nest, bodies),
            _count(nest, values),
            _interpret(nest, spoken, len(asked)),
            _numba(nest, number),
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


# ---- the five handlers ---------------------------------------------------------------------------


def _show(nest: Nest) -> Json:
    def look(handler: Any, args: Any) -> tuple[Any, list[str]]:
        return handler.before, [text for text, _ in (*handler.before.lines, *handler.inside.lines)]

    told = heard(Printer, lambda: str(nest), look)
    return _printed("show", "ShowNest", told, str(nest).splitlines()[1:])


def _numba(nest: Nest, number: int) -> Json:
    def look(handler: Any, args: Any) -> tuple[Any, list[str]]:
        part = handler.section
        return part, [text for text, _ in (*part.before, *part.inside, *part.after)]

    source: list[str] = []
    told = heard(Printer, lambda: source.extend(str(print_kernel(nest, number)).splitlines()), look)
    return _printed("numba", "CpuPrinter", told, source)


def _printed(kind: str, name: str, told: list[Heard], text: list[str]) -> Json:
    """A printer: its text, each line with the question that made it."""
    fresh = _fresh([heard.seen for heard in told])
    lines = [re.sub(r"\s+# .*", "", line) for line in text]
    steps = [
        {"answer": str(h.answer or ""), "note": "; ".join(new)} for h, new in zip(told, fresh)
    ]
    return {"id": kind, "name": name, "steps": steps, "lines": _since(lines, fresh)}


def _fresh(seen: Sequence[tuple[Any, list[str]]]) -> list[list[str]]:
    """The lines that each question added to the section it was printed in."""
    found = []
    section, before = None, Counter[str]()
    for now, lines in seen:
        if now is not section:
            section, before = now, Counter()
        found.append(list((Counter(lines) - before).elements()))
        before = Counter(lines)
    return found


def _since(lines: list[str], fresh: list[list[str]]) -> list[Json]:
    """When each line of a finished text is there: with the question that made it. The head of a
    loop comes with what stands in it, and what ends a pass with the last question before it.
    """
    waiting = [(text, step) for step, new in enumerate(fresh) for text in new]
    since: list[int | None] = []
    for line in lines:
        match = next((w for w in waiting if w[0] == line.strip()), None)
        if match is not None:
            waiting.remove(match)
        since.append(match[1] if match else None)
    told, latest = [], 0
    for k, line in enumerate(lines):
        step = since[k]
        if step is None:
            step = latest if k and not line.endswith((":", ",")) else _first_inside(lines, since, k)
        latest = max(latest, step)
        told.append({"text": line, "since": step})
    return told


def _first_inside(lines: list[str], since: list[int | None], k: int) -> int:
    """The first step of what stands in the block that line k begins."""
    deep = [len(line) - len(line.lstrip()) for line in lines]
    end = next((j for j in range(k + 1, len(lines)) if deep[j] <= deep[k]), len(lines))
    if lines[k].startswith(("def", ")")) or lines[k].endswith(","):
        return 0
    return min((step for step in since[k + 1 : end] if step is not None), default=0)


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
