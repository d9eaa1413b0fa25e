"""Graphs to fuse: written by hand, and at random; and what eager mode makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from labcore import dtypes, ops
from labcore.graph import Graph, Node, TensorMeta, map_nodes, verify
from labcore.ops.arrays import empty
from labcore.ops.dispatch import interpreting
from labcore.ops.tracer import Tracer
from labcore.trace import Origin

NAMES = ("x", "y", "z", "w", "b", "v")


def floats(*shape: int, dtype: dtypes.dtype = dtypes.float32) -> TensorMeta:
    return TensorMeta.contiguous(shape, dtype)


def graph_of(
    function: Callable[..., Any], *metas: TensorMeta, names: Sequence[str] = NAMES
) -> Graph:
    """What `function` calls on placeholders of these metas, call after call on lines 2, 3 ... of
    model.py.
    """
    graph = Graph()
    inputs = [
        graph.placeholder(name, meta, Origin("model.py", 1)) for name, meta in zip(names, metas)
    ]
    with interpreting(_Numbered(graph)):
        result = function(*inputs)
    graph.output(tuple(result) if isinstance(result, (tuple, list)) else (result,))
    return verify(graph, functional=True)


class _Numbered(Tracer):
    def call(self, op: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        self.origin = Origin("model.py", self.origin.line + 1 if self.origin else 2)
        return super().call(op, args, kwargs)


def chain(x: Node, bias: Node) -> Node:
    """The example of the course: three passes in eager mode."""
    return ops.mul(ops.relu(ops.add(x, bias)), 2.0)


def softmax(x: Node, dim: int = -1) -> Node:
    e = ops.exp(ops.sub(x, ops.amax(x, dim, True)))
    return ops.div(e, ops.sum(e, dim, True))


def layer_norm(x: Node, w: Node, b: Node) -> Node:
    d = ops.sub(x, ops.mean(x, -1, True))
    scale = ops.rsqrt(ops.add(ops.mean(ops.mul(d, d), -1, True), 1e-5))
    return ops.add(ops.mul(ops.mul(d, scale), w), b)


def layer_norm_backward(dy: Node, x: Node, w: Node, mu: Node, rs: Node) -> tuple[Node, Node, Node]:
    xh = ops.mul(ops.sub(x, mu), rs)
    dyw = ops.mul(dy, w)
    m1, m2 = ops.mean(dyw, -1, True), ops.mean(ops.mul(dyw, xh), -1, True)
    dx = ops.mul(ops.sub(ops.sub(dyw, m1), ops.mul(xh, m2)), rs)
    return dx, ops.sum(ops.mul(dy, xh), 0), ops.sum(dy, 0)


# ---- eager mode ----------------------------------------------------------------------------------


def arrays_for(graph: Graph, rng: np.random.Generator) -> list[np.ndarray]:
    """Random inputs with the layouts the placeholders name."""
    found = []
    for node in graph.placeholders:
        out = empty(node.meta)
        kind = node.meta.dtype.numpy.kind
        values = (
            rng.standard_normal(node.meta.shape)
            if kind == "f"
            else rng.integers(0, 2 if kind == "b" else 9, node.meta.shape)
        )
        out[...] = values
        found.append(out)
    return found


def eager(graph: Graph, inputs: Sequence[np.ndarray]) -> list[Any]:
    """The graph, operator by operator, with the eager kernels."""
    env: dict[Node, Any] = dict(zip(graph.placeholders, inputs))
    for node in graph.calls:
        args, kwargs = map_nodes((node.args, node.kwargs), env.__getitem__)
        env[node] = node.target.kernel(*args, **kwargs)
    return [map_nodes(v, env.__getitem__) for v in graph.outputs]


def assert_same(got: Sequence[Any], want: Sequence[Any], tolerance: float = 3e-5) -> None:
    """Equal values (floats nearly), dtypes, shapes and strides."""
    assert len(got) == len(want)
    for a, b in zip(got, want):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if a.size:
            assert [s for s, n in zip(a.strides, a.shape) if n > 1] == [
                s for s, n in zip(b.strides, b.shape) if n > 1
            ]
        near = tolerance
        if a.dtype.itemsize == 2:  # where float32 differs in its last place, a half may, too
            near = max(near, 2.0**-7 if b.dtype.name == "bfloat16" else 2.0**-10)
            a, b = a.astype(np.float32), b.astype(np.float32)
        if a.dtype.kind == "f":
            scale = max(1.0, np.abs(b[np.isfinite(b)]).max(initial=0))
            np.testing.assert_allclose(a, b, rtol=near, atol=near * scale)
        else:
            np.testing.assert_array_equal(a, b)


# ---- random graphs -------------------------------------------------------------------------------

UNARY = ["relu", "tanh", "sigmoid", "neg", "exp", "abs", "sin", "square", "sign"]
BINARY = ["add", "sub", "mul", "maximum", "minimum"]
COMPARE = ["gt", "le", "eq", "logical_or"]


class RandomGraph:
    """A graph of pointwise operators, broadcasts, views, casts, reductions and extern calls over a
    few inputs.
    """

    def __init__(self, rng: np.random.Generator, length: int = 8) -> None:
        self.rng, self.graph = rng, Graph()
        rows, columns = [(5, 7), (4, 4), (3, 1), (2, 9), (1, 6), (0, 3)][
            min(5, int(rng.integers(0, 24)) % 6)
        ]
        column_first = TensorMeta((rows, columns), (1, max(rows, 1)), dtypes.float32)
        metas = [
            floats(rows, columns),
            column_first,
            floats(columns),
            floats(rows, 1),
            floats(),
            floats(
                rows, columns, dtype=[dtypes.int64, dtypes.float64, dtypes.bool][rng.integers(3)]
            ),
        ]
        self.pool = [self.graph.placeholder(n, m) for n, m in zip(NAMES, metas)]
        with interpreting(Tracer(self.graph)):
            for _ in range(length):
                self.grow()
        made = [n for n in self.pool if n.op == "call_function" and not _is_view_of_input(n)]
        outputs = made[-2:] + ([made[rng.integers(len(made))]] if made else [])
        self.graph.output(tuple(outputs))
        verify(self.graph, functional=True)

    def pick(self, *kinds: str) -> Node:
        """Rather a recent value."""
        pool = [n for n in self.pool if not kinds or n.meta.dtype.numpy.kind in kinds]
        return pool[max(self.rng.integers(len(pool)), self.rng.integers(len(pool)))]

    def choose(self, names: Sequence[str]) -> Any:
        return getattr(ops, names[self.rng.integers(len(names))])

    def grow(self) -> None:
        steps = (
            [self.binary] * 5
            + [self.unary] * 3
            + [
                self.compare,
                self.cast,
                self.where,
                self.view,
                self.view,
                self.reduce,
                self.reduce,
                self.reduce,
                self.factory,
                self.extern,
                self.scan,
                self.find,
                self.read_at_places,
                self.write_at_places,
                self.join,
                self.write_part,
                self.surround,
            ]
        )
        made = steps[self.rng.integers(len(steps))]()
        if made is not None:
            self.pool.append(made)

    def partner(self, a: Node) -> Any:
        fits = [
            n
            for n in self.pool
            if n.meta.dtype.is_floating_point and _fit(a.meta.shape, n.meta.shape)
        ]
        if self.rng.integers(4) == 0 or not fits:
            return [0.5, 2, -1.25][self.rng.integers(3)]
        return fits[self.rng.integers(len(fits))]

    def binary(self) -> Node:
        a = self.pick("f")
        return ops.mul(self.choose(BINARY)(a, self.partner(a)), 0.5)

    def unary(self) -> Node:
        a = self.pick("f")
        name = UNARY[self.rng.integers(len(UNARY))]
        return getattr(ops, name)(ops.tanh(a) if name in ("exp", "square") else a)

    def compare(self) -> Node:
        a = self.pick("f")
        return self.choose(COMPARE)(a, self.partner(a))

    def cast(self) -> Node:
        types = [dtypes.float32, dtypes.float64, dtypes.bool, dtypes.int64, dtypes.int32]
        return ops.to(self.pick("f", "i", "b"), types[self.rng.integers(5)])

    def where(self) -> Node | None:
        a = self.pick("f")
        tests = [
            n for n in self.pool if n.meta.dtype is dtypes.bool and _fit(n.meta.shape, a.meta.shape)
        ]
        return ops.where(tests[self.rng.integers(len(tests))], a, 0.25) if tests else None

    def view(self) -> Node | None:
        a = self.pick()
        ndim, kind = a.meta.ndim, self.rng.integers(7)
        if ndim == 0:
            return ops.unsqueeze(a, 0)
        dim = int(self.rng.integers(ndim))
        if kind == 0:
            return ops.transpose(a, 0, ndim - 1)
        if kind == 1 and a.meta.shape[dim] > 1:
            return ops.slice(a, dim, 1, None, int(self.rng.integers(1, 3)))
        if kind == 2 and a.meta.shape[dim] > 0:
            return ops.select(a, dim, int(self.rng.integers(a.meta.shape[dim])))
        if kind == 3:
            return ops.reshape(a, (-1,)) if a.meta.numel else None
        if kind == 4 and ndim < 3:
            return ops.unsqueeze(a, dim)
        if kind == 5:
            return ops.squeeze(a, dim)
        return ops.clone(a, True) if kind == 6 else None

    def reduce(self) -> Node | None:
        a = self.pick("f")
        ndim = a.meta.ndim
        dim = None if ndim == 0 or self.rng.integers(4) == 0 else int(self.rng.integers(ndim))
        keep = bool(self.rng.integers(2))
        name = ["sum", "mean", "amax", "amin"][self.rng.integers(4)]
        if name in ("amax", "amin"):
            return (
                getattr(ops, name)(a, dim if dim is not None else (), keep)
                if 0 not in a.meta.shape
                else None
            )
        made = getattr(ops, name)(a, dim, keep)
        return ops.mul(made, 0.125) if name == "sum" else made

    def factory(self) -> Node:
        return [
            lambda: ops.full((3, 1), 1.5),
            lambda: ops.arange(4, dtype=dtypes.float32),
            lambda: ops.ones_like(self.pick("f")),
        ][self.rng.integers(3)]()

    def scan(self) -> Node | None:
        found = self.axis()
        if found is None:
            return None
        a, dim = found
        name = ["cumsum", "cumprod", "_cumsum_back"][self.rng.integers(3)]
        return getattr(ops, name)(ops.tanh(a), dim)

    def find(self) -> Node | None:
        found = self.axis()
        if found is None:
            return None
        a, dim = found
        if self.rng.integers(3) == 0:
            return ops.prod(ops.tanh(a), dim)
        over = None if self.rng.integers(3) == 0 else dim
        return getattr(ops, ["argmax", "argmin"][self.rng.integers(2)])(a, over)

    # ---- by index, and in parts ----

    def axis(self) -> tuple[Node, int] | None:
        """A value with elements, and one of its axes."""
        a = self.pick("f")
        if a.meta.ndim == 0 or 0 in a.meta.shape:
            return None
        return a, int(self.rng.integers(a.meta.ndim))

    def places(self, shape: Sequence[int], size: int) -> Node:
        """Indices below `size`, computed or read."""
        count = int(np.prod(shape))
        numbers = ops.mul(ops.arange(count), int(self.rng.integers(1, 4)))
        if self.rng.integers(2):
            numbers = ops.clone(ops.sub(count, numbers))
        return ops.reshape(ops.remainder(numbers, size), tuple(shape))

    def read_at_places(self) -> Node | None:
        found = self.axis()
        if found is None:
            return None
        a, dim = found
        size, count = a.meta.shape[dim], int(self.rng.integers(1, 5))
        if self.rng.integers(2):
            return ops.index_select(a, dim, self.places((count,), size))
        shape = (*a.meta.shape[:dim], count, *a.meta.shape[dim + 1 :])
        if self.rng.integers(2):
            return ops.gather(a, dim, self.places(shape, size))
        at = ops.sub(self.places((2, count), size), size)
        return ops._index(a, (*(None,) * dim, at)) if a.meta.ndim < 3 else None

    def write_at_places(self) -> Node | None:
        found = self.axis()
        if found is None:
            return None
        a, dim = found
        size = a.meta.shape[dim]
        rows = ops.index_select(a, dim, self.places((3,), size))
        if self.rng.integers(2):
            return ops.index_add(a, dim, self.places((3,), size), rows, alpha=2)
        name = ["scatter", "scatter_add"][self.rng.integers(2)]
        return getattr(ops, name)(a, dim, self.places(rows.meta.shape, size), ops.tanh(rows))

    def join(self) -> Node | None:
        found = self.axis()
        if found is None:
            return None
        a, dim = found
        other = self.choose(UNARY)(ops.tanh(a))
        return getattr(ops, ["cat", "stack"][self.rng.integers(2)])([a, other, a][:2], dim)

    def write_part(self) -> Node | None:
        found = self.axis()
        if found is None:
            return None
        a, dim = found
        size = a.meta.shape[dim]
        if self.rng.integers(2):
            at = int(self.rng.integers(size))
            return ops.select_scatter(a, ops.neg(ops.select(a, dim, at)), dim, at)
        part = ops.slice(a, dim, 1, size, 2)
        return ops.slice_scatter(a, ops.sin(part), dim, 1, size, 2)

    def surround(self) -> Node | None:
        found = self.axis()
        if found is None:
            return None
        a, dim = found
        if self.rng.integers(2):
            return ops.flip(a, (dim,))
        pads = [int(n) for n in self.rng.integers(-1, 3, 2)]
        return ops._pad(a, tuple(pads), 0.5) if a.meta.shape[-1] + sum(pads) > 0 else None

    def extern(self) -> Node | None:
        a = self.pick("f")
        if a.meta.ndim != 2:
            return None
        return ops.mul(ops.matmul(ops.to(a, dtypes.float32), ops.to(ops.t(a), dtypes.float32)), 0.1)


def _fit(a: Sequence[int], b: Sequence[int]) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1]))


def _is_view_of_input(node: Node) -> bool:
    """Such outputs are autodiff's to make."""
    while node.op == "call_function" and (node.target.alias or node.target.compose):
        node = node.args[0]
    return node.op == "placeholder"
