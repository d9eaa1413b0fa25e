"""The artifacts' texts, and the log that prints them."""
from __future__ import annotations

import pytest

from labcore import trace
from labcore.compiler import logs
from labcore.trace.origin import Origin
from labcore.trace.text import ARTIFACTS, render


def test_a_guard_names_its_line() -> None:
    size = trace.GuardRecord(
        "SIZE_MATCH", "x", "x.size() == (4,)", "x.shape == (4,)", "(4,)", Origin("<gone>", 2)
    )
    mode = trace.GuardRecord("GRAD_MODE", "", "grad=True", "mode.grad is True")
    assert render(trace.GuardsInstalled([size, mode], ""), "guards") == (
        "x.size() == (4,)  # SIZE_MATCH, line 2:\ngrad=True         # GRAD_MODE"
    )


def test_the_first_compile_is_no_recompile() -> None:
    assert render(trace.CacheMiss(0, 0, 0, []), "recompiles") == ""
    text = render(trace.CacheMiss(1, 0, 1, ["0/0: tensor 'x' size mismatch"]), "recompiles")
    assert text == "recompiling: 1 variant(s) asked\n- 0/0: tensor 'x' size mismatch"


def test_a_decision_says_what_would_flip_it() -> None:
    apart = trace.Fusion(
        "add", "sum", False, "different iteration space", "4 against 8.", 0, "the shapes agreed"
    )
    assert render(apart, "fusion") == (
        "add + sum: kept apart, different iteration space. 4 against 8. It would be\n"
        "    fused if the shapes agreed."
    )
    fused = trace.Fusion("add", "relu", True, "producer and consumer", "", 32, "")
    assert render(fused, "fusion") == "add + relu: fused, producer and consumer, saves 32 bytes."


def test_a_saved_value_says_by_which_rule() -> None:
    choice = trace.PartitionChoice("tanh", True, "output", "it is returned", 16, "it were not")
    assert render(choice, "partition") == (
        "tanh: saved, 16 bytes, output: it is returned. It would be computed again if\n"
        "    it were not."
    )
    choice = trace.PartitionChoice("x", True, "input", "no source", 16, "mul did not read it")
    assert render(choice, "partition") == (
        "x: saved, 16 bytes, input: no source. It would be let go if mul did not read\n    it."
    )
    choice = trace.PartitionChoice("mul", False, "cheap", "it joins a loop", 16, "it did not")
    assert render(choice, "partition") == (
        "mul: computed again, cheap: it joins a loop. It would be saved if it did not."
    )


def test_a_schedule_lists_its_steps() -> None:
    steps = [
        trace.StepRecord("call", ["matmul"], ["x", "w"], ["matmul"], 192),
        trace.StepRecord("kernel", ["add", "relu"], ["matmul"], ["relu"], 128),
    ]
    assert render(trace.Scheduled("inference", [], steps, 320, 448), "schedule") == (
        "# inference: 320 bytes moved, 448 by separate passes\n"
        "0 call matmul: reads x, w; writes matmul; 192 bytes\n"
        "1 kernel add + relu: reads matmul; writes relu; 128 bytes"
    )


def test_forms_of_kernels_and_what_was_tried() -> None:
    form = trace.KernelForm("numba_fused_sum_0", "columns", "8 blocks walk", ["2", "8"], [32, 8])
    assert render(form, "forms") == "numba_fused_sum_0[(2, 8), (32, 8)]: columns, 8 blocks walk"
    tried = [["8 blocks", 12.5, ""], ["16 blocks", 7.0, ""], ["32 blocks", 0.0, "96 spilled"]]
    event = trace.Autotuned("numba_fused_sum_0", "measured", "measured: 7.0 us against 12.5 us of "
                            "8 blocks", "16 blocks", 7.0, 12.5, tried, "", 3.21)
    assert render(event, "autotuning") == (
        "numba_fused_sum_0: measured in 3.2 s, measured: 7.0 us against 12.5 us of 8\n"
        "    blocks\n"
        "     12.5 us  8 blocks\n"
        "      7.0 us  16 blocks\n"
        "  96 spilled  32 blocks"
    )
    event.outcome, event.tried = "known", []
    assert render(event, "autotuning").startswith("numba_fused_sum_0: known, measured: 7.0 us")


def test_memory_is_drawn_as_bars() -> None:
    lives = [
        trace.LifeRecord("matmul", 64, 0, 1, "matmul", "new"),
        trace.LifeRecord("relu", 64, 1, 2, "matmul", "in place"),
    ]
    event = trace.MemoryPlanned("inference", lives, [64, 64], 64, 128)
    assert render(event, "memory") == (
        "# inference: 64 bytes at most, 128 if none were used again\n"
        "matmul  64 bytes  ==  new\n"
        "relu    64 bytes  .=  in place, memory of matmul"
    )
    event.live = [64] * 50
    assert "relu    64 bytes  steps 1 to 2" in render(event, "memory")


def test_an_event_belongs_only_to_its_artifacts() -> None:
    event = trace.LoopIR("forward", "pre_fusion", "for i0 < 4:\n")
    texts = {name: render(event, name) for name in ARTIFACTS}
    assert texts.pop("ir_pre_fusion") == "# forward\nfor i0 < 4:"
    assert not any(texts.values())


def test_the_log_prints_under_the_compile_id(capsys) -> None:
    logs.set_logs(cache=True)
    try:
        trace.emit(trace.DiskCache("key", "miss", "absent", compile_id="0/1"))
        trace.emit(trace.Execute(0, True))
    finally:
        logs.set_logs()
    trace.emit(trace.DiskCache("key", "hit"))
    assert capsys.readouterr().err == "[0/1] [cache] disk cache miss: absent\n"


def test_an_unknown_artifact_is_refused(monkeypatch) -> None:
    with pytest.raises(
        ValueError, match="unknown artifact 'gaurds'; there are: graph_code, guards"
    ):
        logs.set_logs(gaurds=True)
    monkeypatch.setenv("LAB_LOGS", "guards,nonsense")
    with pytest.raises(ValueError, match="LAB_LOGS: unknown artifact 'nonsense'"):
        logs.activate_from_environment()
    with pytest.raises(ValueError, match="unknown artifact"):
        trace.Recorder().text("nonsense")


def test_facts_are_counted_from_events() -> None:
    events = [
        trace.CallEnd(0, "compiled"), trace.CallEnd(1, "hit"), trace.GraphCaptured("", []),
        trace.Accesses("inference", 28, 12, 112, 48), trace.KernelReady("k", "", "", False),
        trace.AotGraph("joint", "", ["relu"], 16), trace.AotGraph("forward", "", ["relu"], 16),
        trace.DiskCache("key", "hit"),
    ]
    facts = trace.facts(events)
    assert (facts.captures, facts.compiled, facts.hits, facts.kernels) == (1, 1, 1, 1)
    assert (facts.separate, facts.fused, facts.saved_bytes, facts.disk_hits) == (28, 12, 16, 1)
    assert str(trace.facts([])) == ""
