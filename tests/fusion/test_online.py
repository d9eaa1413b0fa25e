"""The largest of a row and the sum of the powers below it, from one pass over the row."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

import labcore as torch
from labcore import ops, trace
from labcore.codegen.cuda.form import ROW_LIMIT
from labcore.codegen.cuda.options import ON_CARD
from labcore.fusion import FusionOptions, evaluations, ledger, lower, schedule
from labcore.fusion.online import find_power_sums
from labcore.fusion.primitives import SUMEXP
from tests.codegen.grid import on_card

from .graphs import floats, graph_of, softmax
from .programs import Checking, arrays

F = torch.nn.functional
ROWS, BATCH = torch.randn(5, 7), torch.randn(2, 3, 4)
CLASSES = torch.tensor([3, 0, 6, 2, 2])


def logsumexp(x, dim=-1, keepdim=False):
    """As the operator is decomposed."""
    largest = ops.amax(x, dim, True)
    shift = ops.where(ops.eq(ops.abs(largest), inf), 0.0, largest)
    total = ops.log(ops.sum(ops.exp(ops.sub(x, shift)), dim, keepdim))
    return ops.add(total, shift if keepdim else ops.squeeze(shift, dim))


def planned(graph, online):
    options = FusionOptions(online=online)
    return schedule(lower(graph, options=options), options=options)


def rescaled(plan):
    """How many sums are rescaled on the way."""
    return sum(node.loops.kind == SUMEXP for nest in plan.nests for node in nest.nodes)


def passes(graph, online):
    return [sum(bool(p.inside) for p in nest.passes) for nest in planned(graph, online).nests]


def compiled(function, **options):
    return torch.compile(function, fullgraph=True, options={"online": True, **options})


# ---- which sums ----------------------------------------------------------------------------------

below = lambda x, dim=-1: ops.sub(x, ops.amax(x, dim, True))
SPELLINGS = [
    softmax,
    logsumexp,
    lambda x: logsumexp(x, 1, True),
    lambda x: ops.sub(below(x), ops.log(ops.sum(ops.exp(below(x)), -1, True))),
    lambda x: ops.sum(ops.exp(ops.sub(x, ops.amax(x, (0, 1)))), (1, 0)),
]
OTHERS = [
    lambda x: ops.sum(ops.exp(below(x)), 0),
    lambda x: ops.sum(ops.exp(ops.sub(x, ops.amin(x, -1, True))), -1),
    lambda x: ops.sum(ops.exp(ops.sub(x, ops.amax(ops.relu(x), -1, True))), -1),
    lambda x: ops.sum(ops.exp(ops.sub(x, ops.amax(x, -1, True), alpha=2)), -1),
    lambda x: ops.sum(ops.exp2(below(x)), -1),
    lambda x: ops.amax(ops.exp(below(x)), -1),
    lambda x: ops.sum(ops.exp(below(x)), -1, dtype=torch.float64),
    lambda x: ops.sum(ops.exp(ops.sub(x, ops.where(ops.eq(ops.abs(m := ops.amax(x, 1, True)), 1.0),
                                                   0.0, m))), -1),
]


@pytest.mark.parametrize("spelled", SPELLINGS)
def test_every_spelling_of_a_sum_of_powers_is_one_pass(spelled):
    graph = graph_of(spelled, floats(4, 4))
    assert len(find_power_sums(graph)) == 1
    assert rescaled(planned(graph, True)) == 1


@pytest.mark.parametrize("other", OTHERS)
def test_what_only_looks_like_one_is_left_alone(other):
    assert not find_power_sums(graph_of(other, floats(4, 4)))


def test_an_axis_of_one_element_is_none_to_go_over():
    assert not find_power_sums(graph_of(softmax, floats(4, 1)))


def test_columns_are_gone_over_twice():
    graph = graph_of(lambda x: softmax(x, 0), floats(4, 5))
    assert len(find_power_sums(graph)) == 1
    assert str(planned(graph, True)) == str(planned(graph, False))


# ---- what it saves, and what it costs ------------------------------------------------------------


@pytest.mark.parametrize(("function", "one", "two"), [(softmax, 2, 3), (logsumexp, 1, 2)])
def test_one_pass_fewer(function, one, two):
    graph = graph_of(function, floats(4, 8))
    assert passes(graph, True) == [one] and passes(graph, False) == [two]


def test_a_row_less_in_between_and_each_power_twice():
    """Softmax keeps no row of powers: it computes them again."""
    graph = graph_of(softmax, floats(4, 8))
    once, twice = planned(graph, True), planned(graph, False)
    tables = [{name: sum(int(n) for n in getattr(ledger(plan), name).values())
               for name in ("loads", "stores", "again", "rows")} for plan in (once, twice)]
    assert tables == [{"loads": 32, "stores": 32, "again": 32, "rows": 0},
                      {"loads": 32, "stores": 32, "again": 32, "rows": 64}]
    assert [int(evaluations(plan)["exp"]) for plan in (once, twice)] == [64, 32]


def test_its_verdict_says_so():
    told = next(v for v in planned(graph_of(softmax, floats(4, 8)), True).verdicts
                if v.rule == "one pass, rescaled on the way")
    assert (told.first, told.second, told.ok) == ("amax", "sum", True)
    assert not any("one pass" in v.rule
                   for v in planned(graph_of(softmax, floats(4, 8)), None).verdicts)


@pytest.mark.parametrize(("shape", "card", "taken"), [
    ((4, ROW_LIMIT), True, False),  # lies in registers
    ((4, ROW_LIMIT + 1), True, True),
    ((ROW_LIMIT + 1,), True, True),
    ((4, ROW_LIMIT + 1), False, False),  # a CPU's second look is at its cache
])
def test_where_it_pays(shape, card, taken):
    graph = graph_of(softmax, floats(*shape))
    options = ON_CARD if card else FusionOptions()
    plan = schedule(lower(on_card(graph) if card else graph, options=options), options=options)
    assert rescaled(plan) == taken


def test_a_row_that_registers_hold_is_looked_at_twice():
    graph = graph_of(softmax, floats(4, 8))
    for held, taken in ((7, 1), (8, 0), (None, 0)):
        options = FusionOptions(held_row=held)
        assert rescaled(schedule(lower(graph, options=options), options=options)) == taken


@pytest.mark.parametrize("value", [1, "yes"])
def test_the_option_is_checked(value):
    with pytest.raises(ValueError, match="online is True, False or None"):
        FusionOptions(online=value)


@pytest.mark.parametrize("value", [0, True, "long"])
def test_so_is_the_length_of_a_row_that_is_held(value):
    with pytest.raises(ValueError, match="held_row is a whole number from 1 on or None"):
        FusionOptions(held_row=value)


# ---- values --------------------------------------------------------------------------------------

EDGES = [[inf, 1.0, 2.0], [-inf, -inf, -inf], [-inf, 3.0, -inf], [nan, 1.0, inf], [1.0, 2.0, nan],
         [inf, inf, -inf], [1e30, -1e30, 1e30], [-3e38, -3e38, 3e38], [88.0, -88.0, 0.0],
         [-inf, inf, nan], [-1e-45, 0.0, -0.0], [-3.4028234663852886e38, -inf, -inf]]
FUNCTIONS = {
    "softmax": lambda x: torch.softmax(x, -1),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
    "logsumexp": lambda x: torch.logsumexp(x, -1),
    "kept": lambda x: torch.logsumexp(x, -1, keepdim=True),
}


def all_of_them(x):
    return [function(x) for function in FUNCTIONS.values()]


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_infinities_nan_and_far_values(plain, dtype):
    edges = torch.tensor(EDGES, dtype=dtype)
    for x in (edges, edges.repeat_interleave(700, 1), edges.repeat(1, 700)):
        for found, want in zip(compiled(all_of_them, plain_kernels=plain)(x), all_of_them(x)):
            torch.testing.assert_close(found, want, equal_nan=True)


@pytest.mark.parametrize("columns", [2, 1024, 1025, 4000])
@pytest.mark.parametrize("plain", [False, True])
def test_rows_of_any_length(columns, plain):
    x = torch.randn(4, columns) * 10
    for found, want in zip(compiled(all_of_them, plain_kernels=plain)(x), all_of_them(x)):
        torch.testing.assert_close(found, want)


@pytest.mark.parametrize("slope", [1e-6, 1e-3, 30.0, -1e-3])
def test_a_row_that_always_grows_costs_no_digits(slope):
    """It is rescaled in every block; in float32 each time would round to one side."""
    x = (np.arange(300_000) * slope).astype(np.float32)
    want = np.log(np.exp(x.astype(np.float64) - x.max()).sum()) + x.max()
    found = compiled(lambda x: torch.logsumexp(x, 0))(torch.from_numpy(x))
    np.testing.assert_allclose(found.item(), want, rtol=3e-7)


def test_symbolic_rows():
    f = torch.compile(FUNCTIONS["softmax"], dynamic=True, options={"online": True})
    for n in (2, 5, 900, 3000):
        x = torch.randn(3, n)
        torch.testing.assert_close(f(x), FUNCTIONS["softmax"](x))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (3, 1), (1, 3), (0,), (1,), (4,)])
def test_what_is_empty_or_has_one_element(shape):
    x = torch.randn(*shape)
    for name in ("softmax", "log_softmax", "logsumexp"):
        function = FUNCTIONS[name]
        torch.testing.assert_close(compiled(function)(x), function(x))


def test_an_empty_maximum_is_refused_as_in_eager_mode():
    f = lambda x: torch.exp(x - x.amax(1, keepdim=True)).sum(1)
    for function in (f, compiled(f)):
        with pytest.raises((IndexError, RuntimeError), match="amax"):
            function(torch.randn(3, 0))


def test_gradients_are_what_they_are():
    x = torch.randn(4, 9)
    for function in FUNCTIONS.values():
        found, want = (x.clone().requires_grad_() for _ in range(2))
        (compiled(function)(found) * x[:, :1]).sum().backward()
        (function(want) * x[:, :1]).sum().backward()
        torch.testing.assert_close(found.grad, want.grad)


# ---- company -------------------------------------------------------------------------------------

PROGRAMS = [
    (lambda x: torch.softmax(x, -1), (ROWS,), 1),
    (lambda x: torch.softmax(x, -1), (torch.randn(3, 40),), 1),
    (lambda x: torch.log_softmax(x * 2, -1).exp().sum(0), (ROWS,), 1),
    (lambda x: (torch.logsumexp(x, 1), x.amax(1), x.sum(1)), (ROWS,), 1),
    (lambda x: torch.logsumexp(x, (1, 2)), (BATCH,), 1),
    (lambda x: torch.logsumexp(x.transpose(1, 2), (1, 2)), (BATCH,), 1),
    (lambda x: torch.softmax(x.t(), -1), (ROWS,), 3),
    (lambda x: torch.softmax(x[:, 1:6], -1), (ROWS,), 1),
    (lambda x: torch.logsumexp(x[:, :, 1:], (1, 2)), (BATCH,), 1),  # a row is two loops
    (lambda x: torch.logsumexp(x.sum(1), 0), (ROWS,), 1),  # rows add up to one
    (lambda x: torch.logsumexp(x.sum(1), 0) * 2 + x.sum(), (ROWS,), 2),
    (lambda x: torch.softmax(torch.tanh(x), -1), (ROWS,), 1),
    (lambda x: (y := torch.softmax(x, -1), torch.softmax(y, -1)), (ROWS,), 1),
    (lambda x: x.to(torch.int64).logsumexp(1) > 1, (ROWS,), 1),  # no array of the powers' type
    (lambda x: x.copy_(torch.softmax(x, -1)), (ROWS,), 1),
    (lambda x: F.cross_entropy(x, CLASSES), (ROWS,), 1),
    (lambda x: (torch.exp(x - x.amax(1, keepdim=True)), torch.softmax(x, 1)), (ROWS,), 1),
]


@pytest.mark.parametrize(("function", "inputs", "kernels"), PROGRAMS)
def test_kernels_and_values(function, inputs, kernels):
    with trace.record() as story:
        found = compiled(function)(*[x.clone() for x in inputs])
    assert story.text("output_code").count("@kernel\n") <= kernels
    torch.testing.assert_close(found, function(*[x.clone() for x in inputs]))


@pytest.mark.parametrize(("function", "inputs", "kernels"), PROGRAMS)
def test_every_way_to_run_them_agrees(function, inputs, kernels):
    """Interpreter, printed text and ledger, in random orders of fusion."""
    for seed in range(4):
        checking = Checking(np.random.default_rng(seed), machine=False)
        f = torch.compile(function, backend=checking.backend, fullgraph=True)
        both = [g(*[x.clone() for x in inputs]) for g in (f, function)]
        both = [v if isinstance(v, tuple) else (v,) for v in both]
        for got, want in zip(*map(arrays, both)):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_threads_share_its_rows():
    x = torch.randn(4000, 300)
    with trace.record() as story:
        found = compiled(FUNCTIONS["softmax"])(x)
    assert "prange" in story.text("kernel_code")
    torch.testing.assert_close(found, FUNCTIONS["softmax"](x))


def test_a_transposed_input_keeps_its_layout():
    x = torch.randn(7, 5).t()
    found = compiled(FUNCTIONS["softmax"])(x)
    assert found.stride() == FUNCTIONS["softmax"](x).stride()
    torch.testing.assert_close(found, FUNCTIONS["softmax"](x))
