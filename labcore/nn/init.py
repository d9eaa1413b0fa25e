"""Filling parameters: with a number, or with chance.

In: a tensor.  Out: the same tensor, filled, nothing recorded.
Invariant: chance is the generator of `manual_seed`.
Sources: Glorot and Bengio 2010 (xavier), He et al. 2015 (kaiming).
"""

from __future__ import annotations

import math
from typing import Any

from ..tensor import Tensor, no_grad, rand, randn

GAINS = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 0.75}


def constant_(tensor: Tensor, val: float) -> Tensor:
    """All elements `val`."""
    with no_grad():
        return tensor.fill_(val)


def zeros_(tensor: Tensor) -> Tensor:
    return constant_(tensor, 0.0)


def ones_(tensor: Tensor) -> Tensor:
    return constant_(tensor, 1.0)


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Uniform on [a, b)."""
    with no_grad():
        drawn: Any = rand(tuple(tensor.shape), dtype=tensor.dtype)
        return tensor.copy_(drawn * (b - a) + a)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    with no_grad():
        drawn: Any = randn(tuple(tensor.shape), dtype=tensor.dtype)
        return tensor.copy_(drawn * std + mean)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """What keeps the variance through this nonlinearity. Raises ValueError for an unknown one."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return GAINS[nonlinearity]


def fans(tensor: Tensor) -> tuple[int, int]:
    """(inputs, outputs) of one unit of a weight laid out (outputs, inputs, *window).

    Raises ValueError for fewer than two dimensions.
    """
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    window = math.prod(tensor.shape[2:])
    return tensor.shape[1] * window, tensor.shape[0] * window


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Uniform with variance gain² · 2 / (inputs + outputs)."""
    bound = gain * math.sqrt(6 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Normal with variance gain² · 2 / (inputs + outputs)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2 / sum(fans(tensor))))


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Uniform with variance gain² / fan."""
    bound = math.sqrt(3) * _kaiming(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Normal with variance gain² / fan."""
    return normal_(tensor, 0.0, _kaiming(tensor, a, mode, nonlinearity))


def _kaiming(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return calculate_gain(nonlinearity, a) / math.sqrt(fans(tensor)[mode == "fan_out"])
