"""Events survive JSON, and sinks hear them in order."""
from __future__ import annotations

import json
from dataclasses import MISSING, fields

import pytest

from labcore import trace
from labcore.trace import events
from labcore.trace.origin import Origin

ORIGIN = Origin("block.py", 2, 11, 2, 19, "block")
SAMPLES = {
    "int": 3,
    "bool": True,
    "str": "text",
    "float": 0.5,
    "list[str]": ["a", "b"],
    "dict[str, str]": {"x": "float32[4]"},
    "list[list[Any]]": [["relu", 2]],
    "list[GuardRecord]": [
        events.GuardRecord("SIZE", "x", "x.size() == (4,)", "x.shape == (4,)", "(4,)", ORIGIN)
    ],
    "list[list[str]]": [["lazy", "x"]],
    "list[int]": [3],
    "list[FrameRecord]": [
        trace.FrameRecord("block", "block.py", 1, 2, 8, [["x", "float32[4]"]], ["range_iterator"])
    ],
    "list[WalkedCode]": [trace.WalkedCode("block", "block.py", 1, [[2, 2, "LOAD_FAST x", 0]])],
    "list[NodeRecord]": [
        trace.NodeRecord("add", "call_function", "add", ["x", "1"], ["x"], "float32[4]", [[0, 2]])
    ],
    "list[BufferAccesses]": [trace.BufferAccesses("x", 4, 0, 4, 0)],
    "list[LoopRecord]": [
        trace.LoopRecord("relu", "relu", "pointwise", ["4"], ["x"], 16, ["add", "relu"], [2], "")
    ],
    "list[StepRecord]": [trace.StepRecord("kernel", ["relu"], ["x"], ["relu"], 32)],
    "list[LifeRecord]": [trace.LifeRecord("relu", 16, 0, 1, "relu", "new")],
    "Origin | None": ORIGIN,
    "list[Origin]": [ORIGIN],
}


def sample(cls: type[events.Event]) -> events.Event:
    given = {f.name: SAMPLES[str(f.type)] for f in fields(cls)}
    return cls(**given)


@pytest.mark.parametrize("cls", events.KINDS.values(), ids=lambda c: c.__name__)
def test_every_event_survives_json(cls: type[events.Event]) -> None:
    event = sample(cls)
    text = json.dumps(event.to_json())
    assert trace.from_json(json.loads(text)) == event


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(KeyError):
        trace.from_json({"kind": "Nonsense"})


def test_every_event_can_be_made_without_its_compile_id() -> None:
    for cls in events.KINDS.values():
        required = [
            f.name for f in fields(cls) if f.default is MISSING and f.default_factory is MISSING
        ]
        assert "compile_id" not in required


def test_events_are_stamped_with_the_variant_being_compiled() -> None:
    with trace.record() as recorder, trace.compiling("0/1"):
        trace.emit(trace.Stage("capture", 0.1))
        with trace.compiling("1/0"):
            trace.emit(trace.Stage("capture", 0.2))
        trace.emit(trace.Stage("fusion", 0.3, compile_id="7/7"))
        assert trace.current_compile_id() == "0/1"
    assert [e.compile_id for e in recorder.events] == ["0/1", "1/0", "7/7"]
    assert trace.current_compile_id() == ""


def test_a_recorder_hears_only_while_it_is_open() -> None:
    before = trace.listening()
    with trace.record() as outer:
        assert trace.listening()
        with trace.record() as inner:
            trace.emit(trace.Execute(0, True))
        trace.emit(trace.Execute(1, True))
    assert trace.listening() == before
    assert [e.call for e in outer.of(trace.Execute)] == [0, 1]
    assert [e.call for e in inner.of(trace.Execute)] == [0]


def test_a_saved_trace_is_the_same_trace(tmp_path) -> None:
    recorder = trace.Recorder([sample(cls) for cls in events.KINDS.values()])
    recorder.save(tmp_path / "trace.jsonl")
    assert trace.Recorder.load(tmp_path / "trace.jsonl").events == recorder.events
