"""What the compiler reports: one small dataclass an event, JSON in and out.

In: facts, from every stage.  Out: events that logs, `explain`, widgets and checks read.
Invariant: an event holds plain data only (numbers, text, lists, `Origin`), so a trace survives the
process that made it.
`compile_id` is `frame/variant` as in PyTorch ("0/1" is code 0, variant 1); `emit` fills it in while
that variant is built.
"""
from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar

from .origin import Origin

KINDS: dict[str, type[Event]] = {}


@dataclass
class Event:
    """Base of all events; `kind` names the class in JSON."""

    kind: ClassVar[str] = ""
    compile_id: str = field(default="", kw_only=True)

    def __init_subclass__(cls) -> None:
        cls.kind = cls.__name__
        KINDS[cls.kind] = cls

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self)}

    @classmethod
    def revived(cls, data: dict[str, Any]) -> dict[str, Any]:
        """JSON's values as the fields' own types."""
        origin = data.get("origin")
        return data | {"origin": Origin(**origin)} if origin else data


def from_json(data: dict[str, Any]) -> Event:
    """The event that `to_json` wrote. Raises KeyError for an unknown kind."""
    cls = KINDS[data["kind"]]
    data = cls.revived(data)
    known = {f.name for f in fields(cls)}
    return cls(**{name: value for name, value in data.items() if name in known})


# ---- a call on its way --------------------------------------------------------------------------


@dataclass
class CallBegin(Event):
    """A compiled callable was called. `inputs` has one text an argument, such as "float32[4]";
    `leaves` has what the arguments hold, by the names that guards have for it."""

    call: int
    frame: int
    function: str
    inputs: list[str]
    leaves: dict[str, str] = field(default_factory=dict)


@dataclass
class GuardCheck(Event):
    """One guard of one variant was asked. `compile_id` is the variant; a failed one says why."""

    call: int
    index: int
    ok: bool
    text: str
    expected: str = ""
    actual: str = ""
    reason: str = ""
    origin: Origin | None = None


@dataclass
class CacheMiss(Event):
    """No variant fits; `variants` is how many were asked, `reasons` their first failed guards, and
    `places`, one for each, the user's lines that needed them."""

    call: int
    frame: int
    variants: int
    reasons: list[str]
    places: list[str] = field(default_factory=list)


@dataclass
class Execute(Event):
    """A variant's code runs. `hit`: it was there before this call."""

    call: int
    hit: bool


@dataclass
class CallEnd(Event):
    """`result` is "compiled", "hit", "eager" or "raised"."""

    call: int
    result: str


# ---- compiling one variant ----------------------------------------------------------------------


@dataclass
class Stage(Event):
    """A stage of the pipeline ended: capture, autodiff, fusion, codegen. `seconds` of wall time."""

    name: str
    seconds: float
    note: str = ""


@dataclass
class GraphCaptured(Event):
    """The captured graph: its code, and its nodes as (name, op, target, origin line) rows.
    `reused`: the variant that brought an equal graph, whose compiled form runs here too.
    """

    code: str
    nodes: list[list[Any]]
    reused: str = ""


@dataclass
class GuardRecord:
    """One guard as data: its kind, whose value it looks at, the condition in words and as code, and
    the place of the user's that needs it.
    """

    type: str
    source: str
    text: str
    code: str
    expected: str = ""
    origin: Origin | None = None

    @classmethod
    def revived(cls, data: dict[str, Any]) -> GuardRecord:
        origin = data.get("origin")
        return cls(**{**data, "origin": Origin(**origin) if origin else None})


@dataclass
class GuardsInstalled(Event):
    """The guards of a new variant in evaluation order, and the Python source of its check."""

    guards: list[GuardRecord]
    source: str

    @classmethod
    def revived(cls, data: dict[str, Any]) -> dict[str, Any]:
        return data | {"guards": [GuardRecord.revived(guard) for guard in data["guards"]]}


@dataclass
class GraphBreak(Event):
    """Capture ended before the function did: what stopped it, why, and what would change that.

    `origin` is the user's place, `callers` are the calls that led there, outermost first.
    """

    break_id: str
    what: str
    why: str
    hint: str
    origin: Origin | None = None
    callers: list[Origin] = field(default_factory=list)

    @property
    def reason(self) -> str:
        """What happened, by the name it has in PyTorch."""
        return self.what

    @property
    def user_stack(self) -> list[Origin]:
        """All of the user's places, outermost first."""
        return [*self.callers, *([self.origin] if self.origin else [])]

    @classmethod
    def revived(cls, data: dict[str, Any]) -> dict[str, Any]:
        data = super().revived(data)
        return data | {"callers": [Origin(**place) for place in data.get("callers", ())]}


@dataclass
class AotGraph(Event):
    """A graph after autodiff. `phase`: inference, joint, forward or backward; saved tensors by
    name.
    """

    phase: str
    code: str
    saved: list[str] = field(default_factory=list)
    saved_bytes: int = 0


@dataclass
class Rewrite(Event):
    """A pass replaced a node of a graph: the statement `before`, and what stands for it now, which
    is a statement, a name, or nothing (""); and why that is right.
    """

    by: str
    node: str
    before: str
    after: str
    why: str
    origin: Origin | None = None


@dataclass
class PartitionChoice(Event):
    """Whether the forward's `value` is saved for the backward or computed again, by which rule, and
    the smallest change that would turn it round.
    """

    value: str
    saved: bool
    rule: str
    detail: str
    nbytes: int
    flip: str


@dataclass
class LoopIR(Event):
    """The loops before ("pre_fusion") or after ("post_fusion") the scheduler, as text."""

    phase: str
    when: str
    text: str


@dataclass
class Fusion(Event):
    """One decision of the scheduler. `flip` is the smallest change that would turn it round."""

    first: str
    second: str
    fused: bool
    rule: str
    detail: str
    saved_bytes: int
    flip: str
    phase: str = ""


@dataclass
class BufferAccesses:
    """How often elements of one buffer are loaded and stored, in separate passes and fused."""

    buffer: str
    loads_apart: int
    stores_apart: int
    loads_fused: int
    stores_fused: int


@dataclass
class Accesses(Event):
    """The access ledger of one graph: logical array accesses and bytes, separate passes against
    fused, in all and by buffer. `evaluations` of what is dear are rows [primitive, apart, fused].
    """

    phase: str
    separate: int
    fused: int
    separate_bytes: int
    fused_bytes: int
    buffers: list[BufferAccesses] = field(default_factory=list)
    evaluations: list[list[Any]] = field(default_factory=list)

    @classmethod
    def revived(cls, data: dict[str, Any]) -> dict[str, Any]:
        buffers = [BufferAccesses(**buffer) for buffer in data.get("buffers", ())]
        return super().revived(data) | {"buffers": buffers}


@dataclass
class KernelReady(Event):
    """A kernel can be called. `path` is its source file; `cached`: its machine code came from disk.
    `plain` is the same kernel in the form that is for reading.
    """

    name: str
    path: str
    source: str
    cached: bool
    plain: str = ""


@dataclass
class KernelForm(Event):
    """How a CUDA kernel lies on its grid: `form` with its `reason`, and what stands in the brackets
    of its launch, grid and block, as Python text."""

    name: str
    form: str
    reason: str
    grid: list[str]
    block: list[int]


@dataclass
class Autotuned(Event):
    """What a search for the fastest form of a nest found, under `mode="max-autotune"`. `outcome` is
    "measured", "known" (from before, in this process or another) or "skipped", with the reason;
    `chosen` is a form in words, `us` what it takes and `first_us` what the form takes that sizes
    alone would have chosen. `tried` has each form's words, us, and why it was dropped, if it was;
    `sizes` those of the call, where the kernel's own are symbols; `seconds` what all this took."""

    kernel: str
    outcome: str
    reason: str
    chosen: str = ""
    us: float = 0.0
    first_us: float = 0.0
    tried: list[list[Any]] = field(default_factory=list)
    sizes: str = ""
    seconds: float = 0.0


@dataclass
class CudaGraph(Event):
    """What became of a graph under `mode="reduce-overhead"`: `outcome` is "recorded" or "skipped",
    with the reason; `steps` are the launches that one replay makes."""

    phase: str
    outcome: str
    reason: str = ""
    steps: int = 0


@dataclass
class OutputCode(Event):
    """The printed wrapper program that allocates, calls kernels and returns."""

    phase: str
    path: str
    source: str


@dataclass
class DiskCache(Event):
    """`outcome` is "hit", "miss" or "evicted"; a miss has its reason (absent, damaged, other
    version ...) and its price: how many kernels were compiled, the others being like one of them,
    and the seconds that numba and LLVM took.
    """

    key: str
    outcome: str
    reason: str = ""
    units: int = 0
    numba: float = 0.0
    llvm: float = 0.0


@dataclass
class VariantAdded(Event):
    """A variant joined the cache of its frame. `result`: "graph", or "eager" when nothing could be
    captured. A function that goes on after a break has a frame for each place where it does.
    """

    frame: int
    title: str
    result: str
