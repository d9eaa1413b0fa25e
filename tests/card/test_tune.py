"""`mode="max-autotune"`: what is tried, what is chosen, and what the next process knows of it."""

from __future__ import annotations

import re
from dataclasses import asdict

import numpy as np
import pytest

import labcore as torch
from labcore import trace
from labcore.codegen import cache
from labcore.codegen.cuda import choices, trial, tune
from labcore.codegen.cuda.cubin import Refused
from labcore.runtime.driver import OutOfMemory
from labcore.tensor import from_numpy
from labcore.tensor.cuda import card_in_use

from .cards import silicon_card
from .fake import FakeDriver, paper_card


class Clocked(FakeDriver):
    """A launch takes what `price` says of its blocks and their threads, in us."""

    def __init__(self, price):
        super().__init__()
        self.price, self.measured = price, 0

    def run(self, function, grid, block, given):
        self.last = int(np.prod(grid)), int(np.prod(block))
        super().run(function, grid, block, given)

    def timed(self, work):
        work()
        self.measured += 1
        return self.price(*self.last) / 1e6


@pytest.fixture
def clocked(monkeypatch, tmp_path):
    """Makes a card of paper whose clock goes by a price."""
    monkeypatch.setenv("LAB_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(trial, "FLUSH", 1024)
    monkeypatch.setattr(trial, "PATTERN", 64)
    monkeypatch.setattr(tune, "ROUNDS", 1)
    monkeypatch.setattr(tune, "FINAL", 2)
    torch.compiler.cache.clear()

    def made(price):
        return paper_card(monkeypatch, Clocked(price))

    return made


def tuned(function, *given, mode="max-autotune-no-cudagraphs", **options):
    """Compile for the card in use; the result, and what was told."""
    compiled = torch.compile(function, mode=mode, **options)
    with trace.record() as story, torch.no_grad():
        found = compiled(*[t.cuda() for t in given])
    torch.testing.assert_close(found.cpu(), function(*given), rtol=2e-5, atol=2e-5)
    return story


def twice(x):
    return x * 2


def random(*shape):
    return from_numpy(np.random.default_rng(0).standard_normal(shape).astype(np.float32))


def test_the_fastest_form_is_chosen_and_says_so(clocked):
    with clocked(lambda blocks, threads: {256: 100, 128: 70, 64: 50}.get(threads, 90)):
        story = tuned(twice, random(3000))
    (event,), (form,) = story.of(trace.Autotuned), story.of(trace.KernelForm)
    assert (event.outcome, event.us, event.first_us) == ("measured", 50, 100)
    assert event.chosen == "64 threads a block, 4 elements each" and form.block == [64]
    assert form.reason == ("64 threads a block, 4 elements each; measured: 50.0 us against "
                           "100.0 us of 256 threads a block, 4 elements each")
    assert event.tried[0] == ["256 threads a block, 4 elements each", 100, ""]
    assert len({each[0] for each in event.tried}) == len(event.tried) > 4
    text = story.text("autotuning")
    assert "50.0 us  64 threads a block, 4 elements each" in text
    assert re.match(r"numba_fused_mul_0: measured in \d+\.\d s, measured: 50\.0 us against", text)


@pytest.mark.parametrize("price", [
    lambda blocks, threads: 100 if threads == 256 else 98.5,  # less than two in a hundred
    lambda blocks, threads: 10 if threads == 256 else 9.6,  # less than the clock can tell
    lambda blocks, threads: 100 + abs(threads - 256),  # the first one is the fastest
    lambda blocks, threads: 100,  # one is as good as another
], ids=["gain", "tick", "first", "equal"])
def test_the_first_form_stays_where_nothing_is_clearly_faster(clocked, price):
    with clocked(price):
        story = tuned(twice, random(3000))
    (event,), (form,) = story.of(trace.Autotuned), story.of(trace.KernelForm)
    assert event.chosen == "256 threads a block, 4 elements each" and form.block == [256]
    assert event.us == event.first_us and "is 2% faster" in event.reason
    assert form.reason.startswith("pointwise: 4 elements a thread, 256 threads a block; measured")


def test_a_short_kernel_is_not_looked_at_further(clocked):
    with clocked(lambda blocks, threads: 2.0) as card:
        story = tuned(twice, random(3000))
        assert card.driver.measured == 1
    (event,) = story.of(trace.Autotuned)
    assert event.reason == "measured: 2.0 us, too short to choose by" and len(event.tried) == 1


def test_the_next_process_finds_the_choice_on_disk(clocked):
    price = lambda blocks, threads: threads
    with clocked(price):
        tuned(twice, random(3000))
    with clocked(price) as card:  # a card that remembers nothing
        story = tuned(twice, random(3000))
        assert card.driver.measured == 0
        (event,) = story.of(trace.Autotuned)
        assert event.outcome == "known" and event.us == 64 and event.tried
        other = tuned(twice, random(5000)).of(trace.Autotuned)[0]
        assert other.outcome == "measured"  # another grid
    info = torch.compiler.cache.info()
    assert (info.forms, info.forms_found, info.forms_measured) == (2, 1, 2) and info.entries == 2
    assert "2 measured forms of kernels: 1 found, 2 measured" in str(info)
    assert torch.compiler.cache.clear() == 4 and torch.compiler.cache.info().forms == 0


def test_another_card_measures_for_itself(clocked, monkeypatch):
    with clocked(lambda blocks, threads: threads):
        tuned(twice, random(3000))
    monkeypatch.setattr(FakeDriver, "name", "another card")
    with clocked(lambda blocks, threads: 1000 - threads):
        (event,) = tuned(twice, random(3000)).of(trace.Autotuned)
    assert event.outcome == "measured" and event.chosen.startswith("1024 threads")


def test_one_process_measures_once_without_a_disk(clocked, monkeypatch):
    monkeypatch.setenv("LAB_CACHE", "0")
    with clocked(lambda blocks, threads: threads) as card:
        (event,) = tuned(twice, random(3000)).of(trace.Autotuned)
        assert event.reason.endswith("not kept: LAB_CACHE=0")
        before = card.driver.measured
        tuned(lambda x: x * 2, random(3000))
        assert card.driver.measured == before > 0


def test_a_cache_that_is_cleared_forgets_what_was_measured(clocked):
    with clocked(lambda blocks, threads: threads):
        outcomes = []
        for function in (lambda x: x * 2, lambda x: x * 2, lambda x: x * 2):
            (event,) = tuned(function, random(3000)).of(trace.Autotuned)
            outcomes.append(event.outcome)
            if len(outcomes) == 2:
                assert torch.compiler.cache.clear() == 2
                assert torch.compiler.cache.info().forms == 0
    assert outcomes == ["measured", "known", "measured"]
    assert torch.compiler.cache.info().forms == 1


@pytest.mark.parametrize("damage", [
    lambda text: text[:-3],
    lambda text: text.replace('"threads": 64', '"threads": 128'),
    lambda text: "[]",
    lambda text: text.replace('"side"', '"sides"'),
])
def test_a_damaged_choice_is_measured_anew(clocked, damage):
    price = lambda blocks, threads: threads
    with clocked(price):
        tuned(twice, random(3000))
    (path,) = torch.compiler.cache.info().folder.glob(f"{cache.FORM}*/manifest.json")
    path.write_text(damage(path.read_text()))
    with clocked(price):
        (event,) = tuned(twice, random(3000)).of(trace.Autotuned)
    assert event.outcome == "measured" and event.chosen.startswith("64 threads")


def test_what_others_may_write_is_not_read(clocked):
    with clocked(lambda blocks, threads: threads):
        tuned(twice, random(3000))
    (entry,) = torch.compiler.cache.info().folder.glob(f"{cache.FORM}*")
    assert choices.find(entry.name) is not None
    entry.chmod(0o777)
    assert choices.find(entry.name) is None
    entry.chmod(0o700)


def test_sizes_that_are_symbols_are_those_of_the_first_call(clocked):
    with clocked(lambda blocks, threads: threads):
        story = tuned(twice, random(3000), dynamic=True)
        (event,), (form,) = story.of(trace.Autotuned), story.of(trace.KernelForm)
        assert event.sizes == "s0=3000" and "measured at s0=3000: 64.0 us" in form.reason
        near, far = (tuned(lambda x: x * 2, random(n), dynamic=True).of(trace.Autotuned)[0]
                     for n in (2500, 5000))
    assert (near.outcome, near.sizes) == ("known", "s0=3000")
    assert (far.outcome, far.sizes) == ("measured", "s0=5000")


def test_what_is_known_of_a_length_serves_others_near_by(clocked):
    softmax = lambda x: torch.softmax(x, -1)
    with clocked(lambda blocks, threads: 100):
        for columns, outcome in ((600, "measured"), (700, "known")):
            story = tuned(lambda x: softmax(x), random(3, columns), dynamic=True)
            (event,), (form,) = story.of(trace.Autotuned), story.of(trace.KernelForm)
            assert event.outcome == outcome and "s1=600" in event.sizes
            assert f"rows of s1, {columns} at first" in form.reason
            assert "none of" in form.reason and "against" not in form.reason


def test_forms_that_spill_are_left_out(clocked, monkeypatch):
    from labcore.codegen.cuda import build

    with clocked(lambda blocks, threads: threads):
        compile_text = build.compile_source

        def spilling(source, cc):
            found = compile_text(source, cc)
            few = {name for name in found if f"{name}[12, 128]" in source}
            return {name: type(c)(**{**asdict(c), "spills": 96 * (name in few)})
                    for name, c in found.items()}

        monkeypatch.setattr(build, "compile_source", spilling)
        (event,) = tuned(twice, random(6000)).of(trace.Autotuned)
    dropped = {form: why for form, _, why in event.tried if why}
    assert dropped == {"128 threads a block, 4 elements each": "96 spilled"}
    assert event.chosen == "256 threads a block, 4 elements each"


def test_forms_that_the_assembler_refuses_are_left_out(clocked, monkeypatch):
    from labcore.codegen.cuda import build

    with clocked(lambda blocks, threads: threads):
        compile_text = build.compile_source

        def refusing(source, cc):
            if "[12, 128]" in source:
                raise Refused("nvJitLinkError: too much shared memory\nand more")
            return compile_text(source, cc)

        monkeypatch.setattr(build, "compile_source", refusing)
        (event,) = tuned(twice, random(6000)).of(trace.Autotuned)
        assert [why for *_, why in event.tried if why] == [
            "refused: nvJitLinkError: too much shared memory"]
        assert len(event.tried) > 3

        def mistaken(source, cc):  # an error of the lab's own is told, not measured around
            if "[12, 128]" in source:
                raise KeyError("threads")
            return compile_text(source, cc)

        monkeypatch.setattr(build, "compile_source", mistaken)
        with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match="threads"):
            torch.compile(lambda x: x * 3, mode="max-autotune")(random(6000).cuda())

        monkeypatch.setattr(build, "compile_source", lambda *given: 1 / 0)
        with pytest.raises(torch._dynamo.exc.BackendCompilerFailed):
            torch.compile(twice, mode="max-autotune")(random(7000).cuda())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int64", "bool"])
def test_operands_of_every_type(clocked, dtype):
    given = (random(700) * 9).to(getattr(torch, dtype))
    with clocked(lambda blocks, threads: threads):
        story = tuned(lambda x: torch.where(x > 0, x, x + x), given)
    assert story.of(trace.Autotuned)[0].outcome == "measured"


def test_both_graphs_of_a_step_of_training_are_tuned_also_for_sizes_that_are_symbols(clocked):
    def loss(x, w, by):
        return (torch.softmax(x * w * by, -1) ** 2).sum()

    with clocked(lambda blocks, threads: threads):
        compiled = torch.compile(loss, mode="max-autotune", dynamic=True)
        with trace.record() as story:
            for rows, by in ((40, 0.5), (50, 1.5), (60, 2.5)):
                x, w = random(rows, 20), random(20).requires_grad_()
                there, scale = x.cuda(), w.detach().cuda().requires_grad_()
                compiled(there, scale, by).backward()
                loss(x, w, by).backward()
                torch.testing.assert_close(scale.grad.cpu(), w.grad, rtol=1e-4, atol=1e-5)
    told = story.of(trace.Autotuned)
    assert {event.outcome for event in told} <= {"measured", "known"} and len(told) >= 3
    assert any("s0=" in event.sizes for event in told)


def test_where_operands_find_no_room_sizes_choose(clocked, monkeypatch):
    def full(*given):
        raise OutOfMemory("full")

    with clocked(lambda blocks, threads: threads):
        monkeypatch.setattr(trial, "_filled", full)
        story = tuned(twice, random(3000))
    (event,), (form,) = story.of(trace.Autotuned), story.of(trace.KernelForm)
    assert (event.outcome, form.block) == ("skipped", [256]) and "no room" in event.reason


def test_what_was_measured_on_goes_back_before_sizes_choose(clocked, monkeypatch):
    filled, reserved = trial._filled, []

    def full(*given):
        if not reserved:
            reserved.append(torch.cuda.memory_reserved())
            return filled(*given)
        raise OutOfMemory("full")

    with clocked(lambda blocks, threads: threads):
        x = random(3000).cuda()
        monkeypatch.setattr(trial, "_filled", full)
        describe = tune.describe

        def described(form):  # the first thing that is done after the exception was caught
            reserved.append(torch.cuda.memory_reserved())
            return describe(form)

        monkeypatch.setattr(tune, "describe", described)
        with trace.record() as story:
            torch.compile(twice, mode="max-autotune-no-cudagraphs")(x)
    assert story.of(trace.Autotuned)[0].outcome == "skipped"
    assert reserved[0] == reserved[1]


def test_what_cannot_be_measured_says_why(clocked):
    chosen = torch.tensor([3, 1, 2])
    with clocked(lambda blocks, threads: threads) as card:
        (event,) = tuned(lambda x: torch.index_select(x, 0, chosen.to(x.device)) * 2,
                         random(7, 9)).of(trace.Autotuned)[-1:]
        assert event.outcome == "skipped" and "in its data" in event.reason
        assert card.driver.measured == 0


def test_replays_come_with_the_mode(clocked):
    with clocked(lambda blocks, threads: threads):
        compiled = torch.compile(twice, mode="max-autotune")
        x = random(3000).cuda()
        with trace.record() as story, torch.no_grad(), torch.cuda.record() as launches:
            for _ in range(3):
                assert (compiled(x).cpu().numpy() == 2 * x.cpu().numpy()).all()
        assert [e.outcome for e in story.of(trace.CudaGraph)] == ["recorded"]
        assert {launch.block for launch in launches} == {(64,)}  # what was tried is nobody's launch
    with clocked(lambda blocks, threads: threads):
        assert not tuned(twice, random(3000)).of(trace.CudaGraph)


def test_nothing_of_the_program_s_own_is_touched(clocked):
    def step(x, w):
        x.mul_(2).add_(w)
        return x.sum(0)

    with clocked(lambda blocks, threads: threads):
        x, w = random(40, 30), random(30)
        compiled = torch.compile(step, mode="max-autotune-no-cudagraphs")
        there, want = x.cuda(), x.clone()
        found = compiled(there, w.cuda())
        assert card_in_use().driver.measured > 0
        torch.testing.assert_close(found.cpu(), step(want, w), rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(there.cpu(), want)


def test_a_card_without_a_clock_says_that_nothing_was_measured():
    for driver in (False, True):
        torch.cuda.simulate(driver=driver)
        story = tuned(lambda x: torch.softmax(x, -1), random(5, 40))
        torch.cuda.simulate(False)
        (event,) = story.of(trace.Autotuned)
        assert event.outcome == "skipped" and "has no clock: sizes choose the form" in event.reason
        assert event.chosen == "4 warps a block, each a row, 24 registers beside the row"


def test_on_the_host_there_is_nothing_to_choose_from():
    compiled = torch.compile(twice, mode="max-autotune")
    with trace.record() as story:
        assert compiled(torch.ones(3)).tolist() == [2.0] * 3
    (event,) = story.of(trace.Autotuned)
    assert event.outcome == "skipped" and "kernels of the host have one form" in event.reason


def test_silicon_measures_and_is_right(monkeypatch, tmp_path):
    monkeypatch.setenv("LAB_CACHE_DIR", str(tmp_path / "cache"))
    with silicon_card():
        for function, shape in ((lambda x: torch.softmax(x, -1), (4096, 1024)),
                                (lambda x: (x + 1).sum(0), (4096, 512)),
                                (lambda x: x.t() + 1, (2048, 1024)),
                                (lambda x: x.sum(), (1 << 22,))):
            (event, *_) = tuned(function, random(*shape)).of(trace.Autotuned)
            assert event.outcome == "measured" and 1 < event.us <= event.first_us
            (again, *_) = tuned(function, random(*shape)).of(trace.Autotuned)
            assert again.outcome == "known"
