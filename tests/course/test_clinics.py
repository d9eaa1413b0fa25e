"""The clinics: every accepted repair passes, every refused one is told what is left."""

from __future__ import annotations

from collections import namedtuple

import pytest

import labcore as torch
from labcore.testing import course

PASSED = "Public checks passed."
Settings = namedtuple("Settings", "rate")


def as_found(respond, x, rate):
    Settings = namedtuple("Settings", "rate")
    return respond(x, Settings(rate))


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (lambda respond, x, rate: respond(x, Settings(rate)), PASSED),
        (lambda respond, x, rate: respond(x, Settings(torch.tensor(rate))), PASSED),
        (as_found, "Left: a type that is new at each call"),
        (lambda respond, x, rate: (x * rate).relu(), "Each request calls respond once"),
        (lambda respond, x, rate: respond(x, Settings(0.5)), "are another rate's"),
        (lambda respond, x, rate: "no", "expected a tensor, found 'no'"),
        (lambda respond, x, rate: ..., "Not begun"),
    ],
)
def test_one_type(fn, word):
    assert word in repr(course.one_type(fn))


def loss_fn(x, y, w, scale, tag, note):
    loss = ((x @ w - y) ** 2).mean() * scale
    if "l1" in tag:
        loss = loss + w.abs().sum()
    return loss


def masked_loss(x, y, w, scale, tag, mask):
    return ((x @ w - y) ** 2 * mask).sum() / mask.sum() * scale


def padded(x, n):
    return torch.cat([x, x.new_zeros((n - len(x), *x.shape[1:]))])


def day(*fixed, compiled=loss_fn, **options):
    """The program as found, with these causes repaired."""

    def run(rows, targets, w):
        loss = torch.compile(compiled, backend="eager", **options)
        losses = []
        for epoch in range(2):
            for i in range(16):
                x, y = rows[64 * i : 64 * i + 64], targets[64 * i : 64 * i + 64]
                note = object()
                if "drop" in fixed and len(x) < 64:
                    continue
                if "mark" in fixed:
                    x, y = x.clone(), y.clone()
                    torch._dynamo.maybe_mark_dynamic(x, 0)
                    torch._dynamo.maybe_mark_dynamic(y, 0)
                if compiled is masked_loss:
                    note, x, y = padded(torch.ones(len(x)), 64), padded(x, 64), padded(y, 64)
                scale = min(1.0, (i + 1) / 10)
                scale = torch.tensor(scale) if "scale" in fixed else scale
                tag = "train" if "tag" in fixed else f"train {epoch}/{i}"
                losses.append(loss(x, y, w, scale, tag, note))
            if "no evaluation" in fixed:
                continue
            with torch.no_grad():
                scale = torch.tensor(1.0) if "scale" in fixed else 1.0
                note = torch.ones(64) if compiled is masked_loss else object()
                tag = "train" if "tag" in fixed else "eval"
                losses.append(loss(rows[:64], targets[:64], w, scale, tag, note))
        return losses

    return run


ACCEPTED = [
    day("tag", "scale", "drop"),
    day("tag", "scale", "mark"),
    day("tag", "scale", compiled=masked_loss),
    day("tag", dynamic=True),
]
REFUSED = [
    (day(), "at most 2 variants: expected True, found False", "Left: a text"),
    (day("tag"), "calls that ran eagerly: expected 0, found 0", "Left: a number differs"),
    (day("tag", "scale"), "at most 2", "Left: a batch has another size."),
    (day("tag", "drop"), "at most 2", "Left: a number differs from call to call."),
    (day("scale", "drop"), "found 24", "Left: a text"),
    (day(recompile_limit=100), "at most 2", "A higher limit moved the cliff"),
    (day(dynamic=True), "at most 2", "Left: a text"),
    (day(dynamic=False), "at most 2", "Left: a text"),
    (day(disable=True), "losses from compiled code: expected 34, found 0", "compile once"),
    (day("tag", "scale", "drop", "no evaluation"), "losses: expected 34, found 30", "one of the"),
    (lambda rows, targets, w: 3, "expected a list of losses, found 3", ""),
    (lambda rows, targets, w: ..., "Not begun", ""),
]


@pytest.mark.parametrize("fn", ACCEPTED)
def test_repairs_that_are_accepted(fn):
    assert PASSED in repr(course.calm_day(fn))


@pytest.mark.parametrize(("fn", "fact", "belief"), REFUSED)
def test_repairs_that_are_refused(fn, fact, belief):
    told = repr(course.calm_day(fn))
    assert fact in told and belief in told and PASSED not in told


# ---- clinic B -----------------------------------------------------------------------------------


def layers(divided, noted=lambda norm: norm):
    """The network, with one way to divide and one to note a norm."""

    def network(x, weights, norms):
        for w in weights:
            h = torch.relu(x @ w)
            h = divided(h, h.abs().max())
            norms.append(noted(h.square().sum().sqrt()))
            x = x + h
        return x

    return network


def where(h, s):
    return torch.where(s > 10, h / s, h)


def branch(h, s):
    return h / s if s > 10 else h


def reported(x, weights, norms):
    found = []
    x = layers(where)(x, weights, found)
    report(norms, found)
    return x


@torch.compiler.disable
def report(norms, found):
    norms += [norm.item() for norm in found]


def reported_first(x, weights, norms):
    found = []
    y = layers(where)(x, weights, found)
    report(norms, found)
    return y * 1


def one_by_one(x, weights, norms):
    found = []
    x = layers(where)(x, weights, found)
    norms += [norm.item() for norm in found]
    return x


def outside(x, weights, norms):
    return torch.compiler.disable(layers(branch))(x, weights, norms)


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (layers(where), PASSED),
        (layers(lambda h, s: h / torch.where(s > 10, s, 1)), PASSED),
        (reported, PASSED),
        (layers(branch), "Left, in every layer: an if that asks a tensor for its number."),
        (layers(where, lambda norm: norm.item()), "Left, in every layer: a number taken out of"),
        (layers(branch, lambda norm: norm.item()), "its number; a number taken out of a tensor."),
        (layers(lambda h, s: h / s.clamp(min=10)), "Right where s is above 10, and not below it"),
        (layers(lambda h, s: h), "Right where s is below 10, and not above it"),
        (lambda x, weights, norms: layers(where)(x, weights, []), "The norms are gone"),
        (layers(where, lambda norm: "1"), "expected norms that are numbers"),
        (one_by_one, "One graph, and then a crossing for each number"),
        (outside, "No graph at all"),
        (reported_first, "let the report be last"),
        (lambda x, weights, norms: 3, "expected a tensor, found an int"),
        (lambda x, weights, norms: ..., "Not begun"),
    ],
)
def test_whole_network(fn, word):
    assert word in repr(course.whole_network(fn))
