"""The forms beside one: each differs in one number, and computes the same nest.

In: a nest, and one of its forms.  Out: what a search for the fastest form tries next, and a form's
numbers in words.
Invariant: every form that is reached so is right for every nest of its name: sums have other parts,
and are added up in another order, no more. A form that needs more registers or shared memory than
there are is not ruled out here; the compiler's report does that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ...fusion.nest import Nest
from .across import LARGE, SIDE
from .device import WARP
from .form import (
    BESIDE,
    BESIDE_AHEAD,
    BLOCKS,
    DEEP,
    EACH,
    MOST,
    SHORT,
    THREADS,
    Form,
    registers_of_a_walk,
    rows_a_batch,
    widest,
)
from .side_by_side import PAIR, in_pairs

HELD = 64  # elements of a row that a thread may hold at most
LONG = 8192  # columns from which a row may be as well read again
ROOM = (0, BESIDE_AHEAD, BESIDE, 40)  # registers beside those that hold a row; 0: no bound

Others = Callable[[Nest, Form], Iterator[Form]]


def neighbours(nest: Nest, form: Form) -> list[Form]:
    """The forms beside `form`, none where it is the only one of its kind."""
    others = NEIGHBOURS.get(form.name)
    found = [] if others is None else others(nest, form)
    return [replace(each, reason=describe(each)) for each in found]


def describe(form: Form) -> str:
    """The numbers of a form."""
    return DESCRIBED[form.name](form) if form.name in DESCRIBED else form.name


# ---- one number changed --------------------------------------------------------------------------


def _near(value: int, least: int, most: int) -> list[int]:
    """Half and twice of it."""
    return [n for n in (value // 2, 2 * value) if least <= n <= most]


def _threads(form: Form, least: int, most: int) -> Iterator[Form]:
    for threads in _near(form.threads, least, most):
        yield replace(form, threads=threads)


def _flat(nest: Nest, form: Form) -> Iterator[Form]:
    yield from _threads(form, 64, 1024)
    for each in _near(form.each, form.wide, 16):
        yield replace(form, each=each)
    if form.wide > 1:
        yield replace(form, wide=1)
    elif form.each >= PAIR and in_pairs(nest):
        yield replace(form, wide=PAIR)


def _tiles(nest: Nest, form: Form) -> Iterator[Form]:
    each = form.each or EACH
    for other in _near(each, 1, form.side):
        if 64 <= form.side * form.side // other <= 1024:
            yield replace(form, each=other)
    side, other = (LARGE, 2 * each) if form.side == SIDE else (SIDE, each // 2)
    if other and side * side // other <= 1024:
        yield replace(form, side=side, each=other)


def _rows(nest: Nest, form: Form) -> Iterator[Form]:
    columns = int(nest.columns)
    yield from _held(nest, form)
    if form.threads == WARP and nest.outer_loops:
        for rows in _near(form.rows, 1, 16):
            yield replace(form, rows=rows)
    yield from _room(form)
    if columns >= LONG and nest.outer_loops:
        yield replace(form, name="long rows", threads=1024, short=columns <= 1024 * SHORT)


def _held(nest: Nest, form: Form) -> Iterator[Form]:
    """Other threads for a row in registers, their words no longer than suits them; and other words.
    """
    columns = int(nest.columns)
    for each in _threads(form, WARP, 1024):
        if columns <= each.threads * HELD:
            yield replace(each, wide=min(form.wide, widest(nest, columns, each.threads)))
    most = widest(nest, columns, form.threads)
    for wide in sorted({1, most} - {form.wide}):
        yield replace(form, wide=wide)


def _room(form: Form) -> Iterator[Form]:
    return (replace(form, beside=beside) for beside in ROOM if beside != form.beside)


def _long_rows(nest: Nest, form: Form) -> Iterator[Form]:
    columns = nest.columns.const
    for threads in _near(form.threads, WARP, 1024):
        short = columns is not None and columns <= threads * SHORT
        yield replace(form, threads=threads, short=short)


def _walked(nest: Nest, form: Form) -> Iterator[Form]:
    """Rows beside columns, in registers or read again."""
    rows, held = rows_a_batch(nest).const, not form.name.startswith("long")
    yield from _held(nest, form) if held else _threads(form, WARP, 1024)
    for shares in _near(form.shares, BLOCKS // 4, min(4 * BLOCKS, rows or 4 * BLOCKS)):
        short = held and rows is not None and rows <= shares * SHORT
        yield replace(form, shares=shares, short=short)
    if held:
        yield from _room(form)
    if form.ahead:
        yield replace(form, ahead=False, beside=BESIDE)
    elif held and registers_of_a_walk(nest, 1)[1] and (rows is None or rows > form.shares):
        yield replace(form, ahead=True, beside=BESIDE_AHEAD)


def _columns(nest: Nest, form: Form) -> Iterator[Form]:
    rows, columns = rows_a_batch(nest).const, nest.columns.const
    changed = list(_threads(form, 128, 512))
    if columns is None or columns >= 2 * WARP * EACH:
        changed += [replace(form, each=each) for each in _near(form.each or EACH, 1, 8)]
    changed += [replace(form, shares=shares) for shares in _near(form.shares, 1, 4 * BLOCKS)]
    for each in changed:
        tall = each.threads // WARP
        yield replace(each, short=rows is not None and rows <= each.shares * tall * SHORT)


def _total(nest: Nest, form: Form) -> Iterator[Form]:
    columns = nest.columns.const
    for each in (EACH, 2 * EACH, DEEP, 2 * DEEP):
        if each != form.each:
            yield replace(form, each=each)
    for shares in _near(form.shares, 1, 2 * MOST):
        short = columns is not None and columns <= shares * THREADS * SHORT
        yield replace(form, shares=shares, short=short)


def _lanes(nest: Nest, form: Form) -> Iterator[Form]:
    yield from _threads(form, WARP, 512)


NEIGHBOURS: dict[str, Others] = {
    "flat": _flat, "tiles": _tiles, "rows": _rows, "long rows": _long_rows,
    "rows, columns": _walked, "long rows, columns": _walked, "columns": _columns, "total": _total,
    "thread a row": _lanes, "thread a column": _lanes,
}


# ---- in words ------------------------------------------------------------------------------------


def _said_threads(form: Form) -> str:
    if form.threads > WARP:
        return f"{form.threads} threads a row"
    return "one warp a block, which has a row" if form.rows == 1 else (
        f"{form.rows} warps a block, each a row")


def _said_room(form: Form) -> str:
    words = f"words of {form.wide}, " if form.wide > 1 else ""
    if not form.beside:
        return f"{words}registers as the compiler likes"
    return f"{words}{form.beside} registers beside the row"


def _said_walked(form: Form) -> str:
    blocks = f"{form.shares} blocks of {form.threads} threads"
    if form.name.startswith("long"):
        return blocks
    return f"{blocks}, {_said_room(form)}{', the next row ahead' * form.ahead}"


DESCRIBED: dict[str, Callable[[Form], str]] = {
    "flat": lambda form: (f"{form.threads} threads a block, {form.each} elements each"
                          + ", two a word" * (form.wide > 1)),
    "tiles": lambda form: f"squares of {form.side}, {form.each or EACH} elements a thread",
    "rows": lambda form: f"{_said_threads(form)}, {_said_room(form)}",
    "long rows": lambda form: f"{_said_threads(form)}, which is read again",
    "rows, columns": _said_walked,
    "long rows, columns": _said_walked,
    "columns": lambda form: (
        f"{form.shares} blocks of {form.threads} threads a tile, {form.each or EACH} columns each"),
    "total": lambda form: (
        f"{form.shares} blocks, " + (f"{form.each} elements" if form.each else "some elements")
        + " of a thread in flight"),
    "thread a row": lambda form: f"{form.threads} threads a block",
    "thread a column": lambda form: f"{form.threads} threads a block",
}
