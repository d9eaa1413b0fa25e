"""Each kind of guard: what hits, what misses, and the words of the miss."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore.compiler.compile import state_of
from labcore.guards import Guard

from .watching import Watched


def double(x):
    return x * 2


def f32(*shape):
    return torch.ones(*shape)


def leaf(*shape):
    return torch.ones(*shape, requires_grad=True)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (f32(4), f32(8), "tensor 'x' size mismatch at index 0. expected 4, actual 8"),
        (f32(2, 3), f32(2, 5), "tensor 'x' size mismatch at index 1. expected 3, actual 5"),
        (f32(4), f32(4, 4), "tensor 'x' rank mismatch. expected 1, actual 2"),
        (f32(4), f32(4).double(), "tensor 'x' dtype mismatch. expected Float, actual Double"),
        (f32(4).long(), f32(4), "tensor 'x' dtype mismatch. expected Long, actual Float"),
        (f32(4), leaf(4), "tensor 'x' requires_grad mismatch. expected requires_grad=0"),
        (leaf(4), f32(4), "tensor 'x' requires_grad mismatch. expected requires_grad=1"),
        (f32(4), f32(8)[::2], "tensor 'x' stride mismatch at index 0. expected 1, actual 2"),
        (f32(3, 3), f32(3, 3).T, "tensor 'x' stride mismatch at index 0. expected 3, actual 1"),
        (f32(4), 3, "tensor 'x' type mismatch. expected Tensor, actual int"),
        (3, 4, "value 'x' changed. expected 3, actual 4"),
        (3, 3.0, "value 'x' changed. expected 3, actual 3.0"),
        (1, True, "value 'x' changed. expected 1, actual True"),
        (0.0, -0.0, "value 'x' changed. expected 0.0, actual -0.0"),
        ("a", "b", "value 'x' changed. expected 'a', actual 'b'"),
        ([1], [2, 3], "length of 'x' changed. expected 1, actual 2"),
    ],
)
def test_an_argument_changes(first, second, reason):
    watched = Watched(double)
    assert not watched(first)
    assert watched(first)
    assert not watched(second)
    assert watched.reasons == [reason]
    assert watched(first) and watched(second)


def test_nan_is_itself():
    watched = Watched(lambda x, k: (x + 1, k))
    assert not watched(f32(2), float("nan"))
    assert watched(f32(2), float("nan"))


def test_another_list_of_the_same_values_hits():
    watched = Watched(lambda x, parts: x * parts[0] + parts[1])
    assert not watched(f32(2), [2, 3])
    assert watched(f32(2), [2, 3])
    assert not watched(f32(2), [2, 4])
    assert watched.reasons == ["value 'parts[1]' changed. expected 3, actual 4"]
    assert not watched(f32(2), (2, 3))
    assert watched.reasons[0] == "type of 'parts' changed. expected list, actual tuple"


def test_only_what_was_looked_at_is_guarded():
    def f(x, unused, passed, parts, options):
        return x * parts[0] + options["k"], passed

    watched = Watched(f)
    assert not watched(f32(2), 1, 2, [3, 4], {"k": 1, "other": 2})
    assert watched(f32(2), "one", None, [3, 4], {"k": 1})
    assert not watched(f32(2), 1, 2, [3], {"k": 1})  # the length was looked at with the index
    assert not watched(f32(2), 1, 2, [3, 4], {"k": 2})
    assert "value \"options['k']\" changed. expected 1, actual 2" in watched.reasons


def test_flags_and_none():
    watched = Watched(lambda x, flag, bias: (x + 1 if flag else x) if bias is None else x + bias)
    assert not watched(f32(2), True, None)
    assert not watched(f32(2), False, None)
    assert watched.reasons == ["value 'flag' changed. expected True, actual False"]
    assert not watched(f32(2), True, f32(2))  # of each variant the guard that was asked first
    assert watched.reasons == [
        "value 'flag' changed. expected False, actual True",
        "'bias' is no longer None",
    ]
    assert watched(f32(2), 7, f32(2))  # with a bias nobody looks at the flag


def test_functions_are_known_by_their_code():
    def make(k):
        return lambda x: x * k

    watched = Watched(lambda x, f: f(x))
    assert not watched(f32(2), make(2))
    assert watched(f32(2), make(2))
    assert not watched(f32(2), make(3))
    assert watched.reasons == ["value 'k' changed. expected 2, actual 3"]
    assert not watched(f32(2), lambda x: x + 1)
    assert "function 'f' changed" in watched.reasons[0]
    assert not watched(f32(2), torch.relu)
    assert watched(f32(2), torch.relu)
    assert not watched(f32(2), torch.exp)
    assert watched.reasons[0] == "object 'f' changed. expected relu, actual another object (exp)"


def test_the_same_tensor_twice_is_another_variant():
    watched = Watched(lambda x, y: x + y)
    a, b = f32(3), f32(3)
    assert not watched(a, b)
    assert watched(b, a)
    assert not watched(a, a)
    assert watched.reasons == ["x, y: one tensor is passed more than once"]
    assert watched(b, b) and watched(a, b)
    assert watched.counter.frame_count == 2


def test_three_tensors_with_aliases():
    watched = Watched(lambda x, y, z: x + y * z)
    a, b, c = f32(3), f32(3), f32(3)
    assert not watched(a, b, c)
    assert not watched(a, b, b)
    assert not watched(a, a, b)
    assert not watched(a, a, a)
    assert watched(c, b, a) and watched(b, c, c) and watched(c, c, b) and watched(b, b, b)


def test_two_roads_to_one_object():
    class Holder:
        pass

    def f(x, holder):
        return x + holder.x, x is holder.x

    watched = Watched(f)
    holder, x = Holder(), f32(2)
    holder.x = x
    assert not watched(x, holder)
    assert watched(x, holder)
    holder.x = f32(2)
    assert not watched(x, holder)
    assert (
        watched.reasons[0].startswith("'holder.x' and 'x' are no longer the same object")
        or "the same object" in watched.reasons[0]
    )


def test_global_state():
    watched = Watched(double)
    x = leaf(2)
    assert not watched(x)
    with torch.no_grad():
        assert not watched(x)
    assert watched.reasons[0].startswith("global state changed. expected grad=True")
    with torch.inference_mode():
        assert not watched(x)
    assert watched(x)
    try:
        torch.set_default_dtype(torch.float64)
        assert not watched(x)
        assert "default dtype float64" in watched.reasons[0]
    finally:
        torch.set_default_dtype(torch.float32)
    assert watched(x)


def test_default_dtype_decides_results():
    watched = Watched(lambda x: x * 0.5)
    ints = torch.arange(3)
    assert not watched(ints)
    try:
        torch.set_default_dtype(torch.float64)
        assert not watched(ints)
    finally:
        torch.set_default_dtype(torch.float32)


def test_inference_tensors_do_not_meet_a_variant_that_records():
    watched = Watched(lambda x, w: x * w, may_break=True)
    w = leaf(2)
    assert not watched(f32(2), w)
    with torch.inference_mode():
        x = f32(2)
    assert not watched(x, w)
    assert watched.reasons == ["'x' was made under inference_mode"]
    assert Watched(double)(x) is False  # with nothing to record, it is a tensor like any other


def test_the_block_has_few_readable_guards():
    from labcore import relu

    def block(x, bias):
        return relu(x + bias) * 2

    compiled = torch.compile(block, backend="eager")
    compiled(f32(4), f32(4))
    guards = state_of(compiled).cache.variants[0].guards
    assert [g.type for g in guards] == [
        "GRAD_MODE",
        "TENSOR_MATCH",
        "SIZE_MATCH",
        "STRIDE_MATCH",
        "TENSOR_MATCH",
        "SIZE_MATCH",
        "STRIDE_MATCH",
        "ID_MATCH",
        "NO_TENSOR_ALIASING",
    ]
    assert [g.source for g in guards] == [
        "global state",
        "x",
        "x",
        "x",
        "bias",
        "bias",
        "bias",
        "relu",
        "x, bias",
    ]
    assert all(isinstance(g, Guard) for g in guards)
    assert [g.origin.code for g in guards[1:4]] == ["x + bias"] * 3
    assert str(guards[2]) == "SIZE_MATCH: x.shape == (4,)"


def test_a_list_of_which_all_is_read_is_unpacked_in_the_check():
    watched = Watched(lambda x, items: sum([x * item for item in items]))
    assert not watched(f32(2), [1, 2, 3]) and watched(f32(2), [1, 2, 3])
    source = state_of(watched.compiled).cache.variants[0].source
    assert "items_0, items_1, items_2, = items\n" in source
    assert not watched(f32(2), [1, 2, 4]) and not watched(f32(2), [1, 2])
    assert not watched(f32(2), (1, 2, 3)) and watched(f32(2), [1, 2, 3])
    watched = Watched(lambda x, table: x * table[0] + table[1] + len(table))
    assert not watched(f32(2), {0: 5, 1: 6}) and watched(f32(2), {0: 5, 1: 6})
    assert not watched(f32(2), {0: 5, 1: 7})
