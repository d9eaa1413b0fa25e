"""Random programs that change containers, objects and each other's aliases, eager against compiled.

Each program is run on inputs that share objects in several ways, so a variant made for one way is
asked whether it fits the others.
"""

from __future__ import annotations

import contextlib
import io
from typing import Any

from hypothesis import given, strategies as st

import labcore as torch

from .differential import strict
from .observing import observed

PATH = "<random changes>"
LISTS, DICTS, BOXES = ("a", "b", "c"), ("d", "e"), ("o", "p")


class Box:
    """A plain object."""


def pick(draw: Any, *choices: str) -> str:
    return draw(st.sampled_from(choices))


def number(draw: Any) -> str:
    return pick(draw, "0", "1", "2", "-1", "n")


def value(draw: Any) -> str:
    return pick(draw, "0", "1", "2", "n", "x", "x + n", "'s'", "(1, n)", "[n, x]", *LISTS, *BOXES)


def key(draw: Any) -> str:
    return pick(draw, "0", "1", "'k'", "'q'", "n", "(1, 'k')", "True")


def of_list(draw: Any) -> str:
    one, other = pick(draw, *LISTS), pick(draw, *LISTS)
    return pick(
        draw,
        f"{one}.append({value(draw)})",
        f"{one}.extend({other}[:3])",
        f"{one}.extend(({value(draw)}, {value(draw)}))",
        f"{one}.insert({number(draw)}, {value(draw)})",
        f"out.append({one}.pop())",
        f"out.append({one}.pop({number(draw)}))",
        f"{one}.clear()",
        f"{one}.reverse()",
        f"{one}[:] = sorted(v for v in {one} if isinstance(v, int))",
        f"{one}[{number(draw)}] = {value(draw)}",
        f"{one}[{number(draw)}:{number(draw)}] = {other}[:3]",
        f"del {one}[{number(draw)}]",
        f"del {one}[{number(draw)}:]",
        f"{one} += {other}[:3]",
        f"{one} = {other}",
        f"{one} = {other}[:]",
        f"out.append(({one}.index({number(draw)}), {one}.count({number(draw)})))",
        f"{one}.remove({number(draw)})",
        f"out.append((len({one}), {one} is {other}, bool({one})))",
        f"out.append({one}[{number(draw)}])",
        f"out.append({number(draw)} in {one})",
        f"if len({one}) > 5: {one}.clear()",
    )


def of_dict(draw: Any) -> str:
    one, other = pick(draw, *DICTS), pick(draw, *DICTS)
    return pick(
        draw,
        f"{one}[{key(draw)}] = {value(draw)}",
        f"del {one}[{key(draw)}]",
        f"out.append({one}.pop({key(draw)}, None))",
        f"out.append({one}.pop({key(draw)}))",
        f"out.append({one}.setdefault({key(draw)}, {value(draw)}))",
        f"{one}.update({other})",
        f"{one}.update(k={value(draw)})",
        f"{one} |= {{{key(draw)}: {value(draw)}}}",
        f"{one}.clear()",
        f"out.append({one}.popitem())",
        f"{one} = {other}",
        f"{one} = {{**{other}}}",
        f"out.append(list({one}))",
        f"out.append(list({one}.items()))",
        f"out.append((len({one}), {key(draw)} in {one}, {one}.get({key(draw)})))",
        f"out.append({one}[{key(draw)}])",
    )


def of_others(draw: Any) -> str:
    one, other = pick(draw, *BOXES), pick(draw, *BOXES)
    return pick(
        draw,
        f"{one}.v = {value(draw)}",
        f"{one}.v += 1",
        f"del {one}.v",
        f"out.append({one}.v)",
        f"out.append((hasattr({one}, 'v'), {one} is {other}, getattr({one}, 'w', 9)))",
        f"{one}.w = {other}",
        f"{one}, {other} = {other}, {one}",
        f"s.add({key(draw)})",
        f"s.discard({key(draw)})",
        f"s.remove({key(draw)})",
        f"s |= {{{key(draw)}, {key(draw)}}}",
        f"s.update([{key(draw)}])",
        f"out.append(({key(draw)} in s, len(s)))",
        f"r = {{{number(draw)}, n, 7, 15}}; r.add({number(draw)}); out.append(list(r))",
        "x = x + 1",
        "x = x * n",
        "cell = cell + 1; out.append(read())",
        "bump(n)",
        "TOTAL = n",
        "TOTAL = TOTAL + 1; out.append(TOTAL)",
        "mark(len(out))",
        "mark(TOTAL)",
    )


def block(draw: Any, depth: int) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 4 if depth else 8))):
        kind = draw(st.integers(0, 9))
        if depth < 2 and kind == 0:
            inner = ["    " + line for line in block(draw, depth + 1)]
            lines += ["try:", *inner, "except Exception as error: out.append(str(error))"]
        elif depth < 2 and kind == 1:
            what = pick(draw, "range(3)", f"list({pick(draw, *LISTS)})", f"{pick(draw, *DICTS)}")
            inner = ["    " + line for line in block(draw, depth + 1)]
            lines += [f"for q in {what}:", *inner]
        elif depth < 2 and kind == 2:
            one = pick(draw, *LISTS)
            inner = ["    " + line for line in block(draw, depth + 1)]
            left = f"left{depth}"  # a list may grow while it is gone through
            lines += [f"{left} = 4", f"for q in {one}:"]
            lines += [f"    {left} -= 1", f"    if {left} < 0: break"]
            lines += inner
        else:
            lines.append(draw(st.sampled_from([of_list, of_list, of_dict, of_others]))(draw))
    return lines


HEAD = """
TOTAL = 0
def program(x, n, a, b, c, d, e, s, o, p):
    global TOTAL
    out, cell = [], 0
    def bump(k):
        nonlocal cell
        cell += k
    def read():
        return cell
"""


@st.composite
def programs(draw: Any) -> str:
    body = [*block(draw, 0), "return out, x, a, b, c, d, e, o, p, bump, read"]
    return HEAD + "".join(f"    {line}\n" for line in body)


def inputs(way: int) -> tuple[Any, ...]:
    """New objects; `way` says which of them are one."""
    a, b, c = [1, 2, 0], [2, 1], []
    d, e = {"k": 1, 0: [3]}, {"q": 2}
    o, p = Box(), Box()
    o.v = 3  # type: ignore[attr-defined]
    if way & 1:
        b = a
    if way & 2:
        e, p = d, o
    if way & 4:
        c.append(a)
        d["k"] = b
        p.v = a  # type: ignore[attr-defined]
    x = torch.tensor([1.0, 2.0])
    return x, 1 + (way & 1), a, b, c, d, e, {0, "k"}, o, p


def run(source: str, ways: list[int], compiled: bool) -> list[Any]:
    events: list[Any] = []
    scope: dict[str, Any] = {"mark": events.append}
    exec(compile(source, PATH, "exec"), scope)
    program = scope["program"]
    called = torch.compile(program, backend="eager") if compiled else program
    found = []
    for way in ways:
        with contextlib.redirect_stdout(io.StringIO()), strict():
            world = {"TOTAL": scope["TOTAL"]}
            found.append((observed(called, inputs(way), events, world, PATH), scope["TOTAL"]))
    return found


@given(programs(), st.lists(st.integers(0, 7), min_size=2, max_size=5))
def test_random_changes(source: str, ways: list[int]) -> None:
    assert run(source, ways, compiled=True) == run(source, ways, compiled=False)
