"""A seed's program: definitions, a function `f`, the arguments of its calls, and what changes
between two of them.

In: a seed.  Out: source text; it compiles, it ends, and of its calls some raise.
"""

from __future__ import annotations

import contextlib
import textwrap
import warnings
from random import Random

from .changes import ARGUMENTS, CHANGES
from .definitions import IMPORTS, used_by
from .expressions import EXPRESSIONS, LEAVES
from .statements import STATEMENTS
from .writer import Scope, Template, Writer

ASSIGNED_GLOBALS = {"COUNT": "I", "WEIGHT": "T"}
PARAMETERS = {"x": "T", "y": "T", "n": "I", "items": "L", "d": "D", "box": "O"}


def program(seed: int) -> str:
    """Not every text that templates give is Python: a walrus has places where it must not be."""
    random = Random(seed)
    while True:
        text = _attempt(random)
        with contextlib.suppress(SyntaxError), warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            compile(text, "<candidate>", "exec")
            return text


def _attempt(random: Random) -> str:
    flavours = {
        "break": random.choice((0.0, 0.0, 0.2, 1.0, 2.0)),
        "raise": random.choice((0.0, 0.1, 0.3, 1.0)),
    }
    helper = _helper(Writer(random, _without("helper(", "other("), LEAVES, STATEMENTS, flavours))
    other = _helper(Writer(random, _without("other("), LEAVES, STATEMENTS, flavours))
    main = _main(Writer(random, EXPRESSIONS, LEAVES, STATEMENTS, flavours))
    rest = _inputs(random) + _between(random)
    helpers = {"helper": "def helper" + helper, "other": "def other" + other}
    return IMPORTS + "\n" + used_by(main + rest, helpers) + "\n" + main + rest


def _without(*calls: str) -> dict[str, list[Template]]:
    """No recursion without an end."""
    return {
        kind: [t for t in templates if not any(call in t.text for call in calls)]
        for kind, templates in EXPRESSIONS.items()
    }


def _function(writer: Writer, head: str, scope: Scope, lines: list[str], end: str) -> str:
    depth = 3 if writer.budget > 10 else 2
    body = writer.block(scope, depth, 1, 2 + writer.budget // 2)
    return head + textwrap.indent("\n".join([*lines, *body, end]) + "\n", "    ") + "\n"


def _helper(writer: Writer) -> str:
    """All but the name."""
    writer.budget = writer.random.randint(1, 5)
    scope = Scope({"t": "T", "k": "I"}, frozenset({"t", "k"}), frozenset({"function"}))
    lines = []
    if writer.random.random() < 0.3:
        lines.append("global COUNT")
        scope = scope.plus({"COUNT": "I"}, assignable=True)
    end = f"return {writer.expression('T', scope)}"
    return _function(writer, "(t, k=2):\n", scope, lines, end)


def _main(writer: Writer) -> str:
    writer.budget = writer.random.choice((3, 5, 8, 12, 20))
    scope = Scope(dict(PARAMETERS), frozenset(PARAMETERS), frozenset({"main"}))
    lines = []
    for name, kind in ASSIGNED_GLOBALS.items():
        if writer.random.random() < 0.3:
            lines.append(f"global {name}")
            scope = scope.plus({name: kind}, assignable=True)
    writer.globals = frozenset(ASSIGNED_GLOBALS)
    lines += ["k = n", "z = y"]
    scope = scope.plus({"k": "I", "z": "T"}, assignable=True)
    end = writer.random.choice(
        (
            "return x, y, z, k",
            "return @T",
            "return @X",
            "return [@X, @X, x]",
            "return {'x': x, 'k': [k, d], 'more': @X}",
            "return x, items, box",
            "return box, @FN",
            "return @P, @U, @W",
            "return @B, @R, @CT, @V",
            "return (yield_nothing := None)",
        )
    )
    head = "def f(x, y, n, items, d, box, *rest, flag=False, **more):\n"
    return _function(writer, head, scope, lines, writer.fill(end, scope))


def _inputs(random: Random) -> str:
    chosen = [line for line in ARGUMENTS if random.random() < 0.25]
    if random.random() < 0.7:  # most programs get ints only
        chosen = [line for line in chosen if "2.5" not in line]
    lines = [
        "global WEIGHT",
        "x = torch.tensor([1.0, -2.0]) * (n + 1)",
        "y = torch.tensor([0.5, 3.0])",
        "items, d, box = [y, x], {'a': x, 'b': y}, Box(x, n)",
        "rest, more = (), {}",
        *chosen,
        "KEPT.update(box=box, items=items)",
        "return (x, y, n, items, d, box, *rest), more",
    ]
    return "KEPT = {}\n\ndef inputs(n):\n" + textwrap.indent("\n".join(lines) + "\n\n", "    ")


def _between(random: Random) -> str:
    chosen = [random.choice(CHANGES) for _ in range(random.choice((0, 0, 1, 2, 3)))]
    lines = [
        "global COUNT, WEIGHT, TABLE, SHARED, STOCK, PAIR, TALLY, BAG, RECORD, double, check, memo",
        "double_self = lambda self, t: t + self.t",
        *(f"if n == {random.randint(0, 5)}: {line}" for line in chosen),
    ]
    return "def between(n):\n" + textwrap.indent("\n".join(lines) + "\n", "    ")
