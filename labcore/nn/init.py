"""How weights begin: `uniform_`, `normal_`, `kaiming_uniform_` ...

In: a tensor.  Out: that tensor, overwritten, whether it requires grad or not.
Invariant: random numbers come from the one generator of `manual_seed`.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from ..tensor import Tensor, no_grad, rand, randn


def _written(tensor: Tensor, values: Tensor) -> Tensor:
    with no_grad():
        return tensor.copy_(values)


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    drawn: Any = rand(tensor.shape, dtype=tensor.dtype)
    return _written(tensor, drawn * (b - a) + a)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    drawn: Any = randn(tensor.shape, dtype=tensor.dtype)
    return _written(tensor, drawn * std + mean)


def constant_(tensor: Tensor, val: float) -> Tensor:
    with no_grad():
        return tensor.fill_(val)


def zeros_(tensor: Tensor) -> Tensor:
    return constant_(tensor, 0)


def ones_(tensor: Tensor) -> Tensor:
    return constant_(tensor, 1)


def fans(tensor: Tensor) -> tuple[int, int]:
    """How many values go into an element of the result, and how many an input goes into."""
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    size = tensor.numel() // (tensor.shape[0] * tensor.shape[1])
    return tensor.shape[1] * size, tensor.shape[0] * size


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    bound = gain * sqrt(6.0 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    return normal_(tensor, 0.0, gain * sqrt(2.0 / sum(fans(tensor))))


def _deviation(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    fan = fans(tensor)[0 if mode == "fan_in" else 1]
    gain = sqrt(2.0 / (1 + a * a)) if nonlinearity == "leaky_relu" else sqrt(2.0)
    return (1.0 if nonlinearity == "linear" else gain) / sqrt(fan)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    bound = sqrt(3.0) * _deviation(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    return normal_(tensor, 0.0, _deviation(tensor, a, mode, nonlinearity))
