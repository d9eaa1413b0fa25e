from labcore import ops
from labcore.autodiff.aliases import split_aliases

from .graphs import floats, graph_of, lines


def test_computed_outputs_need_no_epilogue():
    split = split_aliases(graph_of(lambda x: (ops.exp(x), ops.sin(x)), floats(2)))
    assert split.epilogue is None and len(split.core.outputs) == 2


def test_an_input_is_handed_through():
    split = split_aliases(graph_of(lambda x, y: (y, ops.exp(y)), floats(2), floats(2)))
    assert lines(split.core) == ["exp = torch.exp(y)", "return (exp,)"]
    assert [n.name for n in split.epilogue.placeholders] == ["y", "exp"]
    assert split.arguments == (1,)
    assert lines(split.epilogue) == ["return (y, exp)"]


def test_views_of_inputs_are_made_outside():
    def function(x):
        return ops.select(ops.transpose(x, 0, 1), 0, 1), ops.exp(x)

    split = split_aliases(graph_of(function, floats(2, 3)))
    assert lines(split.core) == ["exp = torch.exp(x)", "return (exp,)"]
    assert lines(split.epilogue) == [
        "transpose = torch.transpose(x, 0, 1)",
        "select = torch.select(transpose, 0, 1)",
        "return (select, exp)",
    ]


def test_views_of_one_result_share_it():
    def function(x):
        z = ops.exp(x)
        return ops.select(z, 0, 0), ops.select(z, 0, 1)

    split = split_aliases(graph_of(function, floats(2, 3)))
    assert lines(split.core) == ["exp = torch.exp(x)", "return (exp,)"]
    assert lines(split.epilogue) == [
        "select = torch.select(exp, 0, 0)",
        "select_1 = torch.select(exp, 0, 1)",
        "return (select, select_1)",
    ]


def test_duplicates_are_computed_once_and_a_view_is_made_once():
    def function(x):
        z = ops.exp(x)
        v = ops.view(z, (4,))
        return z, z, v, v

    split = split_aliases(graph_of(function, floats(2, 2)))
    assert len(split.core.outputs) == 1
    assert lines(split.epilogue) == [
        "view = torch.view(exp, (4,))", "return (exp, exp, view, view)"
    ]


def test_a_view_that_the_core_reads_too_stays_in_the_core():
    split = split_aliases(graph_of(lambda x: ((v := ops.view(x, (4,))), ops.exp(v)), floats(2, 2)))
    assert lines(split.core) == [
        "view = torch.view(x, (4,))", "exp = torch.exp(view)", "return (exp,)"
    ]
    assert lines(split.epilogue) == ["view = torch.view(x, (4,))", "return (view, exp)"]


def test_constants_pass_by():
    split = split_aliases(graph_of(lambda x: (None, 3, ops.exp(x)), floats(2)))
    assert lines(split.epilogue) == ["return (None, 3, exp)"]
