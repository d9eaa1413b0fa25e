"""`labcore.compiler`: compile, and what goes with it.

compile.py     the entry                    dispatcher.py  the function it returns
state.py       one compiled function        build.py       capture, backend, variant
graphs.py      equal graphs are one         drive.py       from region to region
points.py      places where regions begin   frames.py      compile ids
backends.py    backends by name             pipeline.py    the built-in ones
disable.py, allow.py, on_break.py  said by user code
stance.py      how much is compiled         limit.py, counters.py
bucketing.py   a few sizes for many lengths
explain.py, logs.py   readers of the trace  exc.py         errors
guard_matrix.py       all guards, asked of a call

`cache` is codegen's, for `cache.info()` and `cache.clear()`: compiled programs on disk.
"""

from typing import Any

from .allow import (
    allow_in_graph as allow_in_graph,
    assume_constant_result as assume_constant_result,
    nonstrict_trace as nonstrict_trace,
    substitute_in_graph as substitute_in_graph,
)
from .backends import list_backends as list_backends, register_backend as register_backend
from .bucketing import bucketed as bucketed
from .compile import compile as compile
from .disable import (
    disable as disable,
    graph_break as graph_break,
    is_compiling as is_compiling,
    is_dynamo_compiling as is_dynamo_compiling,
    skip_frame as skip_frame,
)
from .explain import explain as explain
from .guard_matrix import guard_matrix as guard_matrix
from .logs import activate_from_environment, set_logs as set_logs
from .on_break import error_on_graph_break as error_on_graph_break
from .stance import set_stance as set_stance
from .state import reset as reset

activate_from_environment()


def __getattr__(name: str) -> Any:
    """What is of a room that only compiling needs."""
    if name == "cache":
        from ..codegen import cache

        return cache
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
