from labcore import dtypes, ops
from labcore.autodiff.joint import trace_joint
from labcore.autodiff.passes import remove_dead_code
from labcore.graph import TensorMeta

from .graphs import floats, graph_of, lines


def test_joint_of_the_running_example():
    function = lambda x, bias: ops.mul(ops.relu(ops.add(x, bias)), 2)
    graph = graph_of(function, floats(4), floats(4))
    joint = trace_joint(graph, [True, True]).after(remove_dead_code)
    assert [n.name for n in joint.primals] == ["primals_1", "primals_2"]
    assert [n.name for n in joint.tangents] == ["tangents_1"]
    assert lines(joint.graph) == [
        "add = torch.add(primals_1, primals_2)",
        "relu = torch.relu(add)",
        "mul = torch.mul(relu, 2)",
        "mul_1 = torch.mul(tangents_1, 2)",
        "le = torch.le(relu, 0)",
        "where = torch.where(le, 0.0, mul_1)",
        "return (mul, where, where)",
    ]


def test_backward_nodes_have_the_line_they_differentiate():
    graph = graph_of(lambda x: ops.sin(ops.exp(x)), floats(3))
    joint = trace_joint(graph, [True]).graph
    by_line = {n.name: n.origin.line for n in joint.calls}
    assert by_line["exp"] == 2 and by_line["sin"] == 3
    assert by_line["cos"] == 3  # sin' is on sin's line
    assert by_line["mul_1"] == 2  # exp' on exp's


def test_broadcast_bias_is_summed():
    graph = graph_of(lambda x, b: ops.add(x, b), floats(2, 4), floats(4), names=("x", "bias"))
    joint = trace_joint(graph, [True, True]).graph
    grad_x, grad_bias = joint.outputs[1:]
    assert grad_x.name == "tangents_1"
    assert grad_bias.meta.shape == (4,)
    assert "sum" in [n.target_name for n in joint.calls]


def test_a_value_used_twice_adds_its_gradients():
    graph = graph_of(lambda x: ops.mul(x, x), floats(2))
    joint = trace_joint(graph, [True])
    assert lines(joint.graph)[-2:] == ["add = torch.add(mul_1, mul_2)", "return (mul, add)"]


def test_only_what_is_wanted_is_differentiated():
    graph = graph_of(lambda x, y: ops.mul(ops.exp(x), ops.sin(y)), floats(2), floats(2))
    joint = trace_joint(graph, [False, True]).after(remove_dead_code)
    assert joint.graph.outputs[1] is None
    assert joint.graph.outputs[2].name == "mul_2"
    assert lines(joint.graph) == [
        "exp = torch.exp(primals_1)",
        "sin = torch.sin(primals_2)",
        "mul = torch.mul(exp, sin)",
        "mul_1 = torch.mul(tangents_1, exp)",
        "cos = torch.cos(primals_2)",
        "mul_2 = torch.mul(mul_1, cos)",
        "return (mul, None, mul_2)",
    ]


def test_outputs_without_a_gradient_have_no_tangent():
    graph = graph_of(lambda x, y: (ops.gt(x, 0), ops.exp(x), ops.exp(y)), floats(2), floats(2))
    joint = trace_joint(graph, [True, False])
    assert joint.tangent_of == (1,)
    assert len(joint.tangents) == 1


def test_an_unused_input_has_no_gradient():
    graph = graph_of(lambda x, y: ops.exp(x), floats(2), floats(2))
    assert trace_joint(graph, [True, True]).graph.outputs[2] is None


def test_an_integer_tensor_takes_part_but_gets_no_gradient():
    graph = graph_of(ops.mul, floats(2), TensorMeta.contiguous((2,), dtypes.int64))
    joint = trace_joint(graph, [True, False]).after(remove_dead_code)
    assert joint.graph.outputs[1].meta.dtype is dtypes.float32 and joint.graph.outputs[2] is None


def test_gradients_of_a_list_of_tensors():
    graph = graph_of(lambda x, y, z: ops.cat([x, y, z], 0), floats(1), floats(2), floats(3))
    joint = trace_joint(graph, [True, False, True]).after(remove_dead_code)
    shapes = [g and g.meta.shape for g in joint.graph.outputs[1:]]
    assert shapes == [(1,), None, (3,)]


def test_gradients_have_the_type_of_their_input():
    graph = graph_of(ops.mul, floats(2), TensorMeta.contiguous((2,), dtypes.float64))
    joint = trace_joint(graph, [True, True]).graph
    assert [g.meta.dtype for g in joint.outputs[1:]] == [dtypes.float32, dtypes.float64]
