"""One captured region: from a call, or from where its frames stand, to a graph and the text of a
variant.

In: a Python function, the values of one call or its frames.  Out: a `Region`: graph, example
inputs, guards, source, and where it stopped.
Invariant: guards come first in the source, then the graph, then the making of the result or of the
frames; nothing else runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

from .. import dtypes
from ..graph import GraphModule, verify
from ..guards import EAGER, MISS, End, Guard, GuardBuilder, Mismatch
from ..guards.builder import Load, variant_source
from ..guards.order import in_order
from ..tensor.modes import mode, usual
from .breaks import Break, WouldRaise
from .frames import NULL, UNBOUND, Frame, Stop, leave
from .interpreter import Interpreter
from .interpreter.letting_go import half_done
from .leaving import Leaving
from .numbers import NOTHING_VARIES, Numbers, Varying
from .overwriting import (
    Shared,
    SharedMemory,
    apart,
    finish,
    overwrite,
    overwrite_recorded,
    record_view,
    unrecord,
    written,
)
from .skipping import CaptureAgain
from .unused import check_unused
from .variables import NumberVariable, TensorVariable
from .watch import Watch

RESERVED = {
    "MISS": MISS,
    "EAGER": EAGER,
    "End": End,
    "NULL": NULL,
    "UNBOUND": UNBOUND,
    "Frame": Frame,
    "leave": leave,
    "mode": mode,
    "usual": usual,
    "overwrite": overwrite,
    "overwrite_recorded": overwrite_recorded,
    "written": written,
    "record_view": record_view,
    "unrecord": unrecord,
    "apart": apart,
    "dtypes": dtypes,
    "graph": None,
    "variant": None,
}


@dataclass
class Region:
    """What was captured. `graph_module` is None when no tensor operator is needed; `stop` says
    where and why it ended before the outermost frame did.

    `eager`: it could not even begin, so CPython runs the call, or the frame, from here on; or it
    `raises`, and nobody catches that.
    """

    builder: GuardBuilder
    parameters: tuple[str, ...]
    graph_module: GraphModule | None
    inputs: list[Any]  # numbers, then tensors
    stop: Break | None
    body: list[str]
    eager: bool = False
    raises: WouldRaise | None = None
    catches: bool = False  # code that was walked has an except or a with
    ends: list[tuple[CodeType, int]] = field(default_factory=list)  # where frames stand at `stop`
    watch: Watch | None = None  # who looked on
    numbers: Numbers | None = None  # those that are inputs of the graph
    strict: bool = False  # it ends under error_on_graph_break(True)

    @property
    def symbolic(self) -> bool:
        """Has the graph inputs that are numbers?"""
        return self.graph_module is not None and bool(self.graph_module.graph.numbers)

    def seal(self) -> None:
        """The variant is about to be printed: nothing more can be assumed of the numbers."""
        if self.numbers is not None:
            self.numbers.env.frozen = True

    @property
    def result(self) -> str:
        return "eager" if self.eager else "graph"

    @property
    def source(self) -> str:
        """The variant as Python. `graph` in its scope is what the backend returned."""
        what = "result" if self.stop is None or self.eager else "frames"
        title = what if self.graph_module is None else f"graph and {what}"
        return variant_source(self.parameters, self.steps, self.body, title, self.builder.scope)

    @property
    def steps(self) -> list[Load | Guard]:
        """Loads and guards as the check asks them."""
        return in_order(self.builder.steps, self.parameters)

    @property
    def summary(self) -> str:
        """What capture did, in a line."""
        count = f"{len(self.builder.guards)} guards"
        if self.raises is not None:
            return f"it raises, which is CPython's to do; {count}"
        if self.eager and self.stop is not None:
            return f"stopped: {self.stop.what}; {count}"
        calls = self.graph_module.graph.calls if self.graph_module else []
        names = ", ".join(node.target_name for node in calls) or "no tensor operator"
        end = f", up to {self.stop.what}" if self.stop is not None else ""
        return f"bytecode to a graph: {names}{end}, and {count}"


def capture(
    function: FunctionType,
    values: tuple[Any, ...],
    frames: Sequence[Frame] = (),
    varying: Varying = NOTHING_VARIES,
) -> Region:
    """Capture one call, or from where its `frames` stand.

    `varying` names values that were other ones at other times.
    """
    halt: Break | None = None
    shared = Shared()
    while True:
        builder = GuardBuilder(RESERVED)
        _global_state(builder)
        vm = Interpreter(function, values, builder, frames, varying, halt)
        vm.operators.shared = shared
        try:
            return _region(vm)
        except SharedMemory:
            pass
        except CaptureAgain:
            halt = None
        except Break as late:
            if late.step is None or vm.halt_step is not None and late.step >= vm.halt_step:
                return _eager(vm, late)
            vm.locate(late)
            halt = _let_go(late)
        except WouldRaise as raised:
            return _eager(vm, None, raised)
        finally:
            vm.forget()


def _let_go(stop: Break) -> Break:
    """Without its traceback: that has frames of capture, and with them the user's values."""
    stop.__context__ = stop.__cause__ = None
    return stop.with_traceback(None)


def _region(vm: Interpreter) -> Region:
    """One attempt. Raises Break for what should have been stopped before."""
    captured = vm.run()
    stop, builder = captured.stop, vm.builder
    if stop is not None:
        _let_go(stop)
    if stop is not None and not captured.standing:
        return _eager(vm, stop)
    if stop is not None and stop.step is not None and not vm.halted:
        stop.half_done = None
        raise stop
    if (generator := half_done(vm.generators)) is not None:
        left = Break("generator", name=generator.title)
        left.step = vm.born.get(generator)
        raise left
    way_out = Leaving(builder, vm.looker, vm.operators.tracer.memory, vm.modes, vm.born)
    if stop is None:
        assert captured.result is not None
        last = f"return {way_out.finish(captured.result)}"
    else:
        last = _stop(vm, way_out, stop)
    check_unused(vm.operators.tracer, way_out.outputs, None if stop is None else vm.step)
    vm.looker.finish(vm.operators.tracer.memory.writes_inputs)
    finish(vm.operators.tracer.memory, vm.looker, vm.operators.shared)
    module, inputs, call = _graph(vm, way_out)
    body = [*call, *way_out.first, *way_out.lines, last]
    builder.origin = None  # what a backend assumes has no instruction of its own
    region = Region(builder, vm.parameters, module, inputs, stop, body, catches=vm.catches)
    region.numbers, region.strict = vm.looker.numbers, vm.strict
    if vm.watch is not None:
        region.watch = vm.watch
        region.ends = [(frame.code, frame.offset) for frame in vm.frames] if stop else []
    return region


def _stop(vm: Interpreter, way_out: Leaving, stop: Break) -> str:
    """Leave the frames where they stand."""
    last = vm.frames[-1]
    frames = way_out.stop(vm.frames, len(vm.reals))
    name = vm.builder.constant(Stop(last.code, last.offset, stop.half_done is not None), "STOP")
    return f"return {name}" if vm.reals else f"return End({name}, {frames})"


def _eager(vm: Interpreter, stop: Break | None, raised: WouldRaise | None = None) -> Region:
    """CPython runs it: nothing was captured, or it raises out of the outermost frame."""
    if stop is not None:
        vm.locate(stop)
        _let_go(stop)
    if raised is not None:
        raised.origin = vm.origin()
        raised.let_go()
    region = Region(vm.builder, vm.parameters, None, [], stop, ["return EAGER"], eager=True)
    region.raises, region.watch, region.strict = raised, vm.watch, vm.strict
    return region


def _graph(vm: Interpreter, way_out: Leaving) -> tuple[GraphModule | None, list[Any], list[str]]:
    """Close the graph: its outputs are what the result needs, its inputs what those need."""
    graph = vm.operators.tracer.graph
    nodes = list(way_out.outputs)
    if not nodes:
        return None, [], []
    graph.output(tuple(nodes))
    graph.eliminate_dead_code()
    placeholders = vm.operators.placeholders
    used = [tensor for node, tensor in placeholders.items() if node.users]
    for node in placeholders:
        if not node.users:
            graph.erase_node(node)
    numbers = vm.looker.numbers.add_inputs()
    verify(graph)
    results = ", ".join(way_out.outputs.values()) + ("," if len(nodes) == 1 else "")
    inputs: list[NumberVariable | TensorVariable] = [*numbers, *used]
    call = f"{results} = graph({', '.join(given.home for given in inputs)})"
    module = GraphModule(graph, name=vm.function.__name__, overwritten=_overwritten(vm, way_out))
    return module, [given.value for given in inputs], [call]


def _overwritten(vm: Interpreter, way_out: Leaving) -> dict[str, int | None]:
    """The inputs that are written after the graph, and which output holds their new contents, if it
    is for nothing else: then it may as well be written where the input lies."""
    places = {node: place for place, node in enumerate(way_out.outputs)}
    return {
        root.name: None if recorded or contents in way_out.handed_out else places[contents]
        for root, contents, _, recorded in vm.operators.tracer.memory.overwritten()
    }


def _global_state(builder: GuardBuilder) -> None:
    """Whether operators are recorded, and what a Python float becomes: every operator looks at
    these."""
    grad, inference = mode.grad, mode.inference
    default = builder.constant(dtypes.default, dtypes.default.name)
    code = f"mode.grad is {grad} and mode.inference is {inference} and dtypes.default is {default}"
    if grad and not inference and dtypes.default is dtypes.float32:
        code = f"not usual.left or {code}"
    expected = f"grad={grad}, inference={inference}, default dtype {dtypes.default.name}"

    def mismatch(value: Any) -> Mismatch:
        actual = (
            f"grad={mode.grad}, inference={mode.inference}, default dtype {dtypes.default.name}"
        )
        return Mismatch(
            expected, actual, f"global state changed. expected {expected}, actual {actual}"
        )

    builder.add(Guard("GRAD_MODE", "global state", code, "mode", expected, mismatch))
