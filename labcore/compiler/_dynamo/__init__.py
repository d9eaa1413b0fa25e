"""What PyTorch keeps under `torch._dynamo` and teaching programs use, as far as it exists here."""

from .. import exc as exc
from ..backends import list_backends as list_backends, register_backend as register_backend
from ..disable import disable as disable, graph_break as graph_break
from ..explain import explain as explain
from ..state import reset as reset
from . import testing as testing
