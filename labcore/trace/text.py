"""Events as text: one artifact a name, as in TORCH_LOGS.

In: events.  Out: the very text that the log prints, `Recorder.text` shows in a notebook and a test
compares.
Invariant: no times, no absolute paths and no addresses, so the same program gives the same text;
`stages`,
`autotuning` and `output_code` are the three exceptions, and say so in the table.
"""
from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest

from .events import (
    AotGraph,
    Autotuned,
    CacheMiss,
    DiskCache,
    Event,
    Fusion,
    GraphBreak,
    GraphCaptured,
    GuardsInstalled,
    KernelForm,
    KernelReady,
    LoopIR,
    OutputCode,
    PartitionChoice,
    Rewrite,
    Stage,
)
from .origin import Origin
from .plan import (
    LifeRecord,
    LoopShared,
    MemoryPlanned,
    RowForms,
    RowsCompiled,
    Scheduled,
    ShortRows,
)

Format = Callable[[Event], str]
MOST_PLACES = 6
MOST_STEPS = 40


def _folded(text: str, first: str = "  ") -> str:
    """Prose in lines of a notebook's width, the later ones indented."""
    return textwrap.fill(
        text, 78, initial_indent=first, subsequent_indent="    ",
        break_long_words=False, break_on_hyphens=False,
    )


def graph_code(event: Event) -> str:
    """The captured graph as Python, or whose compiled graph is used again."""
    assert isinstance(event, GraphCaptured)
    if event.reused:
        return f"# an equal graph is compiled already: reused the graph of [{event.reused}]"
    return event.code.rstrip()


def guards(event: Event) -> str:
    """Every guard of a new variant in evaluation order, with the user's line that needs it."""
    assert isinstance(event, GuardsInstalled)
    width = min(max((len(g.text) for g in event.guards), default=0), 40)
    lines = []
    for guard in event.guards:
        where = f", line {guard.origin.line}: {guard.origin.code}" if guard.origin else ""
        lines.append(f"{guard.text:<{width}}  # {guard.type}{where}".rstrip())
    return "\n".join(lines)


def recompiles(event: Event) -> str:
    """Why no variant fitted a call; nothing for a function's first call."""
    assert isinstance(event, CacheMiss)
    if not event.variants:
        return ""
    head = f"recompiling: {event.variants} variant(s) asked"
    told = zip_longest(event.reasons, event.places, fillvalue="")
    return "\n".join([head, *(f"- {with_place(reason, place)}" for reason, place in told)])


def with_place(reason: str, place: str) -> str:
    """Why a variant does not fit, and the line that made it depend on that."""
    return f"{reason}  # {place}" if place else reason


def graph_breaks(event: Event) -> str:
    """Where capture stopped, by which calls, why, and what to change."""
    assert isinstance(event, GraphBreak)
    where = "".join(f"\n{line}" for line in _stack(event.user_stack))
    why, hint = _folded(f"Why: {event.why}"), _folded(f"What to do: {event.hint}")
    return f"{event.what} [{event.break_id}]{where}\n{why}\n{hint}"


def _stack(places: Sequence[Origin]) -> list[str]:
    """Excerpts as in a traceback; of many, the outermost and the innermost."""
    texts = [place.excerpt() for place in places]
    if len(texts) > MOST_PLACES:
        half = MOST_PLACES // 2
        texts[half:-half] = [f"  ... {len(texts) - 2 * half} more calls ..."]
    return texts


def aot_graphs(event: Event) -> str:
    """The graphs that autodiff made: joint, forward, backward, or inference."""
    assert isinstance(event, AotGraph)
    saved = (
        f"\n# saved for backward: {', '.join(event.saved)}, {event.saved_bytes} bytes"
        if event.saved
        else ""
    )
    return f"# {event.phase}\n{event.code.rstrip()}{saved}"


def passes(event: Event) -> str:
    """Each node that a pass replaced or dropped, and why that changes no result."""
    assert isinstance(event, Rewrite)
    became = f"became {event.after}" if event.after else "went"
    return _folded(f"{event.by}: {event.before} {became}; {event.why}", first="")


def partition(event: Event) -> str:
    """Each value the backward needs: saved or computed again, the rule, what would flip it."""
    assert isinstance(event, PartitionChoice)
    verdict = f"saved, {event.nbytes} bytes" if event.saved else "computed again"
    again = "let go" if event.rule == "input" else "computed again"
    other = again if event.saved else "saved"
    said = f"{verdict}, {event.rule}: {event.detail}. It would be {other} if {event.flip}."
    return _folded(f"{event.value}: {said}", first="")


def ir_pre_fusion(event: Event) -> str:
    """The loops as lowered, one for each operation."""
    return _loops(event, "pre_fusion")


def ir_post_fusion(event: Event) -> str:
    """The loops as scheduled."""
    return _loops(event, "post_fusion")


def _loops(event: Event, when: str) -> str:
    assert isinstance(event, LoopIR)
    return f"# {event.phase}\n{event.text.rstrip()}" if event.when == when else ""


def fusion(event: Event) -> str:
    """Each pair the scheduler looked at: the verdict, its rule, and what would flip it."""
    assert isinstance(event, Fusion)
    verdict = "fused" if event.fused else "kept apart"
    saved = f", saves {event.saved_bytes} bytes" if event.saved_bytes else ""
    flip = f" It would be fused if {event.flip}." if event.flip and not event.fused else ""
    said = f"{verdict}, {event.rule}{saved}. {event.detail}{flip}"
    return _folded(f"{event.first} + {event.second}: {said}".rstrip(), first="")


def schedule(event: Event) -> str:
    """The steps of the program: which loops each runs, what it reads and leaves, bytes it moves."""
    assert isinstance(event, Scheduled)
    lines = [f"# {event.phase}: {event.moved} bytes moved, {event.moved_apart} by separate passes"]
    for number, step in enumerate(event.steps):
        lines.append(_folded(
            f"{number} {step.kind} {' + '.join(step.loops)}: reads {', '.join(step.reads) or '-'}; "
            f"writes {', '.join(step.writes) or '-'}; {step.moved} bytes", first=""))
    return "\n".join(lines)


def memory(event: Event) -> str:
    """Each buffer that the program makes: its bytes, its steps as a bar, whose memory it has."""
    assert isinstance(event, MemoryPlanned)
    steps = len(event.live)
    head = f"# {event.phase}: {event.peak} bytes at most, {event.total} if none were used again"
    wide = max((len(life.buffer) for life in event.lives), default=0)
    digits = len(str(max((life.nbytes for life in event.lives), default=0)))
    lines = [
        f"{life.buffer:<{wide}}  {life.nbytes:>{digits}} bytes  {_bar(life, steps)}  {_where(life)}"
        for life in event.lives
    ]
    return "\n".join([head, *lines])


def _bar(life: LifeRecord, steps: int) -> str:
    """A mark for each step that the buffer is there for; of many steps, the first and the last."""
    if steps > MOST_STEPS:
        return f"steps {life.first} to {min(life.last, steps - 1)}"
    marks = ["=" if life.first <= k <= life.last else "." for k in range(steps)]
    return "".join(marks)


def _where(life: LifeRecord) -> str:
    return life.how if life.how == "new" else f"{life.how}, memory of {life.place}"


def threads(event: Event) -> str:
    """Each kernel: the loop that threads share, or why one thread works."""
    assert isinstance(event, LoopShared)
    who = f"threads share {event.variable}" if event.variable else "one thread"
    return _folded(f"{event.kernel}: {who}, {event.rule}: {event.detail}", first="")


def short_rows(event: Event) -> str:
    """Kernels that work on short rows in strips, and when they do; those whose calls choose by the
    length of rows; and what such a call then compiled."""
    if isinstance(event, RowForms):
        text = f"calls of work {event.enough} and more on up to {event.longest} get their own code"
        return _folded(f"{event.kernel}: rows of {event.length}: {text}", first="")
    if isinstance(event, RowsCompiled):
        return rows_compiled(event)
    assert isinstance(event, ShortRows)
    when = f" where {event.when}" if event.when else ""
    text = f"{event.kernel}: rows of {event.length} in strips of up to {event.strip}{when}"
    return _folded(text, first="")


def rows_compiled(event: RowsCompiled) -> str:
    """A kernel for rows of one length, which the graph and its guards know nothing of."""
    how = "from disk" if event.outcome == "hit" else "compiled"
    text = f"{event.kernel}: for rows of {event.length} = {event.size}: {how}"
    return _folded(f"{text} in {1e3 * event.seconds:.0f} ms", first="")


def kernel_code(event: Event) -> str:
    """The printed kernels."""
    assert isinstance(event, KernelReady)
    return event.source.rstrip()


def plain_code(event: Event) -> str:
    """The kernels as a person would write them."""
    assert isinstance(event, KernelReady)
    return event.plain.rstrip()


def output_code(event: Event) -> str:
    """The printed wrapper program, and the file it lies in."""
    assert isinstance(event, OutputCode)
    return f"# {event.path}\n{event.source.rstrip()}"


def forms(event: Event) -> str:
    """Each CUDA kernel: its grid and block, the form in which it lies there, and why that one."""
    assert isinstance(event, KernelForm)
    grid, block = (", ".join(map(str, sizes)) for sizes in (event.grid, event.block))
    return _folded(f"{event.name}[({grid}), ({block})]: {event.form}, {event.reason}", first="")


def autotuning(event: Event) -> str:
    """Each form of a CUDA kernel that was tried, with its time; which one was chosen, and why."""
    assert isinstance(event, Autotuned)
    took = f" in {event.seconds:.1f} s" if event.outcome == "measured" else ""
    head = f"{event.kernel}: {event.outcome}{took}, {event.reason}"
    return "\n".join([_folded(head, first=""), *(_tried(*each) for each in event.tried)])


def _tried(form: str, us: float, dropped: str) -> str:
    return f"  {dropped or f'{us:.1f} us':>10}  {form}"


def cache(event: Event) -> str:
    """What the disk cache answered, and why a miss."""
    assert isinstance(event, DiskCache)
    return f"disk cache {event.outcome}" + (f": {event.reason}" if event.reason else "")


def stages(event: Event) -> str:
    """The pipeline's stages with their wall time; before codegen's, what compilers had of it."""
    if isinstance(event, DiskCache):
        noun = "kernel" if event.units == 1 else "kernels"
        parts = ("numba", event.numba, f"{event.units} {noun}"), ("llvm", event.llvm, "")
        return "\n".join(_stage(*part) for part in parts) if event.units else ""
    assert isinstance(event, Stage)
    return _stage(event.name, event.seconds, event.note)


def _stage(name: str, seconds: float, note: str) -> str:
    return f"{name:<9}{1e3 * seconds:8.1f} ms  {note}".rstrip()


ARTIFACTS: dict[str, tuple[type[Event] | tuple[type[Event], ...], Format]] = {
    "graph_code": (GraphCaptured, graph_code),
    "guards": (GuardsInstalled, guards),
    "recompiles": (CacheMiss, recompiles),
    "graph_breaks": (GraphBreak, graph_breaks),
    "aot_graphs": (AotGraph, aot_graphs),
    "passes": (Rewrite, passes),
    "partition": (PartitionChoice, partition),
    "ir_pre_fusion": (LoopIR, ir_pre_fusion),
    "ir_post_fusion": (LoopIR, ir_post_fusion),
    "fusion": (Fusion, fusion),
    "schedule": (Scheduled, schedule),
    "memory": (MemoryPlanned, memory),
    "threads": (LoopShared, threads),
    "short_rows": ((ShortRows, RowForms, RowsCompiled), short_rows),
    "kernel_code": (KernelReady, kernel_code),
    "plain_code": (KernelReady, plain_code),
    "output_code": (OutputCode, output_code),
    "forms": (KernelForm, forms),
    "autotuning": (Autotuned, autotuning),
    "cache": (DiskCache, cache),
    "stages": ((Stage, DiskCache), stages),
}


def check_names(names: Iterable[str]) -> None:
    """Raises ValueError for a name that is no artifact; the text lists those that are."""
    for name in names:
        if name not in ARTIFACTS:
            raise ValueError(f"unknown artifact {name!r}; there are: {', '.join(ARTIFACTS)}")


def render(event: Event, name: str) -> str:
    """The event as the artifact's text, or "" when it does not belong to it."""
    cls, format_event = ARTIFACTS[name]
    return format_event(event) if isinstance(event, cls) else ""
