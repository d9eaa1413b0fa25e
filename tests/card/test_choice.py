"""Which card "cuda" is, and what is said where there is none."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore import cuda
from labcore.codegen.cuda.eager import carry
from labcore.runtime import driver
from labcore.runtime.card import SiliconCard
from labcore.tensor.cuda import card_in_use, install

from .fake import FakeDriver, paper_card


@pytest.fixture(autouse=True)
def nothing_in_use(monkeypatch):
    monkeypatch.setattr(cuda, "_silicon", None)
    install(None, None)
    yield
    install(None, None)


@pytest.mark.parametrize("missing", [
    "the extra `cuda` is not installed",
    "NVIDIA's driver is not installed (there is no libcuda.so.1)",
])
def test_without_a_card_the_error_says_what_to_do(monkeypatch, missing):
    monkeypatch.setattr(driver, "why_not", lambda: missing)
    assert not torch.cuda.is_available() and torch.cuda.device_count() == 0
    for wanted in (lambda: torch.zeros(3, device="cuda"), lambda: torch.ones(2).cuda(),
                   lambda: torch.device("cuda"), torch.cuda.synchronize):
        with pytest.raises(RuntimeError) as found:
            wanted()
        text = str(found.value)
        assert missing in text and "--extra cuda" in text and "labcore.cuda.simulate()" in text


def test_devices_that_are_none():
    with pytest.raises(RuntimeError, match="device 'tpu' is not available"):
        torch.device("tpu")
    with pytest.raises(RuntimeError, match="device 'cuda:1' is not available"):
        torch.device("cuda", 1)


def test_the_machine_s_card_is_looked_for_when_it_is_wanted(monkeypatch):
    opened = []
    monkeypatch.setattr(driver, "open_driver", lambda: opened.append(1) or FakeDriver())
    torch.zeros(3)
    assert not opened
    assert torch.zeros(3).cuda().cpu().tolist() == [0.0, 0.0, 0.0]
    assert torch.cuda.get_device_name() == "a card of paper" and opened == [1]
    assert torch.cuda.get_device_capability() == (9, 0)


def test_the_simulated_card_is_taken_when_it_is_asked_for(monkeypatch):
    with paper_card(monkeypatch) as paper:
        torch.cuda.simulate()
        assert card_in_use() is not paper
        assert torch.cuda.get_device_name() == "the grid simulator"
        with pytest.raises(RuntimeError, match="the simulated card has the host's memory"):
            torch.cuda.memory_allocated()
        torch.cuda.simulate(False)
        assert card_in_use() is None


def test_tensors_and_functions_stay_where_they_were_made(monkeypatch, tmp_path):
    monkeypatch.setenv("LAB_CACHE_DIR", str(tmp_path / "cache"))
    compiled = torch.compile(lambda x: x * 2 + 1)
    torch.cuda.simulate()
    old = torch.ones(3).cuda()
    compiled(old)
    with paper_card(monkeypatch) as paper:
        assert isinstance(paper, SiliconCard)
        new = torch.ones(3).cuda()
        with pytest.raises(RuntimeError, match="arrays lies in the memory of the simulated card"):
            old + 1
        with pytest.raises(RuntimeError, match="arrays lies in the memory of a card of silicon"):
            compiled(new)
        install(paper, carry)
        assert (old.cpu().tolist(), new.cpu().tolist()) == ([1.0] * 3, [1.0] * 3)
