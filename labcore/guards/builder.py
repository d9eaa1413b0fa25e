"""Collects loads and guards while a function is captured, and prints them as the head of a variant.

In: sources of values that capture looked at.  Out: `steps`, loads and guards in evaluation order,
and `scope`,
the objects which the printed text names.
Invariant: loads and guards evaluate on the state at the call, before anything of the captured
program runs.
"""

from __future__ import annotations

import builtins
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from ..graph import Names
from ..trace import Origin
from .guard import Guard
from .source import Source

BUILTIN_NAMES = frozenset(dir(builtins))
OFTEN = 4
KEYED = 3  # a tensor's type, sizes and strides, which its layout has in one object


@dataclass(frozen=True)
class Load:
    """`name = text` in the check: the value that `source` leads to."""

    name: str
    text: str
    source: Source
    origin: Origin | None = field(default=None, compare=False)  # the user's place that needs it


class GuardBuilder:
    """`load` fetches a source once; `add` installs a guard once; `constant` gives an object a
    name."""

    def __init__(self, reserved: dict[str, Any]) -> None:
        self.scope: dict[str, Any] = dict(reserved)
        self.names = Names(BUILTIN_NAMES.union(reserved))  # the check uses type, len, float ...
        self.steps: list[Load | Guard] = []
        self.origin: Origin | None = None  # of the instruction being interpreted
        self._homes: dict[Source, str] = {}
        self._constants: dict[int, str] = {
            id(v): k for k, v in reserved.items() if v is not None
        }
        self._codes: set[str] = set()

    @property
    def guards(self) -> list[Guard]:
        return [step for step in self.steps if isinstance(step, Guard)]

    def parameter(self, source: Source) -> str:
        """The name under which the check receives an argument."""
        name = self._homes[source] = self.names.new(source.hint)
        return name

    def constant(self, value: Any, hint: str) -> str:
        """A name for an object which the variant holds on to."""
        name = self._constants.get(id(value))
        if name is None:
            own = getattr(builtins, hint, None) is value and hint not in self.scope
            name = self._constants[id(value)] = hint if own else self.names.new(hint)
            self.scope[name] = value  # also keeps the object alive, so that its id stays its own
        return name

    def expression(self, source: Source) -> str:
        """Python for the source's value: its variable when it has one, else the path from the
        nearest one."""
        home = self._homes.get(source)
        if home is not None:
            return home
        return source.template.format("" if source.base is None else self.expression(source.base))

    def load(self, source: Source) -> str:
        """The variable that holds the source's value from here on."""
        home = self._homes.get(source)
        if home is None:
            text = self.expression(source)
            home = self._homes[source] = self.names.new(source.hint)
            self.steps.append(Load(home, text, source, self.origin))
        return home

    def met_at(self, home: str) -> Origin | None:
        """The user's place that looked at a value first, which is where its type is guarded."""
        return next((guard.origin for guard in self.guards if guard.subject == home), None)

    def add(self, guard: Guard) -> None:
        if guard.code not in self._codes:
            self._codes.add(guard.code)
            self.steps.append(guard)


def check_lines(steps: Sequence[Load | Guard]) -> list[str]:
    """The check's text: loads and guards, the way out being MISS."""
    out, fallible = [], False
    for step in steps:
        if isinstance(step, Load):
            fallible |= _fallible(step.source)
        else:
            fallible |= "[" in step.subject or "." in step.subject
    unpacked = _unpacked(steps)
    for key, alike in groupby(steps, lambda step: getattr(step, "key", "")):
        out += _as_one(key, list(alike), unpacked)
    if not fallible:
        return out
    # What a source names may be gone by the next call: a deleted global, a shorter list.
    return ["try:", *(f"    {line}" for line in out), "except Exception: return MISS"]


def _unpacked(steps: Sequence[Load | Guard]) -> dict[str, str]:
    """For lists and tuples of which every item is loaded: {the first that is: all at once, and the
    others: nothing}, for that is quicker than one by one."""
    codes = {step.code for step in steps if isinstance(step, Guard)}
    items: dict[str, dict[int, str]] = {}
    for step in steps:
        found = re.fullmatch(r"(\w+)\[(\d+)\]", step.text) if isinstance(step, Load) else None
        if found is not None and isinstance(step, Load):
            items.setdefault(found[1], {})[int(found[2])] = step.name
    texts: dict[str, str] = {}
    for home, names in items.items():
        whole = f"len({home}) == {len(names)}" in codes and max(names) == len(names) - 1
        if whole and codes.intersection((f"type({home}) is list", f"type({home}) is tuple")):
            first, in_order = next(iter(names.values())), [names[k] for k in sorted(names)]
            texts |= dict.fromkeys(in_order, "") | {first: f"{', '.join(in_order)}, = {home}"}
    return texts


def _as_one(key: str, steps: Sequence[Load | Guard], unpacked: dict[str, str]) -> list[str]:
    """Lines for guards that have a key in common; it needs all of them."""
    if key and len(steps) == KEYED:
        words = " and ".join(step.words for step in steps[1:] if isinstance(step, Guard))
        return [f"if not ({key}): return MISS  # {words}"]
    lines = [
        unpacked.get(step.name, f"{step.name} = {step.text}")
        if isinstance(step, Load)
        else f"if not ({step.code}): return MISS"
        for step in steps
    ]
    return [line for line in lines if line]


def variant_source(
    parameters: Sequence[str],
    steps: Sequence[Load | Guard],
    body: Sequence[str],
    title: str,
    scope: Mapping[str, Any],
) -> str:
    """The whole variant: the check, then what it protects. What the check names often is found
    quicker as a parameter."""
    check = check_lines(steps)
    named = Counter(re.findall(r"\w+", "".join(check)))
    found = dict.fromkeys(("type", *scope))
    del found["MISS"]
    often = [f"{name}={name}" for name in found if named[name] >= OFTEN]
    lines = ["# guards", *check, f"# {title}", *body]
    head = f"def variant({', '.join([*parameters, *often])}):\n"
    return head + "".join(f"    {line}\n" for line in lines)


def _fallible(source: Source | None) -> bool:
    return source is not None and (source.fallible or _fallible(source.base))
