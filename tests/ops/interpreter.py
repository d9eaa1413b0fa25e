"""Operators on plain numpy arrays: what eager mode does, without tensors around it."""

from __future__ import annotations

from typing import Any

import numpy as np

from labcore.ops import Op, derivatives, dispatch
from labcore.ops.arrays import meta_of


class WithMeta(np.ndarray):
    """An array that knows its meta, as tensors and nodes do, for derivative rules to ask."""

    @property
    def meta(self) -> Any:
        return meta_of(self.view(np.ndarray))


class NumpyInterpreter:
    """Runs kernels on arrays that have a `.meta`, and takes composites apart."""

    def call(self, op: Op, args: tuple, kwargs: dict[str, Any]) -> Any:
        if op.compose is not None:
            return op.compose(*args, **kwargs)
        out = op.kernel(*bare(args), **{name: bare(value) for name, value in kwargs.items()})
        return out.view(WithMeta)


def bare(value: Any) -> Any:
    """Without the `.meta`, in lists and tuples too."""
    if isinstance(value, np.ndarray):
        return value.view(np.ndarray)
    return type(value)([bare(v) for v in value]) if isinstance(value, (list, tuple)) else value


def with_meta(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.view(WithMeta)
    if isinstance(value, dict):
        return {name: with_meta(v) for name, v in value.items()}
    return type(value)([with_meta(v) for v in value]) if isinstance(value, (list, tuple)) else value


def compute(op: Op, *args: Any, **kwargs: Any) -> np.ndarray:
    """The operator's result on arrays, as an array."""
    with dispatch.interpreting(NumpyInterpreter()):
        return bare(op(*with_meta(args), **with_meta(kwargs)))


def analytic(
    op: Op, args: tuple, kwargs: dict[str, Any], grad: np.ndarray, wanted: list[str]
) -> dict[str, Any]:
    """Gradients by the rules; of what `saves` does not name they get only the meta."""
    with dispatch.interpreting(NumpyInterpreter()):
        bound = op.bind(with_meta(args), with_meta(kwargs))
        out = op(**bound)
        kept = derivatives.saves(op, wanted)
        unsaved = {
            name: value if name in kept else only_meta(value) for name, value in bound.items()
        }
        found = derivatives.gradients(
            op, unsaved, out if "out" in kept else out.meta, with_meta(grad), wanted
        )
    return {name: bare(value) for name, value in found.items()}


def only_meta(value: Any) -> Any:
    if isinstance(value, list):
        return [only_meta(v) for v in value]
    return value.meta if isinstance(value, WithMeta) else value
