"""Random arrays for the property tests: any strides, all types, awkward values."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from labcore import dtypes

VALUES = {
    "f": [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.25, 7.0, float("inf"), float("-inf"), float("nan")],
    "i": [0, 1, -1, 2, 3, -7, 100],
    "b": [False, True],
}
TYPES = [t.numpy for t in dtypes.ALL]
NUMBERS = [2, -1, 0, True, 1.5, -0.0, 3]
shapes = st.lists(st.sampled_from([0, 1, 1, 2, 3]), max_size=3).map(tuple)


@st.composite
def arrays(draw, shape=None, types=None):
    """An array of this (or any) shape: permuted, with gaps, expanded, or contiguous."""
    shape = draw(shapes) if shape is None else shape
    type_ = draw(st.sampled_from(TYPES if types is None else types))
    order = draw(st.permutations(range(len(shape))))
    spread = [
        n * step
        for n, step in zip(
            shape,
            draw(st.lists(st.sampled_from([1, 1, 1, 2]), min_size=len(shape), max_size=len(shape))),
        )
    ]
    values = VALUES.get(type_.kind, VALUES["f"])  # bfloat16 is none of numpy's kinds
    flat = draw(st.lists(st.sampled_from(values), min_size=1, max_size=5))
    memory = np.resize(np.array(flat, type_), [spread[a] for a in order])
    array = memory.transpose(np.argsort(order)) if order else memory
    gaps = [slice(None, None, 2) if s > n else slice(None) for s, n in zip(spread, shape)]
    array = array[(*gaps, ...)]
    repeated = draw(st.integers(0, 7))
    if repeated == 0 and shape and shape[0] > 1:
        array = np.broadcast_to(array[:1], shape)
    assert array.shape == tuple(shape)
    return array


@st.composite
def partners(draw, count=2, types=None, numbers=True):
    """Arrays of broadcastable shapes; all but one may be a Python number instead."""
    shape = draw(shapes)
    found = []
    for position in range(count):
        if numbers and draw(st.integers(0, 4)) == 0 and (position > 0 or draw(st.booleans())):
            found.append(draw(st.sampled_from(NUMBERS)))
            continue
        own = tuple(draw(st.sampled_from([n, n, 1])) for n in shape)
        drop = draw(st.sampled_from([0, 0, 0, len(own), 1 if own else 0]))
        found.append(draw(arrays(shape=own[drop:], types=types)))
    if not any(isinstance(a, np.ndarray) for a in found):
        found[0] = draw(arrays(shape=shape, types=types))
    return found
