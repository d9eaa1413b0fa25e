"""How a graph was fused, verdict by verdict, for FusionCourt.

In: a graph for the loop compiler.  Out: `CourtRecord`, whose `trace` is JSON for `static/court.js`
(its header has the schema).
Invariant: every verdict is lowering's or the scheduler's, every count the ledger's: after each
verdict the loops that are left then are counted anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from labcore.codegen import memory_plan, options_for, print_kernel
from labcore.fusion import (
    Extern,
    FusionOptions,
    Program,
    Schedule,
    lower,
    schedule,
    separate,
)
from labcore.fusion.history import history
from labcore.fusion.ir import Loops
from labcore.fusion.ledger import Ledger, ledger
from labcore.fusion.options import DEFAULT
from labcore.fusion.pair import Verdict
from labcore.fusion.report import planned
from labcore.fusion.verdicts import RULES
from labcore.fusion.why import Court
from labcore.graph import Node
from labcore.shapes import Values, hint

from ._graphs import Fused, renamed, spelled_out

Json = dict[str, Any]
MOST = 24  # operators each pair of which is judged beforehand; of more, when it is asked for
AS_IT_IS = ("one loop", "same nest by way of others")  # no rule was asked for these
MOST_COUNTED = 60  # inlined operators after each of which the ledger is counted anew


class CourtRecord:
    """`answer` gives the verdict on any two operators, by their names."""

    def __init__(self, fused: Fused, options: FusionOptions = DEFAULT) -> None:
        self.names = fused.names
        self.graph = fused.module.graph
        self.options = options = options_for(self.graph, options)
        self.values = Values(self.graph.values_seen)
        self.program = lower(self.graph, options=options)
        self.before = separate(self.graph)
        self.after = schedule(self.program, options=options)
        self.unfused = self.before.program
        self.court = Court(self.after)
        self.cards = [n for n in self.graph.calls if not n.target.alias]

    def trace(self, function: str) -> Json:
        """All that can be shown without asking again."""
        names = [card.name for card in self.cards]
        pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
        told = {
            "version": 1,
            "function": function,
            "nodes": self._nodes(),
            "rules": [*(rule.__name__ for rule in RULES), "node_between", "more_memory"],
            "start": self._state(_groups(self.unfused), _made(self.before), ledger(self.before)),
            "events": [*self._lowering(), *self._scheduling()],
            "memory": {"before": self._memory(self.before), "after": self._memory(self.after)},
            "answers": {
                key(a, b): self._verdict(self.court.verdict(a, b))
                for a, b in (pairs if len(names) <= MOST else ())
            },
        }
        return renamed(told, self.names)

    def answer(self, a: str, b: str) -> Json:
        """The verdict on two operators. Raises KeyError for a name that is not one of them."""
        for name in (a, b):
            if name not in {card.name for card in self.cards}:
                raise KeyError(name)
        return renamed(self._verdict(self.court.verdict(a, b)), self.names)

    # ---- the board ----

    def _nodes(self) -> list[Json]:
        """Inputs, operators and the output; views are looked through."""
        shown = [*self.graph.placeholders, *self.cards]
        name = lambda node: self.names.get(node.name, node.name)
        told = [node for node in shown if node.meta is not None]
        nodes = [self._node(node, spelled_out(node, name)) for node in told]
        outputs = [o for o in self.graph.outputs if isinstance(o, Node)]
        sources = list(dict.fromkeys(self._base(node).name for node in outputs))
        last = {"name": "output", "op": "output", "text": ", ".join(sources), "args": sources}
        return [*nodes, last]

    def _node(self, node: Node, text: str) -> Json:
        assert node.meta is not None
        args = dict.fromkeys(self._base(source).name for source in node.all_input_nodes)
        made: Json = {
            "name": node.name,
            "op": "call" if node.op == "call_function" else "input",
            "text": node.name if node.op == "call_function" else text,
            "code": text,
            "args": list(args),
            "meta": str(node.meta),
            "bytes": hint(node.meta.nbytes),
        }
        extern = next((e for e in self.after.externs if e.node is node), None)
        if extern is not None:
            made["extern"] = extern.reason
        stored = next((s for s in self.program.loops if s.origin and s.origin[-1] is node), None)
        if stored is not None:
            made["stored"] = stored.why
        if node.origin is not None:
            made["line"] = node.origin.line
        return made

    def _base(self, node: Node) -> Node:
        """The operator or input that a view looks into."""
        while node.op == "call_function" and node.target.alias:
            node = node.all_input_nodes[0]
        return node

    # ---- verdicts ----

    def _lowering(self) -> list[Json]:
        """Operators that their readers compute themselves: no pair is tried for these."""
        decisions = self.program.decisions
        found: list[Json] = []
        program, plan, total = self.unfused, self.before, ledger(self.before)
        groups = _groups(program)
        for k, verdict in enumerate(decisions):
            a, b = _headed(groups, verdict.first), _headed(groups, verdict.second)
            told = self._verdict(verdict) | {"a": [*a], "b": [*b]}
            later = {v.first for v in decisions[k + 1 :]}
            if verdict.first not in later and len(decisions) <= MOST_COUNTED:
                done = [v.first for v in decisions[: k + 1] if v.first not in later]
                program = lower(self.graph, done, self.options)
                plan = schedule(program, fuse=False)
                total = ledger(plan)
            groups = _groups(program)
            for early in decisions[: k + 1]:  # computed by some readers already, and still stored
                if early.first in later or len(decisions) > MOST_COUNTED:
                    _join(groups, early)
            found.append(told | self._state(groups, _made(plan), total))
        return found

    def _scheduling(self) -> list[Json]:
        found: list[Json] = []
        for moment in history(self.program, self.options)[1:]:
            assert moment.trial is not None
            trial = moment.trial
            event = self._verdict(trial.verdict) | {
                "a": _cards(node.step for node in trial.a.nodes),
                "b": _cards(node.step for node in trial.b.nodes),
            }
            groups = [_cards(node.step for node in group.nodes) for group in moment.groups]
            found.append(event | self._state(groups, moment.stored, moment.ledger))
        return found

    def _state(self, groups: list[list[str]], stored: list[str], total: Ledger) -> Json:
        """The loops that are left, what they leave in memory, and what they cost."""
        externs = {extern.node.name for extern in self.after.externs}
        loops = [group for group in groups if group[0] not in externs]
        return {
            "groups": [list(group) for group in groups],
            "stored": stored,
            "loops": len(loops),
            "accesses": int(total.accesses.value(self.values)),
            "bytes": int(total.bytes.value(self.values)),
        }

    def _memory(self, plan: Schedule) -> Json:
        """The buffers that a schedule makes, and how long each lies where."""
        kernels = [print_kernel(nest, number) for number, nest in enumerate(plan.nests)]
        told = planned("", plan, memory_plan(plan, kernels))
        steps = [
            step.title if isinstance(step, Extern) else "+".join(n.title for n in step.nodes)
            for step in plan.steps
        ]
        lives = [asdict(life) for life in told.lives]
        return {"steps": steps, "lives": lives, "peak": told.peak, "total": told.total}

    def _verdict(self, verdict: Verdict) -> Json:
        inlined = any(verdict is decision for decision in self.program.decisions)
        judged = verdict.refused_by or (verdict.ok and verdict.rule not in AS_IT_IS)
        return {
            "stage": "lowering" if inlined else "scheduler" if judged else "",
            "first": verdict.first,
            "second": verdict.second,
            "ok": verdict.ok,
            "rule": verdict.rule,
            "detail": verdict.detail,
            "flip": verdict.flip,
            "saved": int(verdict.saved.value(self.values)),
            "refused_by": verdict.refused_by,
        }


def _groups(program: Program) -> list[list[str]]:
    """The operators of each step."""
    return [_cards([step]) for step in program.steps]


def _made(plan: Schedule) -> list[str]:
    """The buffers that a schedule leaves in memory."""
    return [name for step in plan.steps for name in step.made]


def _cards(steps: Iterable[Loops | Extern]) -> list[str]:
    """The operators that steps compute, the one that a step is for before what it computes itself.
    """
    found: dict[str, None] = {}
    for step in steps:
        origin = (step.node,) if isinstance(step, Extern) else step.origin
        found.update((n.name, None) for n in reversed(origin) if not n.target.alias)
    return list(found)


def _headed(groups: list[list[str]], name: str) -> list[str]:
    """The loop that is for this operator: of several the last, which has its result."""
    return next(group for group in reversed(groups) if group[0] == name)


def _join(groups: list[list[str]], verdict: Verdict) -> None:
    """Whoever has the second operator computes the first one too."""
    first = _headed(groups, verdict.first)
    for group in groups:
        if verdict.second in group:
            group += [name for name in first if name not in group]


def key(a: str, b: str) -> str:
    """How an answer is found again, whichever of the two was taken first."""
    return " | ".join(sorted((a, b)))
