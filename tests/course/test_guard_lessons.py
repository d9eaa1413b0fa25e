"""Lessons 03 and 04: a right answer passes, and each wrong one is told its belief."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore.testing import course

PASSED = "Public checks passed."


def by_hand(x, bias):
    return all(
        t.dtype is torch.float32 and t.shape == (4,) and t.stride() == (1,) and not t.requires_grad
        for t in (x, bias)
    ) and torch.is_grad_enabled()


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (by_hand, PASSED),
        (lambda x, bias: len(x) == 4, "on 4 of these 8 calls stale code"),
        (lambda x, bias: by_hand(x, bias) and x.tolist() == [1.0] * 4, "No guard asks for"),
        (lambda x, bias: x.dtype == "float32", "The very inputs that the variant was made for"),
        (lambda x, bias: by_hand(x, bias.contiguous()), "stride 2. Ask for the strides"),
        (lambda x, bias: by_hand(x, x), "bias of stride 2, bias requires_grad. Ask for the"),
        (lambda x, bias: 1, "expected True or False, found 1"),
        (lambda x, bias: ..., "Not begun"),
    ],
)
def test_holds(fn, word):
    assert word in repr(course.holds(fn))


class Cache:
    """The right one; the others change how it finds and keeps."""

    def __init__(self, build):
        self.build, self.variants = build, []

    def find(self, x):
        return next((variant for variant in self.variants if variant[0](x)), None)

    def keep(self, variant):
        self.variants = [variant, *(other for other in self.variants if other is not variant)]

    def __call__(self, x):
        variant = self.find(x) or self.build(x)
        self.keep(variant)
        return variant[1](x)


class InOrder(Cache):
    def keep(self, variant):
        if variant not in self.variants:
            self.variants.append(variant)


class NewLast(Cache):
    def __call__(self, x):
        variant = self.find(x)
        if variant:
            self.keep(variant)
        else:
            self.variants.append(variant := self.build(x))
        return variant[1](x)


class OneSlot(Cache):
    def keep(self, variant):
        self.variants = [variant]


class ByShape(Cache):
    def __call__(self, x):
        if x.shape not in dict(self.variants):
            self.variants.append((x.shape, self.build(x)))
        return dict(self.variants)[x.shape][1](x)


class Careless(Cache):
    def find(self, x):
        found = super().find(x)
        return found or (self.variants[0] if len(self.variants) == 2 else None)


class Curious(Cache):
    def find(self, x):
        fits = [variant for variant in self.variants if variant[0](x)]
        return fits[0] if fits else None


class Oldest(Cache):
    def find(self, x):
        return next((variant for variant in self.variants[::-1] if variant[0](x)), None)


@pytest.mark.parametrize(
    ("cls", "word"),
    [
        (Cache, PASSED),
        (InOrder, "in the order of building"),
        (NewLast, "A new variant is the one used last"),
        (OneSlot, "Something was built twice"),
        (ByShape, "Nobody was asked"),
        (Careless, "Code ran for an input that its guard refuses"),
        (Curious, "You go on asking when one has fitted"),
        (Oldest, "A call asks the variants one by one"),
        (lambda build: lambda x: 3, "expected what the code gives for x, found 3"),
        (lambda build: lambda x: ..., "Not begun"),
    ],
)
def test_cache(cls, word):
    assert word in repr(course.cache(cls))


def five(**changes):
    m = (torch.arange(16) * 1.0).reshape(4, 4)
    right = {
        "first": m, "dtype": m.double(), "stride": m.t(), "rank": torch.ones(4),
        "grad": m.clone().requires_grad_(),
    }  # fmt: skip
    return list({**right, **changes}.values())


@pytest.mark.parametrize(
    ("inputs", "word"),
    [
        (five(), PASSED),
        (five(rank=torch.ones(8, 4)), "Another size is another guard"),
        (five(stride=torch.ones(4, 4).t().double()), "change one thing in each call"),
        (five(rank=torch.ones(4, 4)), "served by a variant that was there already"),
        ([1, 2, 3, 4, 5], "expected a list of five tensors, found int, int"),
        (7, "expected a list of five tensors, found 7"),
        (..., "Not begun"),
    ],
)
def test_five_variants(inputs, word):
    assert word in repr(course.five_variants(inputs))


def in_a_text(x, state):
    n = int(state["count"])
    state["count"] = str(n + 1)
    return x * n


def as_a_number(x, state):
    n = int(state["count"])
    state["count"] = n + 1
    return x * n


def one_ahead(x, state):
    state["n"] = state.get("n", 0) + 1
    return x * state["n"]


def twice(x, state):
    return as_a_number(x, state) * 2


def begins_again(x, state):
    n = state.get("n", 0)
    state["n"] = n + 1
    return x * max(n - 1, 0)


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (as_a_number, PASSED),
        (in_a_text, "a text that was looked at is a constant"),
        (lambda x, state: x * 0, "The count stands still"),
        (begins_again, "The first call has to leave its count"),
        (one_ahead, "One ahead"),
        (twice, "Call n gives x times n - 1"),
        (lambda x, state: 3, "expected a tensor like x, found an int"),
        (lambda x, state: ..., "Not begun"),
    ],
)
def test_settles(fn, word):
    assert word in repr(course.settles(fn))


def mixed(x, verbose):
    y = x * 3
    if verbose:
        print(end="")
    return y.relu()


SIX = ((4, False), (4, False), (8, False), (4, False), (4, True), (4, True))
CALLS = [(torch.ones(n), verbose) for n, verbose in SIX]


def test_outcomes():
    right = ["compile", "hit", "compile", "hit", "break", "break"]
    assert course.outcomes(mixed, CALLS, right).passed
    told = repr(course.outcomes(mixed, CALLS, ["compile"] * 6))
    assert "call 2: expected hit, found compile" in told
    assert "2 of 6 right. In call 2: all guards of a variant hold" in told
    assert "Not begun" in repr(course.outcomes(mixed, CALLS, [...] * 6))
    assert "expected 6 words" in repr(course.outcomes(mixed, CALLS, ["hit"]))
    assert "'break', found 'miss'" in repr(course.outcomes(mixed, CALLS, ["miss"] * 6))
    assert "expected 6 words" in repr(course.outcomes(mixed, CALLS, "hit"))
    assert "expected an answer, found None" in repr(course.outcomes(mixed, CALLS, None))


# ---- lesson 04 ----------------------------------------------------------------------------------


def right_policy(mode, sizes):
    kinds = len(set(sizes))
    return {"static": kinds, "automatic": min(kinds, 2), "dynamic": 1}[mode]


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (right_policy, PASSED),
        (lambda mode, sizes: 1 if mode == "dynamic" else len(set(sizes)), "until one changes"),
        (lambda mode, sizes: len(set(sizes)) if mode == "static" else 1, "cannot know at"),
        (
            lambda mode, sizes: len(sizes) if mode == "static" else right_policy(mode, sizes),
            "A size that comes back",
        ),
        (lambda mode, sizes: right_policy(mode, sizes) + (mode == "static"), "Static: each size"),
        (lambda mode, sizes: 3 if mode == "automatic" else right_policy(mode, sizes), "Automatic:"),
        (lambda mode, sizes: 2 if mode == "dynamic" else right_policy(mode, sizes), "Dynamic:"),
        (lambda mode, sizes: ..., "Not begun"),
    ],
)
def test_policies(fn, word):
    assert word in repr(course.policies(fn))


@pytest.mark.parametrize(
    ("sizes", "word"),
    [
        ([0, 1, 5, 12], PASSED),
        ([12, 1, 10, 0], PASSED),
        ([5, 12, 20, 100], "what about the sizes below"),
        ([0, 1, 5, 6], "both sides of the branch"),
        ([0, 1, 5, 6, 12], "leave those out"),
        ([], "a list of sizes, found []"),
        (["x"], "expected a list of sizes"),
        ([-1, 5], "expected a list of sizes, found [-1, 5]"),
        (..., "Not begun"),
    ],
)
def test_all_variants(sizes, word):
    assert word in repr(course.all_variants(sizes))


def ready(n):
    x = torch.ones(n)
    torch._dynamo.mark_dynamic(x, 0)
    return x


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (ready, PASSED),
        (lambda n: torch.ones(n), "Nothing was said of these tensors"),
        (lambda n: ready(n) if n % 2 else torch.ones(n), "Some of these tensors"),
        (lambda n: torch.ones(16), "Other lengths are other inputs"),
        (lambda n: n, "expected a tensor of n ones, found 2"),
        (lambda n: ..., "Not begun"),
    ],
)
def test_marked(fn, word):
    assert word in repr(course.marked(fn))


@pytest.mark.parametrize(
    ("sizes", "word"),
    [
        ([120, 200, 300], PASSED),
        ([300, 120, 200], PASSED),
        ([128, 256, 512], "Powers of two"),
        ([120, 250, 300], "pads both"),
        ([120, 256, 300], "others pad less"),
        ([100, 120, 200], "300 has to fit as well"),
        ([90, 100, 120, 200, 256, 300], "Three buckets: more of them pad less"),
        (128, "expected a list of bucket sizes, found 128"),
        (..., "Not begun"),
    ],
)
def test_buckets(sizes, word):
    told = repr(course.buckets(sizes))
    assert word in told and (word != PASSED or "padded elements: expected 94, found 94" in told)
