"""From a graph to loops, and from many loops to few.

In: a functional graph.  Out: `fuse_graph(graph, phase)`, a `Schedule` of nests and extern steps
that codegen prints.

    primitives  what a loop body may compute         ir          offsets, buffers, loops, `ops`
    handlers    what `ops` can be                    interpret   the schedule in pure Python
    values      lazy values and views of them        realize     when a value gets a buffer
    lowering    a graph to a program of loops        verify      is a program well formed?
    lowering_*  the rules, by kind of operator       rules       all rules, in order
    indirect    what is read where values say        deps        who needs whom, at which index
    pair        what two groups would be as one      parts       what loops do in a shared nest
    verdicts    may two groups share a nest?         order       who must run before whom
    scheduler   which pairs fuse, in which order     why         the verdict on any two nodes
    nest        how one group runs                   memory      where buffers lie, and how long
    traffic     the bytes that must be moved         ledger      accesses, counted three ways
    show        all of it as text                    race        loop bodies as data, for the widget
    report      what was decided, as events          evaluations how often what is dear is computed
    options     how large a nest may grow            follow      bodies watched while they run
    history     a schedule, pair by pair             moments     mean and spread, in one pass
    peak        what fusing would hold in memory     online      softmax's two sums, in one pass
    matching    what nodes of a graph say            quotient    softmax's division, once a row
    driver      the stage as one call
"""
from .driver import fuse_graph as fuse_graph
from .evaluations import evaluations as evaluations
from .ledger import (
    Ledger as Ledger,
    before_and_after as before_and_after,
    count_by_running as count_by_running,
    ledger as ledger,
    separate as separate,
)
from .lowering import LoweringError as LoweringError, lower as lower
from .memory import MemoryPlan as MemoryPlan, plan_memory as plan_memory
from .nest import Nest as Nest
from .options import FusionOptions as FusionOptions
from .pair import Verdict as Verdict
from .program import Extern as Extern, Operand as Operand, Program as Program
from .scheduler import Schedule as Schedule, schedule as schedule
from .source_count import SourceCount as SourceCount, count_in_source as count_in_source
from .traffic import traffic as traffic
from .why import why_not as why_not
