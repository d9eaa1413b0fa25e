"""One seed's world: a module, a program that reads some of it, and changes of all of it.

In: a seed.  Out: a `World`: `call` the program or what was compiled of it, `change` something.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import labcore as torch

from .more_places import MORE
from .odd_places import ODD
from .places import ARGUMENTS, BUILTIN, KEYS, NUMBERED, STATE, VALUES, Kind

PRELUDE = """
import functools, operator
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from enum import Enum, Flag, IntEnum
from functools import partial
from types import MappingProxyType, ModuleType, SimpleNamespace
from typing import ClassVar
TORCH, relu = torch, torch.relu
class Plain: pass
class Row(list): pass
class Table(dict): pass
class Color(Enum): RED = 1
class Data:
    def __init__(self, value): self.value = value
    def __get__(self, instance, owner): return self.value
    def __set__(self, instance, value): self.value = value
Pair = namedtuple('Pair', 'a b')
KEPT = [1, 2]
def add(a, b=1, *, c=0): return a
def make_other(c):
    def other(v, k=3, *, s=1): return v - c
    return other
def wrapped(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs), len(args)
    return inner
def made_in_inference():
    with TORCH.inference_mode():
        return TORCH.ones(2)
where, x0, y0 = '', torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
"""
ROLES = ("global", "global", "argument", "cell", "default")
EVERY = (*NUMBERED, *MORE, *ODD)
PATH = "<random world>"


class Place:
    """A kind with a number; `role` says how the program comes to its variable."""

    def __init__(self, kind: Kind, number: int, role: str) -> None:
        self.kind, self.number, self.role = kind, number, role
        self.variable = self.text(kind.name)

    def text(self, text: str, random: Random | None = None) -> str:
        text = re.sub(r"\b@", str(self.number), text)  # no decorator's
        while random and "$" in text:
            text = text.replace("$", random.choice(VALUES).replace("@", str(self.number)), 1)
        while random and "?" in text:
            text = text.replace("?", random.choice(KEYS), 1)
        return text


class World:
    """`used` are the places that the program reads."""

    def __init__(self, seed: int, among: Sequence[Kind] = EVERY) -> None:
        self.random = random = Random(seed)
        kinds = random.choices(among, k=random.randint(2, 5))
        places = [Place(k, n, self._role(k)) for n, k in enumerate(kinds)]
        for kind in (ARGUMENTS, STATE):
            if random.random() < 0.5:
                places.append(Place(kind, 99, "global"))
        self.places = places
        self.used = random.sample(places, max(1, random.randint(len(places) // 2, len(places))))
        made = [place.text(place.kind.made, random) for place in places]
        self.source = "\n".join([PRELUDE, *made, *self._program()])
        self.scope: dict[str, Any] = {"torch": torch, "__name__": "__main__"}
        exec(compile(self.source, PATH, "exec"), self.scope)
        self.program = self.scope["program"]
        self.sync()

    def _role(self, kind: Kind) -> str:
        return "global" if kind is BUILTIN else self.random.choice(ROLES)

    def named(self, role: str) -> list[str]:
        return [place.variable for place in self.used if place.role == role]

    # ---- the program ----

    def _program(self) -> Iterator[str]:
        arguments = ["x", "y", *self.named("argument")]
        arguments += [f"{name}=None" for name in self.named("default")]
        yield f"def make_program({', '.join(self.named('cell'))}):"
        yield f"    def program({', '.join(arguments)}):"
        yield "        out = []"
        for place in self.used:
            for _ in range(self.random.randint(1, 4)):
                yield from ("        " + line for line in self._statement(place))
        yield "        return out, x"
        yield "    return program"
        yield f"program = make_program({', '.join('None' for _ in self.named('cell'))})"

    def _statement(self, place: Place) -> list[str]:
        read = place.text(self.random.choice(place.kind.reads), self.random)
        choice = self.random.random()
        if choice < 0.45:
            lines = [f"out.append({read})"]
        elif choice < 0.6:
            lines = [f"if {read}: x = x + 1", "else: x = x * 2"]
        elif choice < 0.75:
            lines = [f"x = x + ({read})"]
        elif choice < 0.85:
            lines = [f"for i in range(2): out.append(({read}, i))"]
        else:
            lines = [f"out.append([{read} for i in (1, 2)])"]
        if self.random.random() < 0.6:
            lines = ["try:", *("    " + line for line in lines)]
            lines += ["except Exception as error: out.append((type(error).__name__, str(error)))"]
        return lines

    # ---- what happens to it ----

    def change(self) -> tuple[str, bool]:
        """(a statement that was run, could the program have noticed?)"""
        place = self.random.choice(self.places)
        changes = place.kind.changes
        unseen = place.kind.unseen and self.random.random() < 0.2
        if unseen:
            changes = place.kind.unseen
        text = place.text(self.random.choice(changes), self.random)
        with contextlib.suppress(Exception):
            exec(text, self.scope)
        self.sync()
        shared = place.kind in (STATE, BUILTIN, ARGUMENTS) or "KEPT" in text
        return text, shared or place in self.used and not unseen

    def sync(self) -> None:
        """The program's cells and defaults are what the variables of those names are."""
        program = self.program
        cells = dict(zip(program.__code__.co_freevars, program.__closure__ or ()))
        for name in self.named("cell"):
            if name in cells and name in self.scope:
                cells[name].cell_contents = self.scope[name]
            elif name in cells and name not in self.scope:
                with contextlib.suppress(ValueError):
                    del cells[name].cell_contents
        wanted = tuple(self.scope.get(name) for name in self.named("default"))
        now = program.__defaults__ or ()
        if len(now) != len(wanted) or any(a is not b for a, b in zip(now, wanted)):
            program.__defaults__ = wanted or None

    def call(self, function: Callable[..., Any]) -> Any:
        """What it gave, or the exception."""
        args = [self.scope["x0"], self.scope["y0"]]
        args += [self.scope.get(name) for name in self.named("argument")]
        where = self.scope["where"]
        if where == "thread":
            return _in_a_thread(lambda: _outcome(function, args))
        way = {
            "no_grad": torch.no_grad,
            "inference": torch.inference_mode,
            "enable_grad": torch.enable_grad,
        }.get(where, contextlib.nullcontext)
        with way():
            return _outcome(function, args)


def _outcome(function: Callable[..., Any], args: list[Any]) -> Any:
    try:
        return function(*args)
    except Exception as error:
        return error


def _in_a_thread(function: Callable[[], Any]) -> Any:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]
