"""Eager mode on a card: each operator is a kernel of its own, from the same lowering.

In: an operator and its operands, some of them arrays on the card.  Out: what computes it there.
Eager against fused is therefore one kernel an operator against one kernel. A view computes nothing;
an operator without loops (a matrix product, a sort) is a call of a library: cuBLAS on a card, numpy
on the simulated one.
Invariant: what comes out lies on the card, with the layout that the meta rule says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ... import ops
from ...autodiff.passes import lower_operators
from ...fusion import lower, schedule
from ...graph import Graph
from ...ops.arrays import meta_of
from ...ops.dispatch import interpreting
from ...ops.inplace import check_overlap
from ...ops.op import Op
from ...tensor.cuda import DeviceArray, is_on_card, made_here, to_card, to_host
from ...tensor.tensor import wrap
from .program import compile_schedule

KEPT = 512  # programs of one operator
_programs: dict[tuple, Callable[[list[Any]], tuple] | None] = {}


def carry(op: Op, raw: Sequence[Any]) -> Callable[..., Any]:
    """What computes `op` on these operands. Raises RuntimeError when they lie apart."""
    if op.name == "_to_device":
        return op.kernel
    found = list(_arrays(raw))
    if not any(map(is_on_card, found)):
        return op.kernel if found else lambda *given: made_here(op.kernel(*given))
    if op.mutates:
        return partial(_write, op)
    if any(not is_on_card(a) and a.ndim for a in found):
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            "cuda:0 and cpu!"
        )
    return partial(_view if op.alias else _compute, op)


def _view(op: Op, *raw: Any) -> np.ndarray:
    """The same memory under another layout."""
    return op.kernel(*_mapped(raw, to_host)).view(DeviceArray)


def _write(op: Op, target: np.ndarray, *others: Any) -> np.ndarray:
    """The functional operator's kernel, then a copy into the target."""
    assert op.functional is not None, f"{op.name} has no functional form"
    op.meta(*_mapped((target, *others), lambda a: meta_of(to_host(a))))
    check_overlap(to_host(target), _mapped(others, to_host))
    result = carry(op.functional, (target, *others))(target, *others)
    to_host(target)[...] = to_host(result)
    return target


def _compute(op: Op, *raw: Any) -> np.ndarray:
    on_card = [a if is_on_card(a) else to_card(a) for a in _arrays(raw)]
    key = (op, _key(raw))
    if key not in _programs:
        if len(_programs) >= KEPT:
            _programs.clear()
        _programs[key] = _program(op, raw)
    call = _programs[key]
    if call is None:
        return np.asarray(op.kernel(*_mapped(raw, to_host))).view(DeviceArray)
    return call([wrap(a) for a in on_card])[0].array


def _program(op: Op, raw: Sequence[Any]) -> Callable[[list[Any]], tuple] | None:
    """The operator as a graph of one, compiled; None when no loops compute it."""
    graph = Graph()
    count = iter(range(len(raw) + 64))
    given = _mapped(raw, lambda a: graph.placeholder(f"x{next(count)}", meta_of(to_host(a))))
    with interpreting(ops.Tracer(graph)):
        node = op(*given)
    graph.output((node,))
    program = lower(lower_operators(graph))
    if program.externs:
        return None
    return compile_schedule(schedule(program), {}, "inference", told=False)


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
