"""From an array to an address, from a text to machine code: what a launch is given."""

from __future__ import annotations

import numpy as np
import pytest

import labcore as torch
from labcore import trace
from labcore.codegen import cache
from labcore.codegen.cuda.cubin import threads_of
from labcore.runtime import cards
from labcore.runtime.card import Kernel
from labcore.tensor.storage import address

from .fake import FakeDriver, paper_card


class Listening(FakeDriver):
    """Notes what is launched, and runs nothing."""

    def launcher(self, function, grid, block):
        self.log.append(("launcher", grid, block))
        return lambda *given: self.log.append(given)


def test_a_launch_gets_addresses_and_numbers(monkeypatch):
    with paper_card(monkeypatch, Listening()) as card:
        kernel = Kernel(card, "k", None)
        x, y = torch.zeros(4, 6).cuda(), torch.zeros(3).cuda()
        card.driver.log.clear()
        part = x.t()[1:, 2:].array
        kernel[(2, 3), 64](x.array, part, 7, 0.5)
        kernel[(2, 3), 64](y.array, part, 8, 0.5)
        kernel[5, (32, 4)](y.array)
        start = x.data_ptr()
        assert card.driver.log == [
            ("launcher", (2, 3), (64,)), (start, start + 4 * (2 * 6 + 1), 7, 0.5),
            (y.data_ptr(), address(part), 8, 0.5), ("launcher", (5,), (32, 4)), (y.data_ptr(),),
        ]


def test_the_host_s_memory_is_no_argument(monkeypatch):
    with paper_card(monkeypatch) as card:
        kernel = Kernel(card, "k", None)
        with pytest.raises(RuntimeError, match="k runs on a card.*the memory of the host"):
            kernel[1, 32](np.zeros(3))
        with pytest.raises(TypeError, match="k takes arrays and numbers, not str"):
            kernel[1, 32]("x")


def test_who_records_gets_steps(monkeypatch):
    with paper_card(monkeypatch):
        x = torch.ones(3).cuda()
        steps, launches = [], []
        with cards.recording_steps(steps), cards.recording(launches, None):
            y = (x + 1) @ torch.eye(3).cuda()
        x + 1
        kinds = [type(step).__name__ for step in steps]
        assert kinds == ["KernelStep", "CallStep"]
        assert [launch.kernel for launch in launches] == ["numba_fused_add_0"]
        assert steps[0].arguments[0] == x.data_ptr() and steps[1].writes == (y.data_ptr(), 12)
        assert not cards.listening.on


def test_kernels_are_kept_on_disk(monkeypatch, tmp_path):
    monkeypatch.setenv("LAB_CACHE_DIR", str(tmp_path / "cache"))
    cache.clear()

    def outcome():
        with paper_card(monkeypatch), trace.record() as events:
            torch.compile(lambda x: torch.softmax(x, -1))(torch.ones(5, 40).cuda())
        (disk,) = events.of(trace.DiskCache)
        (ready,) = events.of(trace.KernelReady)
        return disk.outcome, disk.reason, ready.cached, events.of(trace.Stage)[-1].note

    assert outcome() == ("miss", "absent", False, "1 kernel for a card of paper, compiled")
    assert outcome() == ("hit", "", True, "1 kernel for a card of paper, from disk")
    (kept,) = (tmp_path / "cache").glob("*/kernels.o")
    assert kept.read_bytes() == (kept.parent / "output_code.py").read_bytes()
    kept.chmod(0o666)
    assert outcome()[:2] == ("miss", "not trusted: others may write kernels.o (mode 0666)")
    monkeypatch.setenv("LAB_CACHE", "0")
    assert outcome()[:2] == ("miss", "off: LAB_CACHE=0")


def test_the_threads_of_a_kernel_stand_in_its_launch():
    source = "def call(args):\n    a[(3, n), (32, 8)](x)\n    b[n // 2, 512](x)\n"
    assert threads_of(source) == {"a": 256, "b": 512}
