"""Every operator on its samples: kernel against meta rule, gradients against central differences
and, compiled by each backend, against eager mode.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import labcore as torch
from labcore import ops
from labcore.ops.arrays import meta_of

from .samples import CASES
from .test_derivatives import label

# A capture that fails where eager mode does not is a warning, and a wrong result here.
pytestmark = pytest.mark.filterwarnings("error:labcore:RuntimeWarning")
STEP = 1e-6
NOT_NUMERIC = {"copy", "_with_history"}  # `input` has no part in the numbers
OF_CAPTURE = {"_with_history", "_data"}  # what only capture writes
DRAWN = {name for name, op in ops.OPS.items() if op.kind == "random"}
IDS = [f"{number}-{label(case)}" for number, case in enumerate(CASES)]
every_sample = pytest.mark.parametrize("case", CASES, ids=IDS)


def test_every_operator_has_a_sample() -> None:
    """An in-place operator has those of its functional form."""
    wanted = {name for name, op in ops.OPS.items() if op.kind != "inplace"}
    assert wanted == {name for name, _, _ in CASES}


def tensors(value: Any, leaves: list[torch.Tensor]) -> Any:
    """Arrays as tensors of their own; those of floats require grad and are added to `leaves`."""
    if isinstance(value, np.ndarray):
        made = torch.from_numpy(value.copy(order="K"))
        if made.dtype.is_floating_point:
            leaves.append(made.requires_grad_())
        return made
    if isinstance(value, (list, tuple)):
        return type(value)([tensors(v, leaves) for v in value])
    return value


class Call:
    """One sample as a function of nothing, which can be run again after its leaves were changed."""

    def __init__(self, case: tuple) -> None:
        name, args, kwargs = case
        self.op, self.leaves = ops.OPS[name], []
        self.args = [tensors(a, self.leaves) for a in args]
        self.kwargs = {key: tensors(value, self.leaves) for key, value in kwargs.items()}
        if not self.op.derivatives and self.op.compose is None:
            self.leaves = [leaf.requires_grad_(False) for leaf in self.leaves][:0]

    def program(self) -> tuple[Any, list[torch.Tensor]]:
        """(a function of the tensors among the arguments, these tensors)."""
        slots = [k for k, a in enumerate(self.args) if isinstance(a, torch.Tensor)]
        named = [k for k, a in self.kwargs.items() if isinstance(a, torch.Tensor)]
        lists = [k for k, a in enumerate(self.args) if isinstance(a, list) and a
                 and isinstance(a[0], torch.Tensor)]
        op, given, kwargs = self.op, list(self.args), dict(self.kwargs)
        values = [self.args[k] for k in slots] + [self.kwargs[k] for k in named]
        values += [t for k in lists for t in self.args[k]]
        sizes = [(k, len(self.args[k])) for k in lists]

        def program(*tensors: torch.Tensor) -> Any:
            rest = list(tensors)
            args = list(given)
            for k in slots:
                args[k] = rest.pop(0)
            filled = dict(kwargs)
            for k in named:
                filled[k] = rest.pop(0)
            for k, n in sizes:
                args[k] = [rest.pop(0) for _ in range(n)]
            return op(*args, **filled)

        return program, values

    def __call__(self) -> torch.Tensor:
        return self.op(*self.args, **self.kwargs)

    def gradients(self, out: torch.Tensor) -> list[torch.Tensor | None]:
        return list(torch.autograd.grad(out, self.leaves, weights(out), allow_unused=True))


def weights(out: torch.Tensor) -> torch.Tensor:
    numbers = np.cos(np.arange(1.0, 1 + out.numel())).reshape(tuple(out.shape))
    return torch.from_numpy(numbers).to(out.dtype)


@every_sample
def test_kernel_meets_meta(case: tuple) -> None:
    name, args, kwargs = case
    op = ops.OPS[name]
    args = tuple([np.array(a, order="K") if isinstance(a, np.ndarray) else a for a in args])
    named = {key: meta_of(value) for key, value in kwargs.items()}
    expected, found = op.meta(*meta_of(args), **named), meta_of(op.kernel(*args, **kwargs))
    assert (found.shape, found.stride, found.dtype) == (
        expected.shape, expected.stride, expected.dtype
    )


@every_sample
def test_gradients_are_central_differences(case: tuple) -> None:
    call = Call(case)
    out = call()
    if not out.requires_grad or case[0] in DRAWN | NOT_NUMERIC:
        return
    scale = weights(out)
    for leaf, gradient in zip(call.leaves, call.gradients(out)):
        flat = leaf.detach().numpy()
        numeric = np.zeros(flat.shape)
        for place in np.ndindex(flat.shape):
            value = flat[place]
            sums = []
            for moved in (value + STEP, value - STEP):
                flat[place] = moved
                with torch.no_grad():
                    sums.append(float((call() * scale).sum()))
            flat[place] = value
            numeric[place] = (sums[0] - sums[1]) / (2 * STEP)
        found = np.zeros(flat.shape) if gradient is None else gradient.numpy()
        np.testing.assert_allclose(found, numeric, rtol=1e-6, atol=2e-7)


@every_sample
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_is_eager(case: tuple, backend: str) -> None:
    """Values, layout and gradients, in one graph."""
    if case[0] in DRAWN | OF_CAPTURE:
        return
    call = Call(case)
    eager = call()
    program, values = call.program()
    out = torch.compile(program, backend=backend, fullgraph=True)(*values)
    assert (out.shape, out.stride(), out.dtype) == (eager.shape, eager.stride(), eager.dtype)
    assert out.requires_grad == eager.requires_grad
    same(out, eager)
    if eager.requires_grad:
        for found, wanted in zip(call.gradients(out), call.gradients(eager)):
            assert (found is None) == (wanted is None)
            if found is not None:
                same(found, wanted)


def same(found: torch.Tensor, wanted: torch.Tensor) -> None:
    np.testing.assert_allclose(
        found.detach().numpy(), wanted.detach().numpy(), rtol=1e-9, atol=1e-9
    )
