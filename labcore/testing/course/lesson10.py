"""The exercises of lessons 10 and 10b: memory used again, which loops may be one, what to store."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from .facts import graph_of
from .result import Fact, Result, Unusable, ask, begun, checked, shown

Step = tuple[str, tuple[str, ...]]  # what it makes, what it reads

CHAIN: list[Step] = [
    ("t1", ("x",)), ("t2", ("t1",)), ("t3", ("t2",)), ("t4", ("t3",)), ("y", ("t4",)),
]
FORK: list[Step] = [
    ("t1", ("x",)), ("t2", ("t1",)), ("t3", ("t2",)), ("t4", ("t3", "t1")), ("y", ("t4",)),
]


@checked
def memory_plan(plan: Any) -> Result:
    """Exercise 1: `plan(steps)` gives each made buffer the name of an array.

    The steps are run over tokens: a result written over something that is still to be read, or over
    an operand of its own step, is found by who reads it.
    """
    facts: list[Fact] = []
    arrays, stale, over = 0, 0, 0
    for name, steps, fewest in (("five in a row", CHAIN, 2), ("t1 read again later", FORK, 3)):
        places = _places(ask(plan, list(steps)), steps)
        arrays = len(set(places.values()))
        late, own = _run(steps, places)
        stale, over = stale + late, over + own
        facts.append(Fact(f"{name}: arrays", fewest, arrays))
        facts.append(Fact(f"{name}: reads of what is gone", 0, late))
        facts.append(Fact(f"{name}: results written over an operand", 0, own))
    return Result(tuple(facts), _belief_of_plan(stale, over, arrays))


def _places(answer: Any, steps: Sequence[Step]) -> dict[str, Any]:
    made = [name for name, _ in steps]
    form = f"a dict with an array for each of {', '.join(made)}"
    if not isinstance(answer, dict) or not set(made) <= answer.keys():
        raise Unusable(form, shown(answer))
    places = {name: begun(answer[name]) for name in made}
    if not all(isinstance(place, Hashable) for place in places.values()):
        raise Unusable(f"{form}, a name or a number", shown(answer))
    return places


def _run(steps: Sequence[Step], places: Mapping[str, Any]) -> tuple[int, int]:
    """(reads that find something else, results that lie where an operand lies)."""
    memory: dict[Any, str] = {}
    late = own = 0
    for made, reads in steps:
        late += sum(b in places and memory.get(places[b]) != b for b in reads)
        own += any(b in places and places[b] == places[made] for b in reads)
        memory[places[made]] = made
    return late, own


def _belief_of_plan(stale: int, over: int, arrays: int) -> str:
    if stale:
        return "An array is free only after its last reader, not after its first."
    if over:
        return (
            "Writing over an operand is right for one element at a time, and wrong for a loop that "
            "reads others: here a result gets memory that nobody reads in this step."
        )
    if arrays >= 5:
        return "Nothing was used again: when its last reader is done, an array is free."
    return ""


# ---- which loops may be one ----------------------------------------------------------------------

WORDS = {
    "different iteration space": "sizes",
    "index mismatch": "index",
    "nothing shared": "nothing shared",
    "a node lies between": "between",
}


@checked
def may_fuse(rule: Any) -> Result:
    """Exercise 2: `rule(a, b, between)` on 12 pairs: None, or the first of "sizes", "index",
    "nothing shared", "between" that keeps them apart. What is expected are the lab's own verdicts.
    """
    facts = []
    wrong: dict[tuple[Any, Any], str] = {}
    for name, a, b, between, expected in _pairs():
        found = _word(ask(lambda a=a, b=b, between=between: [rule(a, b, between)])[0])
        facts.append(Fact(name, expected, found))
        if found != expected:
            wrong[expected, found] = name
    return Result(tuple(facts), _belief_of_fusing(wrong))


def _word(answer: Any) -> Any:
    begun(0 if answer is None else answer)
    if answer is not None and answer not in WORDS.values():
        raise Unusable(f"None or one of {', '.join(map(repr, WORDS.values()))}", shown(answer))
    return answer


def _belief_of_fusing(wrong: Mapping[tuple[Any, Any], str]) -> str:
    if ("index", None) in wrong:
        return (
            "Loops of one length are not enough: what is read must be what was just written. Fused "
            "by length, (x + 1) turned round and doubled would give [-2, 0, 4, 6] for "
            "[6, 4, 0, -2]."
        )
    if ("between", None) in wrong:
        return "Whoever must run in between would have to be inside: fusing around it is a circle."
    if ("nothing shared", None) in wrong:
        return "Two loops without common data gain nothing from being one."
    if (None, "nothing shared") in wrong:
        return "Loops side by side share what both read: it is loaded once."
    if ("sizes", None) in wrong:
        return "One loop runs over one set of elements: sizes are compared first."
    return "Rules are asked in the order given: the first that says no names it." if wrong else ""


def _pairs() -> list[tuple[str, Any, Any, list[str], str | None]]:
    """Pairs of loops of small programs, with what the scheduler says of them."""
    return [found for program in PROGRAMS for found in _judged(*program)]


def _turned(y: Any) -> Any:
    return y.t() + y


def _around(y: Any) -> Any:
    return (y @ y + y).relu()


# A text, a function, the sizes of its inputs, and pairs of its loops.
PROGRAMS: list[tuple[str, Callable[..., Any], list[tuple[int, ...]], list[tuple[str, str]]]] = [
    (
        "(x + bias).relu() * 2",
        lambda x, bias: (x + bias).relu() * 2,
        [(4,), (4,)],
        [("add", "relu"), ("relu", "mul"), ("add", "mul")],
    ),
    ("x + 1, x * 2", lambda x: (x + 1, x * 2), [(4,)], [("add", "mul")]),
    ("x + 1, w * 2", lambda x, w: (x + 1, w * 2), [(4,), (4,)], [("add", "mul")]),
    ("x + 1, w[8] * 2", lambda x, w: (x + 1, w * 2), [(4,), (8,)], [("add", "mul")]),
    ("x.relu().sum()", lambda x: x.relu().sum(), [(4,)], [("relu", "sum")]),
    ("y = x.exp(); y.t() + y", lambda x: _turned(x.exp()), [(4, 4)], [("exp", "add")]),
    ("row.exp() + x", lambda x, row: row.exp() + x, [(4, 4), (4,)], [("exp", "add")]),
    (
        "y = x.exp(); (y @ y + y).relu()",
        lambda x: _around(x.exp()),
        [(4, 4)],
        [("exp", "add"), ("add", "relu"), ("exp", "relu")],
    ),
]


def _judged(
    text: str,
    fn: Callable[..., Any],
    shapes: list[tuple[int, ...]],
    pairs: list[tuple[str, str]],
) -> list[tuple[str, Any, Any, list[str], str | None]]:
    from ...fusion import lower
    from ...fusion.deps import Group, dependencies, nodes_of, users_of
    from ...fusion.order import Order
    from ...fusion.verdicts import judge, node_between

    nodes = nodes_of(lower(graph_of(fn, *shapes).graph, fuse=False))
    users, groups = users_of(nodes), {node: Group.of(node) for node in nodes}
    earlier = dependencies(nodes)
    order = Order(list(groups.values()), earlier)
    by_title = {node.title: node for node in nodes}
    found = []
    for first, second in pairs:
        a, b = by_title[first], by_title[second]
        verdict = judge(groups[a], groups[b], users)
        if verdict.ok:
            verdict = node_between(groups[a], groups[b], order) or verdict
        between = [n.title for n in nodes if a in _all(n, earlier) and n in _all(b, earlier)]
        expected = None if verdict.ok else WORDS[verdict.rule]
        found.append((f"{first} | {second} of {text}", a, b, between, expected))
    return found


def _all(node: Any, earlier: Mapping[Any, set[Any]]) -> set[Any]:
    """Everything that must run before a node."""
    return set().union(*({first, *_all(first, earlier)} for first in earlier[node]))


# ---- what to store -------------------------------------------------------------------------------


def _gate(u: Any, v: Any) -> Any:
    return u[:, None] * v.tanh()[None, :]


def _shift(u: Any, v: Any) -> Any:
    return u[:, None] * (v + 1)[None, :]


# Of one evaluation, in accesses: a model. An addition waits for memory anyway.
PRICES = {"tanh(v)": 8.0, "v + 1": 0.001}
# A text, its function, and how many rows and columns.
PLANS: list[tuple[str, Callable[..., Any], int, int]] = [
    ("tanh(v)", _gate, 4, 4),
    ("tanh(v)", _gate, 1024, 1024),
    ("tanh(v)", _gate, 1, 1024),
    ("v + 1", _shift, 4, 4),
    ("v + 1", _shift, 1024, 1024),
]


@checked
def materialise(rule: Any) -> Result:
    """Exercise 3: `rule(price, fused, stored)` says whether a value is stored; `fused` and `stored`
    are (accesses, evaluations), as the lab counts them. What is expected is what the lab does.
    """
    facts = []
    answers = []
    for text, fn, rows, n in PLANS:
        fused, stored, wanted = _two_plans(fn, rows, n)
        answer = ask(rule, PRICES[text], fused, stored)
        if not isinstance(answer, bool):
            raise Unusable("True or False", shown(answer))
        answers.append(answer)
        facts.append(Fact(f"{text}, {rows} x {n}: kernels", 1 + wanted, 1 + answer))
    dear_or_not = "Storing always: v + 1 is cheaper than a trip to memory and back."
    beliefs: dict[tuple[bool, ...], str] = {
        (False,) * 5: "Fusing always: at 1024 x 1024 that is 1,048,576 tanh, to save 2,048 of 2 "
        "million accesses.",
        (True,) * 5: dear_or_not,
        (True, True, False, True, True): dear_or_not,
        (False, False, True, True, True): "Turned round: what is dear is stored, what is cheap is "
        "not.",
        (True, True, True, False, False): "With one row tanh is computed once for each element "
        "either way: the price counts where evaluations are saved.",
    }
    return Result(tuple(facts), beliefs.get(tuple(answers), ""))


def _two_plans(
    fn: Callable[..., Any], rows: int, n: int
) -> tuple[tuple[int, int], tuple[int, int], bool]:
    """(accesses, evaluations) as one loop and as two, and whether the lab takes two."""
    from ...fusion import FusionOptions, ledger, lower, schedule, separate

    graph = graph_of(fn, (rows,), (n,)).graph
    one = schedule(lower(graph, options=FusionOptions(materialize=False)))
    fused, stored = (int(ledger(plan).accesses.value({})) for plan in (one, separate(graph)))
    return (fused, rows * n), (stored, n), len(schedule(lower(graph)).nests) == 2
