"""The exercises of lesson 02: a loop that unrolls, the edges of a graph, a backend, one graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .facts import graph_of, seen
from .result import Fact, Result, Unusable, ask, checked, kind_of, shown


@checked
def repeat(fn: Any) -> Result:
    """Exercise 1: `fn(x, n)` is x + n by n additions, whatever the length of x."""
    from ... import ones

    counts = (5, 6, 7)
    told = seen(fn, *((ones(8), n) for n in counts), backend="eager")
    graphs = told.captures[-1]
    operations = told.operations() if graphs else []
    values = [_first(value) for value in told.values]
    facts = (
        Fact("values for n = 5, 6, 7", [1.0 + n for n in counts], values),
        Fact("operations, n = 5", ["add"] * 5, operations),
        Fact("captures", (1, 2, 3), told.captures),
    )
    return Result(facts, _belief_of_repeat(operations, told.captures))


def _first(value: Any) -> Any:
    from ... import Tensor

    if not isinstance(value, Tensor) or value.ndim != 1:
        raise Unusable("a tensor of x's shape", kind_of(value))
    return value[0].item()


def _belief_of_repeat(operations: list[str], captures: tuple[int, ...]) -> str:
    if operations == ["add"]:
        return "One addition of n is one operation: let a Python loop add 1, n times."
    if len(operations) == 8:
        return "8 is the length of x: the loop has to run over n."
    if captures == (1, 1, 1):
        return "n decided nothing while capturing, so one graph serves all three."
    return ""


@checked
def edges(fn: Any) -> Result:
    """Exercise 2: `fn(gm)` returns the pairs (giver, reader) of node names of a graph."""
    facts, belief = [], ""
    for name, function, count in (("block", _block, 2), ("square", _square, 1)):
        gm = graph_of(function, *[(4,)] * count)
        found = _pairs(ask(fn, gm))
        expected = _edges(gm)
        facts.append(Fact(f"edges of {name}", expected, found))
        nodes = [node.name for node in gm.graph.nodes]
        if found == sorted(zip(nodes, nodes[1:])):
            belief = "These are neighbours in the list: who feeds whom is in all_input_nodes."
        elif found == sorted((reader, giver) for giver, reader in expected):
            belief = "Turned round: the first of a pair is the node that gives."
        elif found == [pair for pair in expected if pair[1] != "output"]:
            belief = "The output reads a node as well: it is a node of the graph."
    return Result(tuple(facts), belief)


def _block(x: Any, bias: Any) -> Any:
    return (x + bias).relu() * 2


def _square(x: Any) -> Any:
    return x * x - x


def _edges(gm: Any) -> list[tuple[str, str]]:
    return sorted((g.name, node.name) for node in gm.graph.nodes for g in node.all_input_nodes)


def _pairs(answer: Any) -> list[tuple[str, str]]:
    """Pairs of names, in any order; nodes themselves will do as well."""
    try:
        named = {tuple(getattr(end, "name", end) for end in pair) for pair in answer}
    except TypeError:
        raise Unusable("pairs of names", shown(answer)) from None
    if any(len(pair) != 2 or not all(isinstance(end, str) for end in pair) for pair in named):
        raise Unusable("pairs of names", shown(answer))
    return sorted(named)


@checked
def own_backend(backend: Any, notes: Any) -> Result:
    """Exercise 3: `backend(gm, example_inputs)` puts the names of operations into `notes`."""
    from ... import compile as compile_function, ones

    if not isinstance(notes, list):
        raise Unusable("a list of notes", shown(notes))
    notes.clear()
    visits: list[int] = []
    answers: list[Any] = []

    def counting(gm: Any, example_inputs: list[Any]) -> Any:
        visits[-1] += 1
        answers.append(ask(backend, gm, example_inputs))
        return gm.forward  # the student's is asked for its own results below

    compiled = compile_function(_block, backend=counting, dynamic=False)
    for n in (4, 4, 8, 4):
        visits.append(visits[-1] if visits else 0)
        _told(compiled, ones(n), ones(n))
    facts = (
        Fact("visits", [1, 1, 2, 2], visits),
        Fact("notes", ["add", "relu", "mul"] * 2, notes),
        Fact("it answers with a callable", True, all(map(callable, answers))),
    )
    belief = ""
    if not facts[-1].holds:
        belief = "A backend answers with a callable, which is called later, at every call."
    elif "x" in notes:
        belief = "Inputs and the output are no operations: gm.graph.calls has those alone."
    return Result(facts, belief)


def _told(compiled: Callable[..., Any], *inputs: Any) -> Any:
    """The compiler wraps what a backend raises; here it is the student's own outcome."""
    from ...compiler.exc import BackendCompilerFailed

    try:
        return compiled(*inputs)
    except BackendCompilerFailed as failed:
        raise failed.__cause__ or failed from None


@checked
def one_graph(fn: Any) -> Result:
    """Exercise 4: `fn(x)` on 4 x 4 elements is one graph, and at least 3 kernels."""
    from ... import ones

    told = seen(fn, (ones(4, 4),))
    enough = told.kernels >= 3
    facts = (
        Fact("regions", 1, told.regions),
        Fact("at least 3 kernels", True, enough),
    )
    belief = ""
    if told.places:
        belief = "A break makes another graph; the kernels that count are those of one graph."
    elif not enough:
        belief = (
            f"{told.kernels} so far: a loop is as long as what it reads, a sum's too, and loops "
            "of one length may be joined. What is shorter than x?"
        )
    return Result(facts, belief)
