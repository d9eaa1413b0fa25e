"""`labcore.compiler`: compile, and what goes with it.

compile.py     the entry                    dispatcher.py  the function it returns
state.py       one compiled function        build.py       capture, backend, variant
graphs.py      equal graphs are one         drive.py       from region to region
points.py      places where regions begin   frames.py      compile ids
backends.py    backends by name             pipeline.py    the built-in ones
disable.py     said by user code            exc.py         errors
explain.py, logs.py   readers of the trace
"""

from .backends import list_backends as list_backends, register_backend as register_backend
from .compile import compile as compile
from .disable import disable as disable, graph_break as graph_break, is_compiling as is_compiling
from .explain import explain as explain
from .logs import activate_from_environment, set_logs as set_logs
from .state import reset as reset

activate_from_environment()
