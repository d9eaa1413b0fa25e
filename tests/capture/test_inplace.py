"""In-place operators: the write stays in the graph, and whoever shares the memory sees it."""

from __future__ import annotations

import random

import numpy as np
import pytest

import labcore as torch
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.trace import GraphBreak, record

from .differential import strict


def x23():
    return torch.arange(6.0).reshape(2, 3)


def input_added(x):
    x.add_(1)
    return x * 2


def augmented(x):
    y = x
    x += 1
    x *= 2
    return x, y, y is x


def item_written(x):
    x[0] = 7
    x[1, 1:] = x[0, :2] + 1
    return x.sum()


def item_written_by_tensor(x):
    x[:, 1] = x[:, 0] * 10
    return x[0] + 1


def view_made_before(x):
    row = x[0]
    x.mul_(3)
    return row, row + 1


def view_made_after(x):
    x.mul_(3)
    row = x[0]
    row.add_(100)
    return row, x.sum()


def view_of_a_view(x):
    part = x.T[1:]
    part[0, 0] = -1
    part.view(2, 2).T.unsqueeze(0).sub_(5)
    return part, x * 1


def made_inside(x):
    z = x * 2
    row = z[0]
    z += 1
    row.relu_()
    z.squeeze(0).neg_()
    return z, row, z.T


def other_types(x):
    n = x.to(torch.int64)
    n *= 3
    n.copy_(x * 1.7)
    flags = x > 2
    flags.fill_(True)
    return n, flags


def filled(x):
    x.zero_()
    x[1].fill_(3)
    return x


def two_inputs_one_written(x, y):
    x.copy_(y)
    return x - y


def one_doubled(x, y):
    x.mul_(2)
    return y + 1


def through_containers(x):
    held = {"x": x, "rows": [x[0], x[1]]}
    held["x"] -= 1
    held["rows"][0] *= 2
    return held


def before_a_break(x):
    x += 1
    print(x.tolist())
    x *= 2
    return x.sum()


PROGRAMS = [
    input_added, augmented, item_written, item_written_by_tensor, view_made_before, view_made_after,
    view_of_a_view, made_inside, other_types, filled, through_containers, before_a_break,
]  # fmt: skip


def picture(*values):
    """Values, layouts, and who shares memory with whom: writing to one shows in the others."""
    tensors = []

    def collect(value):
        if isinstance(value, torch.Tensor):
            tensors.append(value)
        elif isinstance(value, dict):
            collect(list(value.values()))
        elif isinstance(value, (tuple, list)):
            for item in value:
                collect(item)

    collect(values)
    told = [
        (t.tolist(), tuple(t.shape), t.stride(), t.dtype, t.requires_grad, t._version)
        for t in tensors
    ]
    same = [[a is b for b in tensors] for a in tensors]
    shared = []
    for tensor in tensors:
        before = [t.tolist() for t in tensors]
        with torch.no_grad():
            tensor.fill_(77 if tensor.dtype is not torch.bool else not tensor.tolist())
        shared.append([t.tolist() != b for t, b in zip(tensors, before)])
    return told, same, shared


@pytest.mark.parametrize("backend", ["eager", "inductor"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_like_eager(program, backend, capsys):
    counter = CompileCounter()
    compiled = torch.compile(program, backend=counter if backend == "eager" else backend)
    for _ in range(3):
        x, twin = x23(), x23()
        expected = picture(program(x), x)
        printed = capsys.readouterr().out
        with strict():
            found = picture(compiled(twin), twin)
        assert found == expected and capsys.readouterr().out == printed
    if backend == "eager":
        assert counter.frame_count == (2 if program is before_a_break else 1)


def test_the_text_of_the_variant_says_what_is_overwritten():
    from labcore.compiler.compile import state_of

    compiled = torch.compile(input_added, backend="eager")
    compiled(x23())
    (variant,) = state_of(compiled).cache.variants
    assert "overwrite(x, add, 1)" in variant.source


def test_tensors_that_share_memory_without_a_base_are_left_to_cpython():
    counter = CompileCounter()
    compiled = torch.compile(two_inputs_one_written, backend=counter)
    x, y = x23(), x23() + 1
    assert compiled(x, y).tolist() == [[0.0] * 3] * 2 and counter.frame_count == 1
    base = torch.arange(8.0)
    compiled(base[:6].view(2, 3), x23())
    assert counter.frame_count == 1  # a view that no other tensor shows is as good as any
    doubling = torch.compile(one_doubled, backend="eager")
    whole, twin = torch.arange(4.0), torch.arange(4.0)
    assert doubling(x23(), torch.ones(3)).tolist() == [2.0] * 3
    with record() as trace:
        found = doubling(whole.view(2, 2), whole[1:])
    assert found.tolist() == one_doubled(twin.view(2, 2), twin[1:]).tolist() == [3.0, 5.0, 7.0]
    assert whole.tolist() == twin.tolist() and not trace.of(GraphBreak)  # these have one
    parts = [np.arange(4, dtype=np.float32) for _ in range(2)]
    pairs = [[torch.from_numpy(part[:2]), torch.from_numpy(part[1:])] for part in parts]
    with record() as trace:
        found = doubling(*pairs[0])
    assert found.tolist() == one_doubled(*pairs[1]).tolist()
    assert parts[0].tolist() == parts[1].tolist()
    assert [stop.break_id for stop in trace.of(GraphBreak)] == ["inplace-operator"]


def test_where_a_gradient_may_be_wanted_the_tape_sees_the_write():
    def scaled(x, w):
        z = x * w
        z += 1
        return (z * z).sum()

    compiled = torch.compile(scaled, backend="eager")
    grads = []
    for run in (scaled, compiled):
        w = torch.tensor(3.0, requires_grad=True)
        run(x23(), w).backward()
        grads.append(w.grad.item())
    assert grads[0] == grads[1]


def test_errors_are_eagers():
    def refused(x):
        x.add_(torch.ones(4))

    def cast(x):
        n = x.to(torch.int64)
        n += 0.5
        return n

    def leaf(w):
        w += 1

    for program, value in ((refused, x23()), (cast, x23()), (leaf, x23().requires_grad_())):
        texts = []
        for run in (program, torch.compile(program, backend="eager")):
            with pytest.raises(RuntimeError) as caught:
                run(value)
            texts.append(str(caught.value))
        assert texts[0] == texts[1]


def test_parameters_are_updated_under_no_grad():
    def step(w, gradient):
        with torch.no_grad():
            w -= gradient * 0.1
        return w

    def plain(w, gradient):
        w -= gradient * 0.1
        return w

    w, g = torch.ones(3, requires_grad=True), torch.ones(3)
    counter = CompileCounter()
    with torch.no_grad():
        out = torch.compile(plain, backend=counter)(w, g)
    assert out is w and w.requires_grad and w.is_leaf and counter.frame_count == 1
    assert w.tolist() == pytest.approx([0.9] * 3)
    out = torch.compile(step, backend="inductor")(w, g)
    assert out is w and w.requires_grad and w.tolist() == pytest.approx([0.8] * 3)


def random_program(seed):
    """Writes and views in random order on one input and on tensors made of it."""
    rng = random.Random(seed)
    lines, names, ndim = [], ["x"], {"x": 2}
    for number in range(rng.randint(3, 9)):
        name, new = rng.choice(names), f"t{number}"
        views = {
            1: ["{}[1:]", "{}.unsqueeze(0)", "{}[::2]", "{}"],
            2: ["{}[0]", "{}.T", "{}[:, 1:]", "{}[1]", "{}[:, 0]", "{}.reshape(-1)"],
            3: ["{}[0]", "{}.squeeze(0)", "{}.transpose(0, 2)", "{}.permute(1, 0, 2)"],
        }
        lines_of = {"view": rng.choice(views[ndim[name]]).format(name), "new": f"{name} * 2 + 1"}
        kind = rng.choice(["view", "view", "new", "write", "write", "write"])
        if kind == "write":
            other = rng.choice(names)
            lines.append(
                rng.choice([
                    f"{name}.add_({number})", f"{name} *= 2", f"{name}.relu_()",
                    f"{name}[0] = {number}", f"{name}.sub_({other}.sum())", f"{name}.neg_()",
                ])
            )  # fmt: skip
            continue
        lines.append(f"{new} = {lines_of[kind]}")
        names.append(new)
        probe = {"x": torch.arange(12.0).reshape(4, 3)}
        try:
            exec("\n".join(lines), probe)
        except Exception:
            lines.pop(), names.pop()
            continue
        ndim[new] = probe[new].ndim
        if not 1 <= ndim[new] <= 3 or 0 in probe[new].shape or 1 in probe[new].shape[:1]:
            names.pop()
    body = "\n    ".join(lines)
    return f"def program(x):\n    {body}\n    return {', '.join(names)},\n"


@pytest.mark.parametrize("block", range(4))
def test_random_programs(block):
    captured = 0
    for seed in range(40 * block, 40 * (block + 1)):
        text = random_program(seed)
        scope = {}
        exec(text, scope)
        counter = CompileCounter()
        backend = counter if seed % 5 else "inductor"
        compiled = torch.compile(scope["program"], backend=backend)
        outcomes = []
        for run in (scope["program"], compiled):
            x = torch.arange(12.0).reshape(4, 3)
            try:
                with strict():
                    outcomes.append(picture(run(x), x))
            except RuntimeError as error:
                outcomes.append((str(error), x.tolist()))
        assert outcomes[0] == outcomes[1], text
        captured += counter.frame_count == 1
    assert captured >= 18


def test_a_view_of_what_requires_grad_now_is_refused_as_eagerly():
    def f(y):
        y += 1
        return y * 2

    compiled = torch.compile(f, backend="eager")
    plain = torch.ones(2)
    assert compiled(plain).tolist() == [4, 4]
    view = plain.view(2)
    assert compiled(view).tolist() == [6, 6]
    plain.requires_grad_()
    for call in (compiled, torch.compile(f, backend="eager")):
        with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
            call(view)
    assert view.tolist() == [3, 3]


@pytest.mark.parametrize(
    "call",
    ["copy_(None)", "copy_('a')", "copy_(2)", "mul_(None)", "add_('a')", "add_()", "zero_(1)"],
)
def test_wrong_arguments_are_told_alike(call):
    def f(y):
        try:
            eval_in_place(y)
            return None
        except TypeError as error:
            return str(error)

    eval_in_place = eval(f"lambda y: y.{call}")
    expected = f(torch.ones(2))
    assert expected is not None
    assert torch.compile(f, backend="eager")(torch.ones(2)) == expected
