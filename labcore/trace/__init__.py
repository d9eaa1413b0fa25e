"""The trace: what every stage did, as events. Imports nothing of the lab's."""
from .events import (
    Accesses as Accesses,
    AotGraph as AotGraph,
    BufferAccesses as BufferAccesses,
    CacheMiss as CacheMiss,
    CallBegin as CallBegin,
    CallEnd as CallEnd,
    CudaGraph as CudaGraph,
    DiskCache as DiskCache,
    Event as Event,
    Execute as Execute,
    Fusion as Fusion,
    GraphBreak as GraphBreak,
    GraphCaptured as GraphCaptured,
    GuardCheck as GuardCheck,
    GuardRecord as GuardRecord,
    GuardsInstalled as GuardsInstalled,
    KernelForm as KernelForm,
    KernelReady as KernelReady,
    LoopIR as LoopIR,
    OutputCode as OutputCode,
    PartitionChoice as PartitionChoice,
    Rewrite as Rewrite,
    Stage as Stage,
    VariantAdded as VariantAdded,
    from_json as from_json,
)
from .facts import Facts as Facts, facts as facts
from .origin import Origin as Origin
from .plan import (
    LifeRecord as LifeRecord,
    LoopRecord as LoopRecord,
    LoopShared as LoopShared,
    MemoryPlanned as MemoryPlanned,
    Scheduled as Scheduled,
    ShortRows as ShortRows,
    StepRecord as StepRecord,
)
from .recorder import (
    Recorder as Recorder,
    add_sink as add_sink,
    attention as attention,
    compiling as compiling,
    current_compile_id as current_compile_id,
    emit as emit,
    in_detail as in_detail,
    listening as listening,
    record as record,
    remove_sink as remove_sink,
)
from .walk import (
    FrameRecord as FrameRecord,
    Handover as Handover,
    NodeRecord as NodeRecord,
    RegionCaptured as RegionCaptured,
    TraceStep as TraceStep,
    WalkedCode as WalkedCode,
)
