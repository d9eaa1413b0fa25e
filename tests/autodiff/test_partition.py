from labcore import ops
from labcore.autodiff.joint import trace_joint
from labcore.autodiff.partition import cut_at, default_partition
from labcore.autodiff.passes import remove_dead_code

from .graphs import floats, graph_of, lines


def cut(function, *metas, wanted=None, **more):
    joint = trace_joint(graph_of(function, *metas, **more), wanted or [True] * len(metas))
    return default_partition(joint.after(remove_dead_code))


def test_the_running_example_saves_the_relu():
    halves = cut(lambda x, b: ops.mul(ops.relu(ops.add(x, b)), 2), floats(4), floats(4))
    assert [(s.name, s.meta.nbytes, s.primal) for s in halves.saved] == [("relu", 16, False)]
    assert halves.saved_bytes == 16
    assert lines(halves.forward) == [
        "add = torch.add(primals_1, primals_2)",
        "relu = torch.relu(add)",
        "mul = torch.mul(relu, 2)",
        "return (mul, relu)",
    ]
    assert [n.name for n in halves.backward.placeholders] == ["relu", "tangents_1"]
    assert lines(halves.backward) == [
        "mul_1 = torch.mul(tangents_1, 2)",
        "le = torch.le(relu, 0)",
        "where = torch.where(le, 0.0, mul_1)",
        "return (where, where)",
    ]


def test_inputs_that_the_backward_reads_are_saved_as_inputs():
    halves = cut(lambda x, w: ops.mul(x, w), floats(3), floats(3))
    assert [(s.name, s.primal) for s in halves.saved] == [("primals_1", True), ("primals_2", True)]


def test_tanh_of_sin_saves_what_its_rules_read():
    halves = cut(lambda x, w: ops.add(ops.tanh(ops.sin(ops.mul(x, w))), 1), floats(3), floats(3))
    assert [s.name for s in halves.saved] == ["primals_1", "primals_2", "mul", "tanh"]


def test_nothing_is_saved_when_nothing_is_read():
    assert cut(lambda x: ops.add(x, 1), floats(3)).saved == ()


def test_a_view_is_shown_again_instead_of_saved():
    halves = cut(lambda x, w: ops.matmul(x, ops.transpose(w, 0, 1)), floats(2, 3), floats(4, 3))
    assert [s.name for s in halves.saved] == ["primals_1", "primals_2"]
    assert "transpose" in [n.name for n in halves.backward.calls]


def test_a_partitioner_may_compute_again_instead_of_saving():
    joint = trace_joint(graph_of(lambda x: ops.sin(ops.exp(x)), floats(3)), [True])
    halves = cut_at(joint, joint.primals)
    assert [s.name for s in halves.saved] == ["primals_1"]
    assert "exp" in [n.name for n in halves.backward.calls]
    assert [n.name for n in halves.forward.calls] == ["exp", "sin"]
