"""A wrong call is the same error compiled and eager, and names the operator and the argument."""

from __future__ import annotations

import traceback

import pytest

import labcore as torch

CASES = {
    "relu of a number": (
        lambda x: torch.relu(5),
        "relu(): argument 'input' (position 1) must be Tensor, not int",
    ),
    "by name": (
        lambda x: torch.relu(input=5),
        "relu(): argument 'input' (position 1) must be Tensor, not int",
    ),
    "a composite": (
        lambda x: torch.reshape(5, (1,)),
        "reshape(): argument 'input' (position 1) must be Tensor, not int",
    ),
    "no tensor at all": (
        lambda x: torch.add(2, 3),
        "add(): argument 'input' (position 1) must be Tensor, not int",
    ),
    "a string": (
        lambda x: x.add("a"),
        "add(): argument 'other' (position 2) must be Tensor or Number, not str",
    ),
    "matmul by a number": (
        lambda x: x @ 2,
        "matmul(): argument 'other' (position 2) must be Tensor, not int",
    ),
    "a list that holds a number": (
        lambda x: torch.cat([x, 2]),
        "cat(): argument 'tensors' (position 1) must be tuple of Tensors, not list with int",
    ),
    "a dim that is none": (
        lambda x: x.sum("a"),
        "sum(): argument 'dim' (position 2) must be int or tuple of ints, not str",
    ),
    "a shape that is none": (
        lambda x: x.reshape("a"),
        "reshape(): argument 'shape' (position 2) must be tuple of ints, not tuple with str",
    ),
    "a shape of a fraction": (
        lambda x: x.reshape(2.5),
        "reshape(): argument 'shape' (position 2) must be tuple of ints, not tuple with float",
    ),
    "a factor that is none": (
        lambda x: x.add(1, alpha="a"),
        "add(): argument 'alpha' (position 3) must be Number, not str",
    ),
    "an unknown name": (
        lambda x: x.mul(2, scale=3),
        "mul(): got an unexpected keyword argument 'scale'",
    ),
    "a method with too many": (lambda x: x.t(1, 2), "t(): too many positional arguments"),
    "too few": (lambda x: torch.relu(), "relu(): missing a required argument: 'input'"),
    "too many": (lambda x: torch.relu(x, x), "relu(): too many positional arguments"),
}


@pytest.mark.parametrize("case", CASES, ids=lambda name: name.replace(" ", "-"))
@pytest.mark.parametrize("compiled", [False, True])
def test_the_argument_is_named(case, compiled):
    fn, text = CASES[case]
    with pytest.raises(TypeError) as raised:
        (torch.compile(fn, backend="eager") if compiled else fn)(torch.ones(3))
    assert str(raised.value) == text
    assert raised.value.__context__ is None or raised.value.__suppress_context__


@pytest.mark.parametrize("case", CASES, ids=lambda name: name.replace(" ", "-"))
def test_a_handler_sees_the_same_error(case):
    fn, text = CASES[case]

    def tries(x):
        try:
            fn(x)
        except TypeError as error:
            return x + 1, str(error)

    compiled = torch.compile(tries, backend="eager", fullgraph=True)
    assert compiled(torch.ones(3))[1] == text


def test_numbers_where_tensors_are_wanted_leave_nothing_in_the_cache():
    def block(x, bias):
        return torch.relu(x + bias) * 2

    compiled, visits = torch.compile(block, backend=counting(visits := [])), visits
    for wrong in ((5, 6), (torch.ones(3), torch.ones(4)), (torch.ones(3), "a")):
        with pytest.raises((TypeError, RuntimeError)) as eager:
            block(*wrong)
        with pytest.raises(type(eager.value)) as raised:
            compiled(*wrong)
        assert str(raised.value) == str(eager.value)
    assert visits == []
    assert compiled(torch.ones(2), torch.ones(2)).tolist() == [4.0, 4.0]
    assert len(visits) == 1


def counting(visits):
    def backend(gm, example_inputs):
        visits.append(gm)
        return gm.forward

    return backend


def test_a_refusal_shows_the_users_line_and_few_of_ours():
    def block(x, bias):
        return torch.relu(x + bias) * 2

    with pytest.raises(RuntimeError, match=r"tensor a \(3\) must match") as raised:
        torch.compile(block)(torch.ones(3), torch.ones(4))
    frames = traceback.extract_tb(raised.value.__traceback__)
    users = [k for k, frame in enumerate(frames) if frame.line == "return torch.relu(x + bias) * 2"]
    assert len(users) == 1 and len(frames) - users[0] <= 6
    assert raised.value.__notes__ == ["in add(float32[3], float32[4])"]


def test_numpy_operands_and_left_numbers_still_work():
    x = torch.ones(3)
    assert (2 - x).tolist() == [1.0] * 3 and torch.sub(2, x).tolist() == [1.0] * 3
    assert torch.compile(lambda x: 2 / x, backend="eager")(x).tolist() == [2.0] * 3
