"""Graphs keep their invariants, print as Python, and run."""
from __future__ import annotations

import pytest

from labcore import dtypes
from labcore.graph import Graph, GraphError, GraphModule, Origin, TensorMeta, verify
from labcore.ops.op import Op

F4 = TensorMeta.contiguous((4,), dtypes.float32)


def double(x):
    return 2 * x


def plus(x, y):
    return x + y


def small_graph() -> Graph:
    """(double(x) + x,)"""
    graph = Graph()
    x = graph.placeholder("x", F4)
    twice = graph.call_function(double, (x,), meta=F4, origin=Origin("<gone>", 3))
    total = graph.call_function(plus, (twice, x), meta=F4)
    graph.output((total,))
    return graph


def test_it_prints_as_python() -> None:
    assert str(small_graph()) == (
        "def forward(self, x: 'float32[4]'):\n"
        "    # <gone>:3  \n".replace("  \n", "\n")
        + "    double = torch.double(x)  # float32[4]\n"
        "    plus = torch.plus(double, x)  # float32[4]\n"
        "    return (plus,)\n"
    )


def test_it_runs() -> None:
    assert GraphModule(small_graph())(5) == (15,)


def test_names_are_unique_and_python() -> None:
    graph = Graph()
    names = [graph.placeholder(hint).name for hint in ("x", "x", "class", "3d", "a.b")]
    assert names == ["x", "x_1", "_class", "_3d", "a_b"]


def test_users_follow_every_change() -> None:
    graph = small_graph()
    x, twice, total, _ = graph.nodes
    assert list(x.users) == [twice, total]
    twice.replace_all_uses_with(x)
    assert list(twice.users) == [] and total.args == (x, x)
    graph.erase_node(twice)
    assert list(x.users) == [total]
    verify(graph)


def test_a_node_that_is_read_cannot_be_erased() -> None:
    graph = small_graph()
    with pytest.raises(RuntimeError, match="cannot erase node double: it is read by plus"):
        graph.erase_node(graph.nodes[1])


def test_dead_code_goes_and_inputs_stay() -> None:
    graph = Graph()
    x, y = graph.placeholder("x", F4), graph.placeholder("y", F4)
    kept = graph.call_function(double, (x,), meta=F4)
    graph.call_function(double, (graph.call_function(double, (y,), meta=F4),), meta=F4)
    graph.output((kept,))
    assert graph.eliminate_dead_code() == 2
    assert [n.name for n in graph.nodes] == ["x", "y", "double", "output"]


def test_inserting_before_puts_nodes_there() -> None:
    graph = small_graph()
    with graph.inserting_before(graph.nodes[2]):
        graph.call_function(double, (graph.nodes[1],), meta=F4)
    assert [n.name for n in graph.nodes] == ["x", "double", "double_1", "plus", "output"]
    verify(graph)


def test_a_copy_shares_nothing() -> None:
    graph = small_graph()
    copied, env = graph.copy()
    env[graph.nodes[2]].set_args((env[graph.nodes[0]], env[graph.nodes[0]]))
    assert graph.nodes[2].args == (graph.nodes[1], graph.nodes[0])
    assert copied.nodes[1].users == {} and str(verify(graph)) == str(small_graph())


@pytest.mark.parametrize(
    ("spoil", "rule"),
    [
        (
            lambda g: g.nodes.insert(0, g.nodes.pop(2)),
            "reads double, which does not stand before it",
        ),
        (lambda g: g.nodes[1].users.clear(), "is no registered user of double"),
        (lambda g: setattr(g.nodes[1], "name", "x"), "its name is taken"),
        (lambda g: setattr(g.nodes[1], "meta", None), "has no meta"),
        (lambda g: setattr(g.nodes[1], "op", "call_method"), "unknown opcode"),
        (lambda g: g.nodes.pop(), "a graph ends with its one output node|does not read it"),
        (lambda g: g.placeholder("late"), "placeholder after the first call"),
    ],
)
def test_the_verifier_finds_it(spoil, rule) -> None:
    graph = small_graph()
    spoil(graph)
    with pytest.raises(GraphError, match=rule):
        verify(graph)


def test_the_verifier_refuses_mutation_after_functionalization() -> None:
    graph = Graph()
    x = graph.placeholder("x", F4)
    add_ = Op("add_", "inplace", plus, lambda input, other: input)
    graph.call_function(add_, (x, 1), meta=F4)
    graph.output((x,))
    verify(graph)
    with pytest.raises(GraphError, match="mutates its input"):
        verify(graph, functional=True)


def test_constants_are_attributes_of_the_module() -> None:
    graph = Graph()
    scale = graph.get_attr("scale")
    graph.output((graph.call_function(double, (scale,), meta=F4),))
    module = GraphModule(graph, {"scale": 21})
    assert module() == (42,) and module.scale == 21
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        module.other


def test_names_are_identifiers_and_hide_nothing() -> None:
    graph = Graph()
    names = ["self", "torch", "class", "2x", "x²", "ﬁ", "größe", "", "a b", "a b"]
    nodes = [graph.placeholder(name, F4) for name in names]
    assert [node.name for node in nodes] == [
        "self_1", "torch_1", "_class", "_2x", "x_", "_", "größe", "__1", "a_b", "a_b_1",
    ]  # fmt: skip
    graph.output((graph.call_function(plus, (nodes[0], nodes[1]), meta=F4),))
    assert GraphModule(graph).forward(*range(1, 11)) == (3,)
