"""Tensors, the eager mode and its tape.

From outside: `from labcore.tensor import Tensor`; `labcore.tensor` is the function, as in PyTorch.

    tensor       the handle                   storage      its memory and version
    methods      operators as methods         history      what it records
    conversions  to Python and numpy          indexing     x[...]
    printing     repr                         size         the shape
    factories    from data or from nothing    random       and from chance
    functions    comparisons and settings     modes        grad mode, inference mode
    eager        computes an operator         arguments    puts a call in order
    autograd     backward and grad            nodes        what grad_fn is
    recording    what a call keeps            inplace      writes, and history after them
    threads      how many                     pool         memory for large ones
    function     derivatives of one's own     custom       what the tape is told of those
    hooks        on a gradient's way          saved        what is kept until the backward
    cuda         arrays of a card             on_card      tensors of uninitialised ones
"""

from . import autograd
from .eager import EagerInterpreter
from .exchange import from_dlpack as from_dlpack
from .factories import (
    arange,
    as_tensor,
    empty,
    empty_like,
    empty_strided,
    from_numpy,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    tensor,
    zeros,
    zeros_like,
)
from .functions import (
    allclose,
    equal,
    get_default_dtype,
    is_floating_point,
    is_tensor,
    isclose,
    numel,
    set_default_dtype,
)
from .modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .printing import set_printoptions
from .random import (
    initial_seed,
    manual_seed,
    rand,
    rand_like,
    randint,
    randn,
    randn_like,
)
from .size import Size
from .tensor import Tensor, wrap
from .threads import get_num_threads, set_num_threads

__all__ = [
    "EagerInterpreter",
    "Size",
    "Tensor",
    "allclose",
    "arange",
    "as_tensor",
    "autograd",
    "empty",
    "empty_like",
    "empty_strided",
    "enable_grad",
    "equal",
    "from_dlpack",
    "from_numpy",
    "full",
    "full_like",
    "get_default_dtype",
    "get_num_threads",
    "inference_mode",
    "initial_seed",
    "is_floating_point",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_tensor",
    "isclose",
    "linspace",
    "manual_seed",
    "no_grad",
    "numel",
    "ones",
    "ones_like",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "set_default_dtype",
    "set_grad_enabled",
    "set_num_threads",
    "set_printoptions",
    "tensor",
    "wrap",
    "zeros",
    "zeros_like",
]
