"""Graphs written as functions of operators, tensors to run them on, and the ways to run them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from labcore import dtypes, ops
from labcore.codegen import python_kernels
from labcore.codegen.program import Program, handing_over
from labcore.graph import Graph, GraphModule, TensorMeta
from labcore.ops import Tracer
from labcore.ops.dispatch import interpreting
from labcore.tensor import Tensor, empty_strided
from labcore.trace import Origin

NAMES = ("x", "bias", "y", "z")


def traced(
    function: Callable,
    *metas: TensorMeta,
    names: Sequence[str] = NAMES,
    origin: Origin | None = None,
) -> GraphModule:
    """The graph of a function of operators."""
    graph = Graph()
    inputs = [graph.placeholder(name, meta) for name, meta in zip(names, metas)]
    with interpreting(Tracer(graph, origin)):
        found = function(*inputs)
    graph.output(found if isinstance(found, tuple) else (found,))
    return GraphModule(graph)


def chain(x: Any, bias: Any) -> Any:
    return ops.mul(ops.relu(ops.add(x, bias)), 2.0)


def arch(x: Any, bias: Any) -> Any:
    """Its kernel calls a function of the C library."""
    return ops.sinh(ops.add(x, bias))


def meta(
    *shape: int, dtype: dtypes.dtype = dtypes.float32, stride: tuple[int, ...] | None = None
) -> TensorMeta:
    found = TensorMeta.contiguous(shape, dtype)
    return found if stride is None else TensorMeta(shape, stride, dtype)


def filled(meta: TensorMeta, seed: int = 0) -> Tensor:
    """A tensor of this layout with ordinary values in it."""
    rng = np.random.default_rng(seed)
    out = empty_strided(meta.shape, meta.stride, meta.dtype)
    if meta.dtype.is_floating_point:
        out.array[...] = rng.standard_normal(meta.shape)
    else:
        out.array[...] = rng.integers(0, 2 if meta.dtype is dtypes.bool else 50, meta.shape)
    return out


def arrays(outputs: Sequence[Any]) -> list[Any]:
    return [out.array if isinstance(out, Tensor) else out for out in outputs]


def eagerly(function: Callable, inputs: Sequence[Tensor]) -> list[Any]:
    found = function(*inputs)
    return arrays(found if isinstance(found, tuple) else (found,))


class PythonProgram(Program):
    """A program whose kernels are run as the plain Python they are written in."""

    def __init__(self, source: str) -> None:
        super().__init__({})
        self.functions = python_kernels(source)

    def kernel(self, function: Callable) -> Callable:
        plain = self.functions[function.__name__]

        def launch(*given: np.ndarray | int) -> None:
            with np.errstate(all="ignore"):
                plain(*[pointer(a) if isinstance(a, np.ndarray) else a for a in given])

        return launch


def pointer(array: np.ndarray) -> np.ndarray:
    """What a pointer to the first element gives: all from there on, in the order of addresses."""
    steps = zip(array.shape, array.strides)
    span = 1 + sum((n - 1) * s // array.itemsize for n, s in steps) if array.size else 0
    return np.lib.stride_tricks.as_strided(array, (span,), (array.itemsize,))


def as_python(source: str) -> Callable[[list[Tensor]], tuple]:
    """The `call` of an output code, with plain Python kernels."""
    scope = {"__name__": "output_code", "__file__": "<python>"}
    with handing_over("<python>", PythonProgram(source)):
        exec(compile(source, "<python>", "exec"), scope)
    return scope["call"]
