"""Text of a random program from typed templates.

In: a `Random` and tables of templates.  Out: expressions and blocks of statements that are valid
Python, end, and mostly make sense.
A template has holes.  `@T` is an expression of type T, `@T{$a:I}` one that may use the variable $a
of type I too.  `&T` is a variable of type T that may be assigned, `~T` an object
that has a name, to be changed.  `$a` is a name nobody else has.
A line `@block` or `@loop`, with variables as in an expression, is a block of statements.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from random import Random

HOLE = re.compile(r"([@&~])([A-Z]+)(?:\{([^}]*)\})?")
BLOCK = re.compile(r"^(\s*)@(block|loop|generator|function)(?:\{([^}]*)\})?$")
TIGHT, ATOM = tuple(".[("), re.compile(r"^[A-Za-z_][\w.]*$")
FRESH = re.compile(r"\$[a-z]\b")


@dataclass(frozen=True)
class Template:
    """`adds`: variables the statement leaves behind.  `where`: loop, generator or function, if it
    fits only there.  `flavour`: break or raise, for what programs have more or less of."""

    text: str
    weight: float = 1.0
    adds: str = ""
    where: str = ""
    flavour: str = ""


@dataclass(frozen=True)
class Scope:
    """What a place can use: variables by name with their types, and which may be assigned."""

    types: dict[str, str] = field(default_factory=dict)
    assignable: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()

    def plus(self, types: dict[str, str], assignable: bool = False) -> Scope:
        """What counts the rounds of a `while`, $w, is never assigned, or it might not end."""
        more = frozenset(name for name in types if assignable and name[0] != "w")
        return replace(self, types=self.types | types, assignable=self.assignable | more)

    def inside(self, *places: str) -> Scope:
        return replace(self, places=self.places | set(places))

    def of_type(self, kind: str, assignable: bool = False) -> list[str]:
        names = (name for name, found in self.types.items() if found == kind)
        return [name for name in names if not assignable or name in self.assignable]


def declarations(text: str) -> dict[str, str]:
    """`a:T,b:I` as a dict."""
    return dict(part.strip().split(":") for part in text.split(",") if part.strip())


class Writer:
    """Fills templates. `budget`: how many statements there will be, roughly."""

    def __init__(
        self,
        random: Random,
        expressions: dict[str, list[Template]],
        leaves: dict[str, tuple[str, ...]],
        statements: list[Template],
        flavours: dict[str, float],
    ) -> None:
        self.random, self.flavours = random, flavours
        self.expressions, self.leaves, self.statements = expressions, leaves, statements
        self.names, self.budget = 0, 0
        self.globals: frozenset[str] = frozenset()

    def expression(self, kind: str, scope: Scope, depth: int = 2) -> str:
        if kind == "X":
            kind = self.random.choice(("T", "I", "L", "D", "S", "Q", "TT", "T", "I", "O"))
        known = scope.of_type(kind)
        if depth <= 0 or (known and self.random.random() < 0.35):
            leaves = [*known, *known, *self.leaves.get(kind, ())]
            if leaves:
                return self._holes(self.random.choice(leaves), scope, 0)
        return self.fill(self._choose(self.expressions[kind], scope), scope, depth - 1)

    def _choose(self, templates: list[Template], scope: Scope) -> str:
        return self.pick(templates, scope).text

    def pick(self, templates: list[Template], scope: Scope) -> Template:
        fits = [t for t in templates if not t.where or t.where in scope.places]
        weights = [t.weight * self.flavours.get(t.flavour, 1.0) for t in fits]
        if not any(weights):
            weights = [1.0] * len(fits)
        return self.random.choices(fits, weights)[0]

    def fill(self, text: str, scope: Scope, depth: int = 2) -> str:
        """The text of a template."""
        return self._holes(self._fresh(text), scope, depth)

    def _fresh(self, text: str) -> str:
        for mark in sorted(set(FRESH.findall(text))):
            self.names += 1
            text = re.sub(re.escape(mark) + r"\b", f"{mark[1]}{self.names}", text)
        return text

    def _holes(self, text: str, scope: Scope, depth: int) -> str:
        def fill(match: re.Match[str]) -> str:
            sign, kind, more = match.groups()
            if sign == "&":
                return self.random.choice(scope.of_type(kind, assignable=True))
            if sign == "~":
                known = [name for name in self.leaves[kind] if name.isupper()]
                return self.random.choice([*scope.of_type(kind) * 2, *known])
            inner = scope.plus(declarations(more)) if more else scope
            found = self.expression(kind, inner, depth)
            follows = match.string[match.end() : match.end() + 1]
            return f"({found})" if follows in TIGHT and not ATOM.match(found) else found

        return HOLE.sub(fill, text)

    def _assigns_what_is_not_there(self, template: Template, scope: Scope) -> bool:
        wanted = {kind for sign, kind, _ in HOLE.findall(template.text) if sign == "&"}
        return any(not scope.of_type(kind, assignable=True) for kind in wanted)

    def block(self, scope: Scope, depth: int, least: int = 1, most: int = 4) -> list[str]:
        """Lines of one to a few statements."""
        lines: list[str] = []
        for _ in range(self.random.randint(least, most)):
            self.budget -= 1
            new, scope = self.statement(scope, depth)
            lines += new
            if self.budget < 0:
                break
        return lines

    def statement(self, scope: Scope, depth: int) -> tuple[list[str], Scope]:
        fits = [
            t
            for t in self.statements
            if (depth > 0 and self.budget > 0) or "@block" not in t.text and "@loop" not in t.text
            if not self._assigns_what_is_not_there(t, scope)
        ]
        template = self.pick(fits, scope)
        marked = self._fresh(template.text + "\x00" + template.adds)
        text, _, adds = marked.partition("\x00")
        lines: list[str] = []
        for line in text.split("\n"):
            lines += self._line(line, scope, depth)
        return lines, scope.plus(declarations(adds), assignable=True)

    def _line(self, line: str, scope: Scope, depth: int) -> list[str]:
        match = BLOCK.match(line)
        if match is None:
            return [self._holes(line, scope, 2)]
        indent, place, more = match.groups()
        inner = scope.plus(declarations(more or ""), assignable=place != "function")
        if place in ("generator", "function"):
            inner = self._new_function(scope, declarations(more or ""), place)
        elif place == "loop":
            inner = inner.inside("loop")
        found: list[str] = []
        if place in ("generator", "function"):
            found += self._nonlocal(scope, inner)
            if found:
                inner = replace(inner, assignable=inner.assignable | set(_names(found[0])))
        return [indent + text for text in found + self.block(inner, depth - 1)]

    def _new_function(self, scope: Scope, own: dict[str, str], place: str) -> Scope:
        """Variables around a nested function can be read; its own can be assigned."""
        return Scope(scope.types | own, frozenset(own), frozenset({place}))

    def _nonlocal(self, outer: Scope, inner: Scope) -> list[str]:
        """Now and then a nested function assigns what is around it."""
        names = sorted(outer.assignable - set(inner.assignable) - self.globals)
        if not names or "module" in outer.places or self.random.random() < 0.5:
            return []
        return [f"nonlocal {', '.join(self.random.sample(names, min(2, len(names))))}"]


def _names(line: str) -> Iterable[str]:
    return line.split(None, 1)[1].split(", ")
