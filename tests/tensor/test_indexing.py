"""Reading is a view, writing goes through it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import labcore as torch

CUBE = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
ITEMS = st.one_of(
    st.integers(-2, 1),
    st.builds(
        slice,
        st.none() | st.integers(-5, 5),
        st.none() | st.integers(-5, 5),
        st.none() | st.integers(1, 3),
    ),
    st.none(),
)


@given(st.lists(ITEMS, max_size=3), st.integers(-1, 3))
def test_reading_and_writing_agree_with_numpy(items, ellipsis_at):
    index = tuple(items)
    if ellipsis_at >= 0:
        index = (*items[:ellipsis_at], Ellipsis, *items[ellipsis_at:])
    array, x = CUBE.copy(), torch.tensor(CUBE)
    view = x[index]
    assert view.shape == array[index].shape and view.tolist() == array[index].tolist()
    assert view is not x and view.untyped_storage() is x.untyped_storage()
    array[index] = 7
    x[index] = 7
    assert x.tolist() == array.tolist()


def test_assigning():
    x = torch.zeros(2, 3)
    x[0] = torch.tensor([1, 2, 3])
    x[1, ::2] = torch.ones(1, 1, 2) * 5
    x[...] = x + 1
    x[1, 1] = True
    assert x.tolist() == [[2, 3, 4], [6, 1, 6]] and x._version == 4
    x[:, 0] = np.array([8, 9])
    assert x[:, 0].tolist() == [8, 9]


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        (5, IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        ((0, -4), IndexError, "index -4 is out of bounds for dimension 1 with size 3"),
        ((0, 0, 0, 0), IndexError, "too many indices for tensor of dimension 3"),
        (slice(None, None, -1), ValueError, "step must be greater than zero"),
        (
            1.5,
            IndexError,
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables",
        ),
        (torch.tensor([0, 2]), IndexError, "index 2 is out of bounds for dimension 0 with size 2"),
        (torch.ones(2), IndexError, "tensors used as indices must be long, int, byte or bool"),
        (torch.ones(2, 2) > 0, IndexError, "The shape of the mask [2, 2] at index 1 does not"),
        ([0, 1], IndexError, "indexing by a list is not supported"),
        (True, IndexError, "indexing by a bool is not supported"),
    ],
)
def test_what_cannot_index(index, error, text):
    with pytest.raises(error) as caught:
        torch.tensor(CUBE)[index]
    assert text in str(caught.value)


def test_what_cannot_be_assigned():
    x = torch.zeros(2, 3)
    with pytest.raises(
        RuntimeError, match=r"must match the existing size \(2\) at non-singleton dimension 0"
    ):
        x[0] = torch.ones(2)
    with pytest.raises(TypeError, match=r"can't assign a list to a torch.FloatTensor"):
        x[0] = [1, 2, 3]
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        torch.tensor(3)[0]


def test_a_tensor_that_is_a_number_indexes():
    x = torch.arange(3)
    assert (
        x[torch.tensor(1)].item() == 1
        and x[np.int64(2)].item() == 2
        and x[torch.tensor(1) :].tolist() == [1, 2]
    )


@pytest.mark.parametrize("chosen", [True, False])
def test_one_bool_chooses_all_or_nothing_along_a_new_axis(chosen):
    x, mask, n = torch.ones(2, 3), torch.tensor(chosen), int(chosen)
    shapes = [tuple(part.shape) for part in (x[mask], x[0, mask], x[:, mask], x[mask, 0])]
    assert shapes == [(n, 2, 3), (n, 3), (2, n, 3), (n, 3)]
    x[mask, 0] = 3
    assert x.tolist() == [[3.0 if chosen else 1.0] * 3, [1.0] * 3]
