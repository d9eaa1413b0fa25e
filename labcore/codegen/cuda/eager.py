"""Eager mode on a card: each operator is a kernel of its own, from the same lowering.

In: an operator and its operands, some of them arrays on the card.  Out: what computes it there.
Eager against fused is therefore one kernel an operator against one kernel. A view computes nothing;
a matrix product is a call of the card's library; what has neither loops nor a library (a sort, a
draw of random numbers) is done by numpy, from a copy on the host to a copy on the card. What is
written in place is written by the operator's own kernel, into the memory that is there.
Invariant: what comes out lies on the card, with the layout that the meta rule says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ... import devices, ops
from ...autodiff.passes import lower_operators
from ...fusion import lower, schedule
from ...fusion.program import Program
from ...graph import Graph, TensorMeta
from ...ops.arrays import meta_of
from ...ops.dispatch import interpreting
from ...ops.inplace import check_overlap
from ...ops.op import OPS, Op
from ...runtime import cards
from ...tensor.cuda import card, is_on_card, layout, made_here, to_card, to_host
from ...tensor.tensor import wrap
from .options import ON_CARD
from .program import compile_schedule

KEPT = 1024  # programs of one operator


def carry(op: Op, raw: Sequence[Any]) -> Callable[..., Any]:
    """What computes `op` on these operands. Raises RuntimeError when they lie apart."""
    if op.name == "_to_device":
        return op.kernel
    found = list(_arrays(raw))
    if not any(map(is_on_card, found)):
        return op.kernel if found else partial(_made, op)
    if op.name == "copy_":
        return _copy_into
    apart = any(not is_on_card(a) and a.ndim for a in found)
    if apart or op.mutates and not is_on_card(raw[0]):
        raise RuntimeError(devices.APART)
    return partial(_write if op.mutates else _view if op.alias else _compute, op)


def _made(op: Op, *given: Any) -> np.ndarray:
    """From nothing: on the card where that is asked for, or else beside what it is made for."""
    array = np.asarray(op.kernel(*given))
    return to_card(array) if given and given[-1] == str(devices.cuda) else made_here(array)


def _view(op: Op, *raw: Any) -> np.ndarray:
    """The same memory under another layout."""
    return op.kernel(*_mapped(raw, layout)).view(type(raw[0]))


# ---- a new tensor --------------------------------------------------------------------------------


def _compute(op: Op, *raw: Any) -> np.ndarray:
    call = _kept(op, raw, _program)
    if call is None:
        return _by_library(op, raw)
    found: np.ndarray = call([wrap(a) for a in _on_card(raw)])[0].array
    return found


def _on_card(raw: Sequence[Any]) -> list[np.ndarray]:
    """The operands; a number in a tensor of the host comes along."""
    return [a if is_on_card(a) else to_card(a) for a in _arrays(raw)]


def _by_library(op: Op, raw: Sequence[Any]) -> np.ndarray:
    if op.name == "matmul":
        product: np.ndarray | None = card().matmul(*raw)
        product = _of_dense_copies(raw) if product is None else product
        if product is not None:
            return product
    if (steps := cards.recorded()) is not None:
        steps.append(f"{op.name} runs on the host")
    return to_card(np.asarray(op.kernel(*_mapped(raw, to_host))))


def _of_dense_copies(raw: Sequence[Any]) -> np.ndarray | None:
    """A library wants rows, or columns, that are contiguous."""
    return card().matmul(*[carry(OPS["clone"], (a, True))(a, True) for a in raw])


def _program(op: Op, raw: Sequence[Any]) -> Callable[[list[Any]], tuple] | None:
    """The operator as a graph of one, compiled; None when no loops compute it."""
    graph = Graph()
    graph.output((_node(graph, op, raw),))
    program = lower(lower_operators(graph), options=ON_CARD)
    return None if program.externs else compile_schedule(
        schedule(program, options=ON_CARD), {}, "inference", told=False)


def _node(graph: Graph, op: Op, raw: Sequence[Any]) -> Any:
    """A call of the operator on placeholders."""
    count = iter(range(len(raw) + 64))
    given = _mapped(raw, lambda a: graph.placeholder(f"x{next(count)}", meta_of(layout(a))))
    with interpreting(ops.Tracer(graph)):
        return op(*given)


# ---- in place ------------------------------------------------------------------------------------


def _exact(input: TensorMeta, src: TensorMeta) -> TensorMeta:
    return TensorMeta(input.shape, input.stride, input.dtype)


# `copy`, but that what it makes lies exactly as `input` does, gaps included.
INTO = Op("copy", "pointwise", OPS["copy"].kernel, _exact)


def _copy_into(target: np.ndarray, source: np.ndarray) -> np.ndarray:
    """`copy_` also goes from one device to another."""
    if is_on_card(target):
        return _write(OPS["copy_"], target, source if is_on_card(source) else to_card(source))
    written: np.ndarray = OPS["copy_"].kernel(target, to_host(source))
    return written


def _write(op: Op, target: np.ndarray, *others: Any) -> np.ndarray:
    """The functional operator, its result written where the target is."""
    assert op.functional is not None, f"{op.name} has no functional form"
    op.meta(*_mapped((target, *others), lambda a: meta_of(layout(a))))
    check_overlap(layout(target), _mapped(others, layout))
    raw = (target, *others)
    shared = any(_shares(target, a) for a in _arrays(others))
    writer = None if shared else _kept(op.functional, raw, _writer)
    if writer is None:
        raw = (target, carry(op.functional, raw)(*raw))
        writer = _kept(OPS["copy"], raw, _writer)
        assert writer is not None, f"a copy into {target.shape}, {target.strides} is no one kernel"
    writer(target, _on_card(raw))
    return target


def _shares(target: np.ndarray, other: np.ndarray) -> bool:
    """Might a kernel write an element of the operand that another thread still reads?"""
    a, b = layout(target), layout(other)
    same = a.ctypes.data == b.ctypes.data and (a.shape, a.strides) == (b.shape, b.strides)
    return not same and np.may_share_memory(a, b)


def _writer(op: Op, raw: Sequence[Any]) -> Callable[..., None] | None:
    """A kernel that computes the operator into memory that is there; None where there are several,
    or none."""
    graph = Graph()
    node = _node(graph, op, raw)
    with interpreting(ops.Tracer(graph)):
        graph.output((INTO(graph.placeholders[0], node),))
    program = lower(lower_operators(graph), options=ON_CARD)
    if len(program.steps) != 1 or program.externs:
        return None
    plan = schedule(program, options=ON_CARD)
    call = compile_schedule(plan, {}, "inference", told=False, in_place=True)
    kernels = [kernel for launches in call.launches for kernel in launches.kernels]
    places = _places(program)
    if len(kernels) != 1 or not all(p.storage in places for p in kernels[0].parameters):
        return None
    launch = call.functions[kernels[0].name][tuple(map(int, kernels[0].grid)), kernels[0].block]
    order = [places[p.storage] for p in kernels[0].parameters]

    def write(target: np.ndarray, operands: Sequence[np.ndarray]) -> None:
        every = [*operands, target]
        launch(*[every[k] for k in order])

    return write


def _places(program: Program) -> dict[str, int]:
    """Which operand a kernel's parameter is; the output comes after all."""
    (out,) = program.outputs
    return {**{b.storage: k for k, b in enumerate(program.inputs)},
            out.storage: len(program.inputs)}


# ---- values with arrays in them ------------------------------------------------------------------


def _kept(op: Op, raw: Sequence[Any], make: Callable[..., Any]) -> Any:
    """What was made for this operator, on operands like these, on this card."""
    known, key = card().kept, (make, op, _key(raw))
    if key not in known:
        if len(known) >= KEPT:
            known.clear()
        known[key] = make(op, raw)
    return known[key]


def _arrays(value: Any) -> list[np.ndarray]:
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, (tuple, list)):
        return [a for item in value for a in _arrays(item)]
    return []


def _mapped(value: Any, change: Callable[[np.ndarray], Any]) -> Any:
    if isinstance(value, np.ndarray):
        return change(value)
    if isinstance(value, (tuple, list)):
        return type(value)([_mapped(item, change) for item in value])
    return value


def _key(value: Any) -> Any:
    """What a program was printed for: layouts of arrays, all else by value and type."""
    if isinstance(value, np.ndarray):
        return "array", value.shape, value.strides, value.dtype
    if isinstance(value, (tuple, list)):
        return type(value), tuple(map(_key, value))
    return type(value), repr(value)
