from labcore import ops
from labcore.autodiff.passes import (
    decompose,
    merge_common_subexpressions,
    remove_dead_code,
    remove_identity_views,
)
from labcore.graph import TensorMeta, verify

from .graphs import F32, floats, graph_of, lines


def test_dead_code_goes_and_inputs_stay():
    graph = graph_of(lambda x, y: (ops.exp(y), ops.sin(x))[1], floats(2), floats(2))
    before = lines(graph)
    after = verify(remove_dead_code(graph))
    assert lines(after) == ["sin = torch.sin(x)", "return (sin,)"]
    assert [n.name for n in after.placeholders] == ["x", "y"]
    assert lines(graph) == before, "a pass leaves its argument alone"


def test_common_subexpressions_are_computed_once():
    graph = graph_of(lambda x: ops.mul(ops.sin(ops.add(x, 1)), ops.sin(ops.add(x, 1))), floats(2))
    assert lines(verify(merge_common_subexpressions(graph))) == [
        "add = torch.add(x, 1)",
        "sin = torch.sin(add)",
        "mul = torch.mul(sin, sin)",
        "return (mul,)",
    ]


def test_what_differs_in_a_constant_is_not_common():
    function = lambda x: ops.mul(ops.add(x, 1), ops.mul(ops.add(x, 1.0), ops.add(x, True)))
    graph = graph_of(function, floats(2))
    assert len(merge_common_subexpressions(graph).calls) == 5
    graph = graph_of(lambda x: ops.mul(ops.mul(x, 0.0), ops.mul(x, -0.0)), floats(2))
    assert len(merge_common_subexpressions(graph).calls) == 3


def test_two_outputs_stay_two_tensors():
    graph = graph_of(lambda x: (ops.exp(x), ops.exp(x)), floats(2))
    first, second = merge_common_subexpressions(graph).outputs
    assert first is not second


def test_random_numbers_are_drawn_each_time():
    graph = graph_of(lambda x: ops.sub(ops.rand_like(x), ops.rand_like(x)), floats(2))
    assert len(merge_common_subexpressions(graph).calls) == 3


def test_composites_become_views_or_copies_by_stride():
    straight = graph_of(lambda x: ops.reshape(x, (6,)), floats(2, 3))
    assert [n.target_name for n in verify(decompose(straight)).calls] == ["view"]
    crooked = graph_of(lambda x: ops.reshape(x, (6,)), TensorMeta((2, 3), (1, 2), F32))
    assert [n.target_name for n in verify(decompose(crooked)).calls] == ["_reshape_copy"]
    same = graph_of(lambda x: ops.exp(ops.contiguous(x)), floats(2, 3))
    assert lines(verify(decompose(same))) == ["exp = torch.exp(x)", "return (exp,)"]


def test_views_that_change_nothing_go():
    graph = graph_of(lambda x: ops.exp(ops.transpose(ops.transpose(x, 0, 1), 0, 1)), floats(2, 2))
    assert lines(verify(remove_identity_views(graph))) == ["exp = torch.exp(x)", "return (exp,)"]


def test_a_view_of_other_elements_stays():
    halves = lambda x: ops.exp(ops.select(ops.view(x, (2, 2)), 0, 1))
    graph = graph_of(halves, floats(4))
    assert len(remove_identity_views(graph).calls) == 3
    turned = graph_of(lambda x: ops.exp(ops.transpose(x, 0, 1)), floats(2, 2))
    assert len(remove_identity_views(turned).calls) == 2
