"""The trace: what every stage did, as events. Imports nothing of the lab's."""
from .events import (
    Accesses as Accesses,
)
from .events import (
    AotGraph as AotGraph,
)
from .events import (
    CacheMiss as CacheMiss,
)
from .events import (
    CallBegin as CallBegin,
)
from .events import (
    CallEnd as CallEnd,
)
from .events import (
    DiskCache as DiskCache,
)
from .events import (
    Event as Event,
)
from .events import (
    Execute as Execute,
)
from .events import (
    Fusion as Fusion,
)
from .events import (
    GraphBreak as GraphBreak,
)
from .events import (
    GraphCaptured as GraphCaptured,
)
from .events import (
    GuardCheck as GuardCheck,
)
from .events import (
    GuardRecord as GuardRecord,
)
from .events import (
    GuardsInstalled as GuardsInstalled,
)
from .events import (
    KernelReady as KernelReady,
)
from .events import (
    LoopIR as LoopIR,
)
from .events import (
    OutputCode as OutputCode,
)
from .events import (
    Stage as Stage,
)
from .events import (
    VariantAdded as VariantAdded,
)
from .events import (
    from_json as from_json,
)
from .facts import Facts as Facts
from .facts import facts as facts
from .origin import Origin as Origin
from .recorder import (
    Recorder as Recorder,
)
from .recorder import (
    add_sink as add_sink,
)
from .recorder import (
    compiling as compiling,
)
from .recorder import (
    current_compile_id as current_compile_id,
)
from .recorder import (
    emit as emit,
)
from .recorder import (
    listening as listening,
)
from .recorder import (
    record as record,
)
from .recorder import (
    remove_sink as remove_sink,
)
