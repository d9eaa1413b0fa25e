"""The checks of the lessons' exercises.

    result.py     facts, results, and how a student's function is asked
    memory.py     arrays that count their accesses
    lesson00.py   three passes, a lazy wrapper, the same answer
    lesson01.py   formulas, a report, a launch cost
    lesson02.py   a loop that unrolls, the edges of a graph, a backend, one graph
    lesson03.py   a check by hand, a cache, five variants, a number in a text, guesses
    lesson04.py   three policies, all variants of a branch, a mark, three buckets
    lesson05.py   one region, two events, no branch, one report, a bill
    lesson06.py   two meta rules, a pure function, a decomposition
    lesson07.py   a backward by hand, a warm-up
    lesson08.py   a cut, a budget
    lesson08b.py  a training loop
    lesson09.py   three loop bodies, a handler that counts
    lesson10.py   memory used again, which loops may be one, what to store
    lesson10c.py  whose element is whose, where threads wait
    lesson11.py   a handler that prints a kernel, a wrapper that refuses
    lesson13.py   when two lanes are done, a step that is recorded once
    lesson14.py   a benchmark, two edits and the disk cache, a break-even
    clinic_a.py   a type that is another one each time, a day that gets slower
    clinic_b.py   a network that is left for Python in every layer
    clinic_c.py   a kernel that computes too much, a library that was pushed out
    facts.py      what the compiler did with some calls
    operators.py  which operators a function calls, run eagerly

In: what a student wrote, as a value handed over (a check never looks up a name of theirs).  Out:
a `Result`: every fact as *expected, found*, then "Public checks passed." or the belief that most
likely made the difference.
Invariant: a check runs the student's code on several inputs and compares facts and values, never
source text. An exercise that is not begun (it still answers `...`) is said to be so, and a
student's error is a fact like any other: a fresh notebook runs from top to bottom.
"""
from .clinic_a import calm_day as calm_day, one_type as one_type
from .clinic_b import whole_network as whole_network
from .clinic_c import cheap_gate as cheap_gate, product as product
from .lesson00 import lazy as lazy, same as same, three_passes as three_passes
from .lesson01 import (
    FakeClock as FakeClock,
    formulas as formulas,
    launch_cost as launch_cost,
    report as report,
)
from .lesson02 import (
    edges as edges,
    one_graph as one_graph,
    own_backend as own_backend,
    repeat as repeat,
)
from .lesson03 import (
    cache as cache,
    five_variants as five_variants,
    holds as holds,
    outcomes as outcomes,
    settles as settles,
)
from .lesson04 import (
    all_variants as all_variants,
    buckets as buckets,
    marked as marked,
    policies as policies,
)
from .lesson05 import (
    bill as bill,
    gathered as gathered,
    no_branch as no_branch,
    one_region as one_region,
    two_events as two_events,
)
from .lesson06 import meta_rules as meta_rules, pure as pure, softsign as softsign
from .lesson07 import block_backward as block_backward, warm_up as warm_up
from .lesson08 import budget as budget, kept as kept
from .lesson08b import trained as trained
from .lesson09 import bodies as bodies, count_ops as count_ops
from .lesson10 import (
    materialise as materialise,
    may_fuse as may_fuse,
    memory_plan as memory_plan,
)
from .lesson10c import coalesced as coalesced, waits as waits
from .lesson11 import emit as emit, wrapper as wrapper
from .lesson13 import finished as finished, replayable as replayable
from .lesson14 import bench as bench, break_even as break_even, edits as edits
from .memory import CountingList as CountingList, Memory as Memory
from .result import Fact as Fact, Result as Result
