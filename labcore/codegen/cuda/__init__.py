"""CUDA kernels, from the same loops and schedule as the CPU's.

In: a `Nest`.  Out: its kernels, in the order in which they run: `GridKernel`s, whose text numba
compiles for a card and the grid simulator runs without one.

    form.py      which form a nest is printed in, and why
    base.py      what the forms share        device.py   reductions over warps and blocks
    flat.py flat_pairs.py tiles.py rows.py columns.py total.py lanes.py fold.py     the forms
    across.py    which loads of a nest tiles turn    wide.py             words of several elements
    tune.py      the search for a faster form        side_by_side.py     what one word holds
    trial.py     their times                         neighbours.py       which ones it tries
    choices.py   what was found, on disk

Nothing here imports numba, except what compiles. Inductor's counterpart prints Triton, whose
compiler chooses what stands here in the text: threads, registers, shared memory.
"""

from __future__ import annotations

from ...fusion.nest import Nest
from ..printer import kernel_name
from .across import loads_across
from .columns import ColumnsPrinter
from .flat import FlatPrinter
from .flat_pairs import PairsPrinter
from .form import Form as Form, choose as choose
from .kernel import GridKernel as GridKernel, Launches as Launches
from .lanes import LanePrinter
from .rows import RowsPrinter
from .tiles import TilesPrinter
from .total import total_kernels


def print_launches(nest: Nest, number: int = 0, in_place: bool = False,
                   form: Form | None = None) -> Launches:
    """The kernels of a nest, numbered within its program. `in_place`: the caller lends an operand's
    memory for a result, of which the nest does not know. `form`: another one than `choose` says."""
    kernels = print_kernels(nest, kernel_name(nest, number), form or choose(nest))
    return Launches(tuple(k.without_const() if in_place else k for k in kernels))


def print_kernels(nest: Nest, name: str, form: Form) -> list[GridKernel]:
    """The kernels of a nest in a form, the first one under this name."""
    if form.name == "flat":
        printer = PairsPrinter if form.wide > 1 else FlatPrinter
        return [printer(nest, form).print(name)]
    if form.name == "tiles" and (found := loads_across(nest, form.side)) is not None:
        return [TilesPrinter(nest, form, found).print(name)]
    if form.name == "columns":
        return ColumnsPrinter(nest, form).kernels(name)
    if form.name == "total":
        return total_kernels(nest, form, name)
    if "thread" in form.name:
        return [LanePrinter(nest, form).print(name)]
    return RowsPrinter(nest, form).kernels(name)
