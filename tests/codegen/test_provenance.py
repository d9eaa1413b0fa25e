"""Each statement of each kernel carries the user's line, whatever sort of loop it stands in."""

from __future__ import annotations

import linecache
import re

import pytest

import labcore as torch
from labcore import trace
from labcore.codegen import print_kernel
from labcore.codegen.printer import Note
from labcore.fusion import fuse_graph
from labcore.fusion.follow import questions
from labcore.fusion.ir import LAST
from tests.codegen.graphs import chain, meta, traced

X = torch.arange(12.0).reshape(3, 4)
PLACE = torch.tensor([1, 0, 1])


def training(fn):
    def step(x):
        x = x.detach().clone().requires_grad_()
        fn(x).sum().backward()
        return x.grad

    return step


SORTS = {
    "pointwise": lambda x: (x + 1).relu() * 2,
    "row sum": lambda x: x.sum(1),
    "column sum": lambda x: x.sum(0),
    "column sum of doubles": lambda x: x.double().sum(0),
    "both sums": lambda x: (x.sum(0), x.sum(1)),
    "squares": lambda x: (x * x).sum(0),
    "whole sum": lambda x: x.sum(),
    "mean and variance": lambda x: torch.var(x, 1),
    "softmax": lambda x: torch.softmax(x, -1),
    "layer norm": lambda x: torch.layer_norm(x, (4,)),
    "extremes": lambda x: (x.amax(0), x.amin(1)),
    "any": lambda x: (x > 3).any(0),
    "row scan": lambda x: x.cumsum(1) * 2,
    "column scan": lambda x: x.cumsum(0),
    "read by index": lambda x: x.index_select(0, PLACE) * 2,
    "gathered": lambda x: x.gather(1, PLACE.reshape(3, 1)),
    "written by index": lambda x: x.index_add(0, PLACE, torch.ones(3, 4)),
    "turned": lambda x: x.t() + 1,
    "casts": lambda x: x.to(torch.int64) // 2,
    "written in place": lambda x: x.clone().mul_(2).add_(1),
}


def kernels_of(fn, backward=False):
    with trace.record() as story:
        if backward:
            training(torch.compile(fn))(X)
        else:
            torch.compile(fn)(X.clone())
    return [kernel.source for kernel in story.of(trace.KernelReady)]


def statements(source):
    body = source[source.index(":\n") + 2 :] if "\n)" not in source else source.split("):\n", 1)[1]
    return [line for line in body.splitlines() if not line.strip().startswith("for ")]


@pytest.mark.parametrize("name", SORTS)
def test_each_statement_has_the_users_line(name):
    sources = kernels_of(SORTS[name])
    assert sources
    for source in sources:
        for line in statements(source):
            assert re.search(r"  # test_provenance\.py:\d+  \S", line), line


@pytest.mark.parametrize("name", ["pointwise", "softmax", "layer norm", "squares", "gathered",
                                  "row scan", "mean and variance"])
def test_each_statement_of_a_backward_has_it_too(name):
    sources = kernels_of(SORTS[name], backward=True)
    assert len(sources) > 1
    wanted = linecache.getline(__file__, SORTS[name].__code__.co_firstlineno)
    for source in sources:
        for line in statements(source):
            where = re.search(r"  # test_provenance\.py:(\d+)  (\S.*)", line)
            assert where, line
            assert linecache.getline(__file__, int(where[1])) == wanted


@pytest.mark.parametrize("name", SORTS)
def test_each_statement_names_the_question_that_made_it(name):
    fn = SORTS[name]
    found = []
    torch.compile(fn, backend=lambda gm, _: found.append(gm) or gm)(X.clone())
    nests = [nest for gm in found for nest in fuse_graph(gm.graph, "inference").nests]
    for number, nest in enumerate(nests):
        asked = {body.node.name: body.questions for body in questions(nest)}
        kernel = print_kernel(nest, number)
        lines = kernel.source.splitlines()
        assert len(kernel.notes) == len(lines)
        for line, note in zip(lines, kernel.notes):
            if not note:
                assert "=" not in line, line
                continue
            assert line.endswith(f"  # {note}")
            body, k = note.asked
            assert k == LAST or k < len(asked[body])
            question = asked[body][k]
            assert note.node == question.node.name or k == LAST
            if re.match(r"\s+tmp\d+ = \w+\[.*\]  #", line):
                assert question.word == "load" or nest.homes.get(body) == "row"


def test_where_no_source_is_known_nothing_is_made_up():
    (nest,) = fuse_graph(traced(chain, meta(4), meta(4)).graph).nests
    kernel = print_kernel(nest)
    assert "#" not in kernel.source
    nodes = [note.node for note in kernel.notes if isinstance(note, Note)]
    assert nodes == ["add", "add", "add", "relu", "mul", "mul"]
