"""How a nest lies on the grid: which form it is printed in, and why.

    flat            each thread has four elements, a block apart
    tiles           a block has a square, of which what lies across is turned in shared memory
    rows            a block a row, or a warp a row; the row stays in registers
    long rows       a block a row that is read again in each pass
    rows, columns   blocks walk over rows; each leaves one row of partial column results
    columns         a block has some columns, its threads walk down the rows
    total           all blocks walk over the one row; each leaves one partial result
    thread a row    nothing is shared between threads
    thread a column
    one thread      the order of writing is part of the meaning, or there is nothing to go over

In: a `Nest`.  Out: a `Form`. Sizes decide, and what is known of them: a size that is a symbol
counts as large, but a row of such a length has as many threads as suit the one that was seen first.
The numbers were measured on an H200: 16 elements of a row to a thread, rows of up to 512 columns in
one warp, at most 51 thousand columns in the registers of a block. Inductor has such rules in its
heuristics for `triton`; both try others out under max-autotune (`tune.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...fusion.ir import Expr, product
from ...fusion.nest import Nest
from .across import LARGE, SIDE, Across, loads_across
from .device import WARP
from .side_by_side import PAIR, a_word_of_a_row, accesses, in_pairs

THREADS = 256  # of a block, where nothing speaks for another number
EACH = 4  # elements of a thread in flight at once
HALVES = 8  # the same of two bytes each: as many bytes are in flight
TILE = THREADS * EACH
DEEP = 16  # the same of one long row, of which a thread does nothing but add up
STRETCH = THREADS * DEEP
PER_THREAD = 16  # elements of a row that one thread holds
PER_TURN = 32  # the same of a row that it holds none of
ROW_LIMIT = 51 * 1024  # columns that fit into the registers of a block
ONE_BLOCK = 16 * 1024  # up to here one block reduces a single row faster than two kernels do
NARROW = 8  # columns up to which a warp would mostly idle
MULTIPROCESSORS = 132  # of an H200
BLOCKS = 2 * MULTIPROCESSORS
MANY = 4 * BLOCKS  # blocks that share one row
MOST = 16 * BLOCKS  # the same, where no kernel begins by adding up what all of them left
TALL = 8  # threads that share a column of a block, at least
SHARE = 64  # rows that a block of columns walks over, at least
FEW_ROWS = 4  # rows that a block walks over, below which partial results are a burden
PARTS, REGISTERS = 4, 16384  # of a multiprocessor, and of each of these
MOST_BLOCKS = 32  # that a multiprocessor takes
MORE_HALVES = 8  # registers beside others, where words become numbers and back
SHORT = 256  # numbers that a thread adds up in float32; more in float64
ROWS_A_BLOCK = 4  # where one warp is enough for a row
BESIDE = 24  # registers of a thread beside the elements of a row that it holds
BESIDE_AHEAD = 16  # the same where the next row's are there, too: so many are in use at all times


@dataclass(frozen=True)
class Form:
    """`threads` of a block, or of its part that has one row; `shares`: blocks that leave partial
    results; `short`: no thread adds up many more than `SHORT` numbers; `each`: elements of a thread
    in flight, 0 where the form's own number is as good; `rows` of a block where a warp has one;
    `side` of a square; `beside`: registers of a thread beside those that hold a row, for which room
    is made; 0: as many as the compiler likes; `wide`: as many elements are loaded at once; `ahead`:
    the next row is loaded before this one is worked on."""

    name: str
    reason: str
    threads: int = THREADS
    shares: int = 1
    short: bool = False
    each: int = 0
    rows: int = ROWS_A_BLOCK
    side: int = SIDE
    beside: int = BESIDE
    wide: int = 1
    ahead: bool = False


def choose(nest: Nest, seen: Mapping[str, Any] | None = None) -> Form:
    """The form of a nest, with the rule that led there. `seen`: values of symbols."""
    parts = set(nest.parts.values())
    if any(size.const == 0 for _, size, _ in nest.loops):
        return Form("one thread", "there is nothing to go over, though results may be left", 32)
    if any(node.loops.kind in ("scatter", "scatter_add") for node in nest.nodes):
        return Form("one thread", "elements may be written at one place: the last one stays", 32)
    if "colscan" in parts:
        return _scanned(nest, parts)
    if "rowscan" in parts:
        return _apart(nest, parts, "a running sum goes along the row")
    if parts == {"each"}:
        return _flat(nest)
    if not nest.outer_loops:
        return _one_row(nest)
    if "colred" not in parts:
        return _rows(nest, seen)
    return _columns(nest) if parts <= {"each", "colred"} else _walked(nest)


def _scanned(nest: Nest, parts: set[str]) -> Form:
    if parts <= {"each", "colscan"} and len(nest.passes) == 1:
        return Form("thread a column", "a running sum goes down the column")
    return Form("one thread", "a running sum goes down the columns beside a reduction", 32)


def _apart(nest: Nest, parts: set[str], why: str) -> Form:
    if parts & {"colred", "colscan"}:
        return Form("one thread", f"{why}, and columns are added up beside it", 32)
    return Form("thread a row", why)


def _flat(nest: Nest) -> Form:
    if not nest.loops:
        return Form("one thread", "there is one element", 32)
    if (found := loads_across(nest)) is not None:
        side, each = _square(nest, found)
        return Form("tiles", f"squares of {_listed(found.buffers)} are turned in shared memory: "
                    "they lie across what is stored", side=side, each=each)
    types = [nest.buffers_by_name[name].dtype for name in nest.arguments]
    each, pairs = HALVES if all(t.is_half for t in types) else EACH, in_pairs(nest)
    if pairs and by_rows(nest, THREADS) and (columns := nest.loops[-1][1].const) is not None:
        each = min(each, 2 * -(-columns // (2 * THREADS)))  # no more than a row has
    what = f"{each} elements a thread{', two a word' * pairs}"
    return Form("flat", f"pointwise: {what}, {THREADS} threads a block", each=each,
                wide=PAIR if pairs else 1)


def by_rows(nest: Nest, threads: int) -> bool:
    """Do blocks of a pointwise nest stay within one turn of all loops but the last?"""
    size = nest.loops[-1][1]
    return len(nest.loops) > 1 and (size.const is None or size.const >= threads)


def _square(nest: Nest, found: Across) -> tuple[int, int]:
    """The side of a square, and how many of its elements a thread has. Large ones have more bytes
    in flight, which took 0.93 of the time on an H200, if there are enough for all
    multiprocessors and all loads that small ones turn still find room."""
    size = product([size for _, size, _ in nest.loops]).const
    large = size is None or size >= 4 * BLOCKS * LARGE**2
    if large and loads_across(nest, LARGE) == found:
        return LARGE, 2 * EACH
    return SIDE, EACH


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _one_row(nest: Nest) -> Form:
    columns = nest.columns.const
    if columns is not None and columns <= ONE_BLOCK:
        return Form("rows", f"one row of {columns}: one block is enough", row_threads(columns),
                    short=True)
    most = MOST if columns is not None and len(nest.passes) == 1 else MANY
    shares = most if columns is None else min(most, -(-columns // STRETCH))
    return Form("total", f"one row of {nest.columns}: {shares} blocks share it", shares=shares,
                short=columns is not None and columns <= shares * THREADS * SHORT)


def _rows(nest: Nest, seen: Mapping[str, Any] | None) -> Form:
    columns = nest.columns.const
    if columns is None:
        return _rows_of_any_length(nest, seen)
    if columns > ROW_LIMIT:
        return Form("long rows", f"a row of {columns} does not fit into registers", 1024,
                    short=columns <= 1024 * SHORT)
    if columns <= NARROW:
        return Form("thread a row", f"a row of {columns} would leave most of a warp idle")
    threads = row_threads(columns)
    if threads == 1024 and columns <= 2 * PER_THREAD * 512:
        threads = 512  # two blocks at a time: one computes while the other waits for memory
    what = "a warp" if threads == 32 else f"{threads} threads"
    return Form("rows", f"{what} a row of {columns}: the row stays in registers", threads,
                short=True, wide=widest(nest, columns, threads))


def widest(nest: Nest, columns: int, threads: int) -> int:
    """Elements of a word. Where each of many would have to be asked for, they are not words."""
    wide = a_word_of_a_row(nest, threads)
    many = elements_of(columns, threads, wide) > PER_THREAD
    return 1 if many and columns % (threads * wide) else wide


def elements_of(columns: int, threads: int, wide: int) -> int:
    """What a thread has of a row in registers: a whole number of words."""
    return max(1, -(-columns // (threads * wide))) * wide


def _rows_of_any_length(nest: Nest, seen: Mapping[str, Any] | None) -> Form:
    """Of a short row most threads would idle: rows of 256 took an H200 ten times as long in blocks
    of 256 threads as in warps."""
    what, threads = f"rows of {nest.columns}", THREADS
    if seen and nest.columns.symbols <= seen.keys():
        first = nest.columns.value(seen)
        what, threads = f"{what}, {first} at first", min(row_threads(first, PER_TURN), 512)
    return Form("long rows", f"{what}: no bound for the registers is known", threads)


def row_threads(columns: int, per_thread: int = PER_THREAD) -> int:
    """A power of two near columns / per_thread, from one warp to 1024 threads."""
    threads = 32
    while threads * per_thread < columns and threads < 1024:
        threads *= 2
    return threads


def _walked(nest: Nest) -> Form:
    columns, rows = nest.columns.const, rows_a_batch(nest).const
    if columns is None or columns > ROW_LIMIT // 2:
        return Form("long rows, columns", f"rows of {nest.columns}, and sums of its columns, do "
                    "not fit into registers", shares=_shared(BLOCKS, rows))
    threads = row_threads(columns)
    wide = widest(nest, columns, threads)
    this, both = registers_of_a_walk(nest, elements_of(columns, threads, wide))
    fit = blocks_that_fit(this, threads)
    shares = _shared(MULTIPROCESSORS * fit, rows)
    if not _room(this, threads):
        wide = 1  # words need their registers all at once, and some are spilled as it is
    walks = rows is None or rows > shares
    ahead = walks and both > 0 and min(MOST_BLOCKS, _room(both, threads)) == fit
    return Form("rows, columns", f"{shares} blocks walk over the rows; partial sums of columns "
                f"stay in registers{', the next row comes ahead' * ahead}", threads, shares,
                short=rows is not None and rows <= shares * SHORT, wide=wide, ahead=ahead,
                beside=BESIDE_AHEAD if ahead else BESIDE)


def _shared(blocks: int, rows: int | None) -> int:
    """Blocks that share so many rows: of small ones many hide each other's waiting for memory."""
    return blocks if rows is None else min(blocks, max(1, rows // FEW_ROWS, min(BLOCKS, rows)))


def registers_of_a_walk(nest: Nest, own: int) -> tuple[int, int]:
    """Of a thread with so many elements of a row; and if the next row's are there beside them, 0
    where nothing is loaded for a row."""
    inner, outer = ({var for var, _ in loops} for loops in (nest.inner_loops, nest.outer_loops))
    loads = [(buffer, at) for buffer, at in accesses(nest)[0] if inner & at.symbols]
    sums = [node.name for node in nest.nodes
            if nest.parts[node] == "colred" or nest.homes[node.name] == "row"]

    def words(names: list[str]) -> int:
        return own * sum(-(-nest.buffers_by_name[n].dtype.itemsize // 4) for n in names)

    coming = words([buffer for buffer, at in loads if outer & at.symbols])
    now = words([*(buffer for buffer, _ in loads), *sums])
    more = MORE_HALVES * any(nest.buffers_by_name[buffer].dtype.is_half for buffer, _ in loads)
    return BESIDE + now + more, (BESIDE_AHEAD + now + more + coming) * (coming > 0)


def blocks_that_fit(registers: int, threads: int) -> int:
    """Blocks on a multiprocessor, of so many threads with so many registers: one at least, whose
    threads else spill some of them."""
    return max(1, min(MOST_BLOCKS, _room(registers, threads)))


def _room(registers: int, threads: int) -> int:
    """Blocks that find registers on a multiprocessor."""
    warps = REGISTERS // (WARP * (-(-registers // 8) * 8))  # of one part
    return PARTS * warps * WARP // threads


def _columns(nest: Nest) -> Form:
    rows, tiles = rows_a_batch(nest).const, -(-(nest.columns.const or 8192) // 128)
    tiles *= nest.batches.const or 1
    wanted = max(1, 2 * BLOCKS // tiles)
    shares = min(BLOCKS, wanted if rows is None else min(wanted, -(-rows // SHARE)))
    shares = max(1, shares)
    walk = "one block walks" if shares == 1 else f"{shares} blocks walk"
    return Form("columns", f"{walk} down each tile of columns", shares=shares,
                short=rows is not None and rows <= shares * TALL * SHORT)


def rows_a_batch(nest: Nest) -> Expr:
    """How many rows a column is added up over."""
    rows = Expr.of(1)
    for _, size in nest.row_loops:
        rows = rows * size
    return rows
