"""Torch's words for the functions of `workloads.py`, said in numpy, in JAX and in numexpr.

In: nothing, or JAX.  Out: an object with `relu`, `exp`, `nn.functional.gelu` and so on, of arrays.
Invariant: only the standard library and numpy are imported. A word that a library lacks is missing
here, too: what needs it is left out of the table.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

ROOT = np.float32(0.7978845608028654)  # of 2 / pi
BEND = np.float32(0.044715)
HALF, ONE = np.float32(0.5), np.float32(1)

# What numexpr is told: the inputs in order, and the expression.
NUMEXPR = {
    "relu(x + b) * 2": (("x", "b"), "where(x + b > zero, x + b, zero) * two"),
    "gelu tanh": (("x",), "half * x * (one + tanh(root * (x + bend * x * x * x)))"),
    "bias + gelu": (
        ("x", "b"),
        "half * (x + b) * (one + tanh(root * ((x + b) + bend * (x + b) * (x + b) * (x + b))))",
    ),
    "exp": (("x",), "exp(x)"),
    "sigmoid": (("x",), "one / (one + exp(-x))"),
}
NUMBERS = {
    "zero": np.float32(0), "two": np.float32(2), "half": HALF, "one": ONE, "root": ROOT,
    "bend": BEND,
}


def numpy_words() -> Any:
    """As somebody who knows numpy would write it: an operation a line, float32 throughout."""

    def gelu(x: Any, approximate: str = "none") -> Any:
        if approximate != "tanh":
            raise NotImplementedError("numpy has no erf")
        return HALF * x * (ONE + np.tanh(ROOT * (x + BEND * x * x * x)))

    def softmax(x: Any, dim: int) -> Any:
        powers = np.exp(x - x.max(dim, keepdims=True))
        return powers / powers.sum(dim, keepdims=True)

    def layer_norm(x: Any, shape: tuple[int, ...], weight: Any, bias: Any) -> Any:
        apart = x - x.mean(-1, keepdims=True)
        spread = (apart * apart).mean(-1, keepdims=True)
        return apart / np.sqrt(spread + np.float32(1e-5)) * weight + bias

    return SimpleNamespace(
        relu=lambda x: np.maximum(x, np.float32(0)),
        exp=np.exp,
        sigmoid=lambda x: ONE / (ONE + np.exp(-x)),
        softmax=softmax,
        var_mean=lambda x, dim: (x.var(dim, ddof=1), x.mean(dim)),
        nn=SimpleNamespace(functional=SimpleNamespace(gelu=gelu, layer_norm=layer_norm)),
    )


def jax_words(jax: Any) -> Any:
    """JAX's own functions where it has them."""
    jnp = jax.numpy

    def layer_norm(x: Any, shape: tuple[int, ...], weight: Any, bias: Any) -> Any:
        mean, spread = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(spread + 1e-5) * weight + bias

    functional = SimpleNamespace(
        gelu=lambda x, approximate="none": jax.nn.gelu(x, approximate=approximate == "tanh"),
        layer_norm=layer_norm,
    )
    return SimpleNamespace(
        relu=jax.nn.relu,
        exp=jnp.exp,
        sigmoid=jax.nn.sigmoid,
        softmax=lambda x, dim: jax.nn.softmax(x, axis=dim),
        var_mean=lambda x, dim: (x.var(dim, ddof=1), x.mean(dim)),
        nn=SimpleNamespace(functional=functional),
    )
