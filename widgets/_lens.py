"""A call's kernels on five levels, and which line of one is kin to which of another.

In: the graphs that one call has compiled.  Out: JSON for KernelLens (`static/lens.js` has the
schema).
What joins the levels is the question: a loop body asks one thing after the other, and each printer
says of its line which question made it; the graph node that asks it has the user's line and
columns; LLVM says of each instruction which line of the kernel it comes from.  Nothing is matched
by its text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from labcore.codegen import is_on_card, options_for, print_kernel, print_plain
from labcore.codegen.cuda import print_launches
from labcore.codegen.printer import Kernel, Note
from labcore.fusion import Nest, fuse_graph
from labcore.fusion.follow import Question, questions
from labcore.fusion.ir import LAST, Asked
from labcore.fusion.program import Extern
from labcore.fusion.scheduler import Schedule
from labcore.fusion.show import ShowNest, head_of
from labcore.graph import Node

from ._graphs import Fused, renamed, spelled_out
from ._lens_assembly import assembly_json
from ._lens_source import Sources

Json = dict[str, Any]
ROLES = {"load": "read", "store": "write", "scatter": "write"}
FOLDS = ("reduce", "scan")
QUOTE = '"'
NOT_HERE = "a card's is NVIDIA's own"  # `labcore.codegen.cuda.cubin` makes it
Machine = Callable[[], Json]  # compiles


def kernels_of(found: Sequence[Fused], sources: Sources) -> tuple[list[Json], list[Machine]]:
    """Every kernel and every library call of some graphs, in the order of running, and what makes
    the machine code of each."""
    told: list[Json] = []
    machines: list[Machine] = []
    for number, fused in enumerate(found):
        graph, overwritten = fused.module.graph, fused.module.overwritten
        plan = fuse_graph(graph, fused.phase, options_for(graph), overwritten)
        kernels = 0
        for step in plan.steps:
            if isinstance(step, Nest):
                kernel = _Kernel(step, kernels, plan, fused, sources)
                part = kernel.told()
                machines.append(kernel.machine)
                kernels += 1
            else:
                part = _library(step, plan, fused, sources)
                machines.append(dict)
            told.append(renamed({"phase": fused.phase, "graph": number, **part}, fused.names))
    return told, machines


class _Kernel:
    """One nest: its questions, and every level's lines with the questions they are kin to."""

    def __init__(
        self, nest: Nest, number: int, plan: Schedule, fused: Fused, sources: Sources
    ) -> None:
        self.nest, self.number, self.plan, self.fused = nest, number, plan, fused
        self.sources = sources
        self.asked: dict[str, list[Question]] = {
            body.node.name: body.questions for body in questions(nest)
        }
        self.loops = [(text, self._key(asked)) for text, asked in ShowNest(nest).lines()]
        self.on_card = is_on_card(fused.module.graph)
        self.real = on_grid(nest, number) if self.on_card else print_kernel(nest, number)
        self.plain = print_plain(nest, number)

    def told(self) -> Json:
        printed = [self._printed(kernel) for kernel in (self.real, self.plain)]
        used = {key for row in printed[0] for key in row["kin"]}
        kin = [self._kin(key, question) for key, question in self._all() if key in used]
        stages: Json = {
            "source": self._source([(key, q.node) for key, q in self._all() if key in used]),
            "graph": self._graph(used),
            "loops": [
                {"text": head_of(self.nest).split(":")[0] + ":", "kin": []},
                *({"text": _bare(text), "kin": [key] if key in used else []}
                  for text, key in self.loops),
            ],  # fmt: skip
            "run": printed[0],
            "plain": printed[1],
        }
        return {"name": self.real.name, "kin": kin, "stages": stages}

    def machine(self) -> Json:
        """The machine code of both forms, {"run", "plain"}."""
        if self.on_card:
            return dict.fromkeys(("run", "plain"), {"none": NOT_HERE})
        found: Json = {}
        for form, kernel in (("run", self.real), ("plain", self.plain)):
            kin = {n: row["kin"] for n, row in enumerate(self._printed(kernel), 1)}
            found[form] = assembly_json(kernel.source, form == "run", kin)
        return found

    # ---- questions ----

    def _all(self) -> Iterable[tuple[str, Question]]:
        for body, asked in self.asked.items():
            for k, question in enumerate(asked):
                yield f"{body}.{k}", question

    def _key(self, asked: Asked | None) -> str | None:
        """The name of a question, or None for what no question made."""
        if asked is None or asked[0] not in self.asked:
            return None
        body, k = asked
        return f"{body}.{len(self.asked[body]) - 1 if k == LAST else k}"

    def _kin(self, key: str, question: Question) -> Json:
        word, args = question.word, [text.strip(QUOTE) for text in question.args]
        role = ROLES.get(word, "live")
        at = args[0] if word in (*ROLES, *FOLDS) else ""
        if word in FOLDS:
            word, at = args[2], at if at != args[2] else ""
        told: Json = {"id": key, "role": role, "word": word, "of": at}
        if word == "to_dtype":
            told |= {"word": args[1], "of": ""}
        if question.node is not None:
            told["node"] = question.node.name
            told["line"] = self.sources.line(question.node)
        return told

    # ---- levels ----

    def _printed(self, kernel: Kernel) -> list[Json]:
        rows = []
        for text, note in zip(kernel.source.splitlines(), kernel.notes, strict=True):
            key = self._key(note.asked) if isinstance(note, Note) else None
            rows.append({"text": _bare(text), "kin": [key] if key else []})
        return rows

    def _source(self, asked: list[tuple[str, Node | None]]) -> list[Json]:
        return self.sources.rows([(key, node) for key, node in asked if node is not None])

    def _graph(self, used: set[str]) -> list[Json]:
        kin: dict[str, list[str]] = {}
        for key, question in self._all():
            if key not in used:
                continue
            if question.node is not None:
                kin.setdefault(question.node.name, []).append(key)
            if question.word == "load":
                kin.setdefault(question.args[0].strip(QUOTE), []).append(key)
            elif question.word in (*ROLES, *FOLDS):
                kin.setdefault(f"return {question.args[0].strip(QUOTE)}", []).append(key)
        return graph_rows(self.plan, self.fused, kin)


def on_grid(nest: Nest, number: int) -> Kernel:
    """A nest's kernels for a card as one text, each below the launch that it has."""
    launches = print_launches(nest, number)
    lines, notes = list[str](), list[str]()
    for kernel in launches.kernels:
        lines += [*[""] * bool(lines), f"{kernel.launch}  {kernel.form}: {kernel.reason}"]
        notes += [""] * (len(lines) - len(notes))
        lines += kernel.source.splitlines()
        notes += kernel.notes
    return Kernel(launches.name, "\n".join(lines), launches.parameters, tuple(notes))


def graph_rows(plan: Schedule, fused: Fused, kin: dict[str, list[str]]) -> list[Json]:
    """The graph's nodes; `elsewhere` are those that another kernel or a library computes."""
    name = lambda node: fused.names.get(node.name, node.name)
    rows: list[Json] = []
    for node in fused.module.graph.nodes:
        if node.op == "output":
            values = node.args[0]
            given = [name(n) if isinstance(n, Node) else repr(n) for n in values]
            stored = [key for n in values for key in kin.get(f"return {n}", ())]
            rows.append({"text": f"return {', '.join(given)}", "kin": stored})
            continue
        text = f"{name(node)}: {node.meta}" if node.op != "call_function" else (
            f"{node.name} = {spelled_out(node, name)}")
        own = list(dict.fromkeys(kin.get(node.name, [])))
        rows.append({"text": text, "kin": own})
        if node.op == "call_function" and not own:
            rows[-1]["elsewhere"] = True
    return rows


def _library(step: Extern, plan: Schedule, fused: Fused, sources: Sources) -> Json:
    """A library's call: one operation, of which no loop and no statement is ours."""
    key, node = f"{step.out.name}.0", step.node
    text, _, reason = str(step).partition("  # extern: ")
    row = {"text": text, "kin": [key]}
    return {
        "name": step.op.name,
        "library": reason,
        "kin": [{"id": key, "role": "live", "word": step.op.name, "of": "", "node": node.name,
                 "line": sources.line(node)}],
        "stages": {
            "source": sources.rows([(key, node)]),
            "graph": graph_rows(plan, fused, {node.name: [key]}),
            "loops": [row],
            "run": [row],
            "plain": [row],
        },
    }  # fmt: skip


def _bare(text: str) -> str:
    """A line without the note beside it: the lens shows the place itself."""
    return re.sub(r"\s+# .*", "", text)
