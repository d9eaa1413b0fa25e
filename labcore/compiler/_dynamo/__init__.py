"""What PyTorch keeps under `torch._dynamo` and teaching programs use, as far as it exists here."""

from ...tensor.marks import (
    mark_dynamic as mark_dynamic,
    mark_static as mark_static,
    maybe_mark_dynamic as maybe_mark_dynamic,
)
from .. import exc as exc
from ..allow import (
    allow_in_graph as allow_in_graph,
    assume_constant_result as assume_constant_result,
    nonstrict_trace as nonstrict_trace,
    substitute_in_graph as substitute_in_graph,
)
from ..backends import list_backends as list_backends, register_backend as register_backend
from ..disable import (
    disable as disable,
    graph_break as graph_break,
    is_compiling as is_compiling,
    skip_frame as skip_frame,
)
from ..explain import explain as explain
from ..on_break import error_on_graph_break as error_on_graph_break
from ..stance import set_stance as set_stance
from ..state import reset as reset
from . import testing as testing, utils as utils
