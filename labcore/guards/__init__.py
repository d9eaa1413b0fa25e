"""Guards: under which conditions a captured program may run again, and the variants they protect.

    source.py   how a value is reached
    guard.py    one condition                   kinds.py    those there are, and what each says
    builder.py  collects them during capture    variant.py  one captured program with its check
    order.py    what is asked first             widen.py    fewer guards for what runs eagerly
    cache.py    the variants of one function
    replay.py   asks guard by guard, for people
"""

from .builder import GuardBuilder as GuardBuilder
from .cache import RECOMPILE_LIMIT as RECOMPILE_LIMIT, VariantCache as VariantCache
from .guard import Guard as Guard, Mismatch as Mismatch
from .source import Source as Source
from .variant import EAGER as EAGER, MISS as MISS, End as End, Variant as Variant
