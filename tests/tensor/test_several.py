"""Functions with several results: what they give, and compiled the same."""

from __future__ import annotations

import numpy as np
import pytest

import labcore as torch

CUBE = np.sin(np.arange(24.0) * 1.7).reshape(2, 3, 4)

PROGRAMS = [
    lambda x: x.max(1),
    lambda x: x.min(0, True).values * 2,
    lambda x: torch.max(x, x.flip(0)),
    lambda x: x.sort(dim=1, descending=True),
    lambda x: torch.topk(x, 2).values.sum(),
    lambda x: x.median(2),
    lambda x: torch.aminmax(x, dim=1).max,
    lambda x: torch.var_mean(x, (0, 2)),
    lambda x: torch.cat(x.split([1, 2], 1)[::-1], 1),
    lambda x: x.chunk(2, 2)[1] * 3,
    lambda x: sum(x.unbind(1)),
    lambda x: torch.meshgrid(x[0, 0], x[0, :, 0], indexing="xy")[0] * 1,
    lambda x: torch.einsum("ijk,ilk->ijl", x, x),
    lambda x: torch.einsum("ij,jk->", x[0], x[1].t()),
    lambda x: x[:, torch.arange(2)] * 2,
    lambda x: x[torch.arange(2), torch.arange(2) + 1],
    lambda x: torch.vstack(torch.broadcast_tensors(x[0], x[1, :1])),
]


def listed(result):
    return list(result) if isinstance(result, tuple) else [result]


def gradients(results, x):
    floats = [r for r in results if r.requires_grad]
    return torch.autograd.grad(floats, [x], [torch.ones_like(r) for r in floats])[0]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_compiled_is_eager(number, backend):
    program = PROGRAMS[number]
    x = torch.tensor(CUBE).requires_grad_()
    wanted = program(x)
    found = torch.compile(program, backend=backend, fullgraph=True)(x)
    assert type(found) is type(wanted)
    for a, b in zip(listed(found), listed(wanted), strict=True):
        torch.testing.assert_close(a, b)
    torch.testing.assert_close(gradients(listed(found), x), gradients(listed(wanted), x))


def test_named_results():
    values, indices = found = torch.tensor([[1.0, 5.0], [7.0, 2.0]]).max(1)
    assert found.values is values and found.indices is indices
    assert values.tolist() == [5, 7] and indices.tolist() == [1, 0]
    assert repr(found).startswith("torch.return_types.max(\nvalues=tensor([5., 7.])")


def test_parts_are_views():
    x = torch.zeros(5, 2)
    first, second = x.split(3)
    first.add_(1)
    second[:, 0] = 2
    assert x.tolist() == [[1, 1]] * 3 + [[2, 0]] * 2


def test_what_tensors_index():
    array, x = CUBE.copy(), torch.tensor(CUBE)
    rows, mask = np.array([2, 0, -1]), CUBE > 0.2
    assert x[:, torch.tensor(rows)].tolist() == array[:, rows].tolist()
    assert x[1, torch.tensor(rows), 1:3].tolist() == array[1, rows, 1:3].tolist()
    places = rows % 2
    found = x[torch.tensor(places), :, torch.tensor(rows)]
    assert found.tolist() == array[places, :, rows].tolist()
    assert x[torch.tensor(mask)].tolist() == array[mask].tolist()
    assert x[:, torch.tensor(mask[0])].tolist() == array[:, mask[0]].tolist()
    x[torch.tensor(mask)] = 7
    array[mask] = 7
    x[:, torch.tensor(rows[:2])] = torch.ones(2, 4, dtype=torch.float64)
    array[:, rows[:2]] = 1
    assert x.tolist() == array.tolist()


@pytest.mark.parametrize("index", [
    torch.tensor([3]), torch.tensor([-4]), torch.tensor([True, False, True]),
    (torch.tensor([0, 1]), torch.tensor([0, 1, 2])), torch.tensor([0.5]),
])
def test_what_cannot_index(index):
    with pytest.raises(IndexError):
        torch.tensor(CUBE)[index]


def test_a_write_by_index_in_a_graph():
    def program(x, rows):
        y = x * 2
        y[:, rows] = 1.0
        y[y > 1.5] = 0
        return y

    x, rows = torch.tensor(CUBE), torch.tensor([0, 2])
    found = torch.compile(program, fullgraph=True)(x, rows)
    torch.testing.assert_close(found, program(x, rows))
