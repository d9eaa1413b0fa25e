"""Tensors, the eager mode and its tape."""
from .autograd import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    is_grad_enabled as is_grad_enabled,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from .eager import EagerInterpreter as EagerInterpreter
from .factories import (
    as_tensor as as_tensor,
    empty as empty,
    empty_like as empty_like,
    empty_strided as empty_strided,
    from_numpy as from_numpy,
    full as full,
    full_like as full_like,
    ones as ones,
    ones_like as ones_like,
    tensor as tensor,
    zeros as zeros,
    zeros_like as zeros_like,
)
from .size import Size as Size
from .tensor import Tensor as Tensor, wrap as wrap
