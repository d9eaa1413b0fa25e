"""`make bench-gpu`: kernels on this machine's card, beside PyTorch's eager mode and torch.compile.

In: `--only words`, `--json file`, `--options` of the lab's compile, `--tune`.  Out: a table, and
the figures as JSON.
Inputs are random and, with the outputs, far larger than the card's cache; both sides read the same
memory, handed over by DLPack. The lab's new memory is full of nan in the checked call, whose result
is compared with PyTorch's in float64. Times are those of device events behind a kernel that keeps
the card busy until the host has made the launch; the median of several. Of a row is asked what its
`Row` says: time to a copy of the same bytes, and to torch.compile's time. With `--tune` both sides
are measured under max-autotune as well, and what the lab's search tried is printed. What a call
costs the host is measured by `gpu_host.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .gpu_host import chain, host_times

REPEATS, BUSY = 15, 400_000  # launches that are timed; clock ticks that the card waits before each
NOISE = 0.01  # by which two medians of one thing differ


@dataclass(frozen=True)
class Row:
    """`function(torch, *tensors)` on random tensors of these shapes and this type. Asked: `copy`,
    how much of a copy's speed, `ratio`, how much of torch.compile's time."""

    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    copy: float | None
    ratio: float
    dtype: str = "float32"


def chain_backward(torch: Any, dy: Any, x: Any, b: Any) -> Any:
    return torch.where(x + b > 0, dy * 2, 0.0)


def softmax(torch: Any, x: Any) -> Any:
    return torch.softmax(x, -1)


def layer_norm(torch: Any, x: Any, w: Any, b: Any) -> Any:
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), w, b)


def layer_norm_backward(torch: Any, dy: Any, x: Any, w: Any, mean: Any, rstd: Any) -> Any:
    normal, d = (x - mean) * rstd, dy * w
    first, second = d.mean(-1, True), (d * normal).mean(-1, True)
    return (d - first - normal * second) * rstd, (dy * normal).sum(0), dy.sum(0)


def gelu_backward(torch: Any, dy: Any, x: Any, b: Any) -> Any:
    z = x + b
    slope = 0.5 * (1 + torch.erf(z * 0.7071067811865476))
    d = dy * (slope + z * 0.3989422804014327 * torch.exp(-0.5 * z * z))
    return d, d.sum(0)


def full_sum(torch: Any, x: Any) -> Any:
    return x.sum()


def column_sum(torch: Any, x: Any) -> Any:
    return x.sum(0)


def plus_transposed(torch: Any, x: Any, y: Any) -> Any:
    return x + y.t()


def transposed_copy(torch: Any, x: Any) -> Any:
    return x.t().contiguous()


ROWS = {
    "chain 2^28": Row(chain, ((1 << 28,),) * 2, 0.97, 1.0),
    "chain backward 2^28": Row(chain_backward, ((1 << 28,),) * 3, 0.97, 1.0),
    **{f"softmax {r}x{c}": Row(softmax, ((r, c),), copy, ratio) for r, c, copy, ratio in (
        (65536, 1024, 0.92, 1.0), (16384, 4096, 0.92, 0.8), (8192, 16384, 0.92, 1.0),
        (262144, 256, None, 1.02), (4096, 50257, 0.75, 0.65))},
    **{f"layer norm {r}x{c}": Row(layer_norm, ((r, c), (c,), (c,)), copy, ratio)
       for r, c, copy, ratio in ((65536, 1024, 0.92, 1.0), (16384, 4096, 0.92, 1.0),
                                 (8192, 16384, 0.92, 1.0), (262144, 256, None, 1.02))},
    "gelu backward 16384x4096": Row(
        gelu_backward, ((16384, 4096), (16384, 4096), (4096,)), 0.92, 0.8),
    "layer norm backward 16384x4096": Row(layer_norm_backward, (
        (16384, 4096), (16384, 4096), (4096,), (16384, 1), (16384, 1)), 0.86, 0.96),
    **{f"{name} 2^28 {dtype}": Row(function, ((1 << 28,),) * count, 0.95, 1.0, dtype)
       for dtype in ("float16", "bfloat16")
       for name, function, count in (("chain", chain, 2), ("chain backward", chain_backward, 3))},
    "full sum 2^28": Row(full_sum, ((1 << 28,),), 0.92, 1.0),
    "column sum 16384x4096": Row(column_sum, ((16384, 4096),), 0.92, 1.0),
    "plus transposed 16384x8192": Row(plus_transposed, ((16384, 8192), (8192, 16384)), None, 1.0),
    "transposed copy 16384x8192": Row(transposed_copy, ((16384, 8192),), None, 1.0),
}


def device_us(torch: Any, call: Callable[[], Any]) -> float:
    """The median time of a call on the card, in us."""
    for _ in range(3):
        call()
    found = []
    for _ in range(REPEATS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(BUSY)
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        found.append(begin.elapsed_time(end) * 1e3)
    return sorted(found)[REPEATS // 2]


def listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def measured(
    torch: Any, lab: Any, row: Row, copy: float, options: dict[str, Any] | None = None,
    tell: Callable[[str], None] | None = None,
) -> dict[str, float]:
    """One row; `copy` is a copy's speed in bytes (read and written) a us. `tell`: max-autotune is
    measured as well, and what the lab's search tried is told."""
    dtype = getattr(torch, row.dtype)
    given = [torch.randn(*shape, device="cuda").to(dtype) for shape in row.shapes]
    ours = [lab.from_dlpack(t) for t in given]
    want = listed(row.function(torch, *[t.double() for t in given]))
    nbytes = dtype.itemsize * sum(t.numel() for t in (*given, *want))
    compiled = lab.compile(lambda *tensors: row.function(lab, *tensors), options=options)
    error = _error(torch, lab, compiled, ours, want)
    peer = torch.compile(lambda *tensors: row.function(torch, *tensors), dynamic=False)
    us = device_us(torch, lambda: compiled(*ours))
    peer_us = device_us(torch, lambda: peer(*given))
    eager_us = device_us(torch, lambda: row.function(torch, *given))
    figures = {"us": us, "of copy": nbytes / us / copy, "torch.compile us": peer_us,
               "to torch.compile": us / peer_us, "torch eager us": eager_us, "error": error}
    if tell is None:
        return figures
    # replays, which the mode adds, save the host's time alone
    mine = lab.compile(lambda *tensors: row.function(lab, *tensors),
                       options={**(options or {}), "max_autotune": True})
    with lab.trace.record() as story:  # a call that is recorded takes longer on the host
        figures["tuned error"] = _error(torch, lab, mine, ours, want)
    tell(story.text("autotuning"))
    peer = torch.compile(lambda *tensors: row.function(torch, *tensors), dynamic=False,
                         mode="max-autotune-no-cudagraphs")
    us = device_us(torch, lambda: mine(*ours))
    peer_us = device_us(torch, lambda: peer(*given))
    return figures | {"tuned us": us, "torch tuned us": peer_us, "to torch tuned": us / peer_us}


def _error(torch: Any, lab: Any, call: Callable[..., Any], given: Sequence[Any],
           want: Sequence[Any]) -> float:
    """How far off a call's results are, the lab's new memory full of nan."""
    from ..runtime.card import SiliconCard
    from ..tensor.cuda import card

    found_card = card()
    assert isinstance(found_card, SiliconCard)
    found_card.poison = True
    found = [torch.from_dlpack(t) for t in listed(call(*given))]
    lab.cuda.synchronize()
    found_card.poison = False
    return max(((f.double() - w).norm() / w.norm()).item() for f, w in zip(found, want))


def table_of(figures: dict[str, dict[str, float]], title: str) -> Table:
    tuned = any("tuned us" in f for f in figures.values())
    table = Table("workload", "us", "of copy", "asked", "to torch.compile", "asked", "eager",
                  "error", *(["tuned", "to torch tuned"] * tuned), "", title=title)
    for name, f in figures.items():
        row = ROWS[name]
        good = f["to torch.compile"] <= row.ratio + NOISE and (
            row.copy is None or f["of copy"] >= row.copy)
        table.add_row(
            name, f"{f['us']:.1f}", f"{f['of copy']:.0%}",
            "" if row.copy is None else f"{row.copy:.0%}", f"{f['to torch.compile']:.2f}",
            f"{row.ratio:.2f}", f"{f['torch eager us']:.1f}", f"{f['error']:.0e}",
            *([f"{f['tuned us']:.1f}", f"{f['to torch tuned']:.2f}"] if tuned else []),
            "holds" if good else "does not hold")
    return table


def copy_speed(torch: Any) -> float:
    """Bytes a us, read and written."""
    source = torch.randn(1 << 28, device="cuda")
    target = torch.empty_like(source)
    return 8 * source.numel() / device_us(torch, lambda: target.copy_(source))


def chosen(words: Sequence[str]) -> list[str]:
    return [name for name in ROWS if not words or any(word in name for word in words)]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="make bench-gpu", description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="words of the rows to measure")
    parser.add_argument("--json", default="bench_gpu.json", help="where the figures go")
    parser.add_argument("--options", type=json.loads, default={},
                        help="of the lab's compile, as JSON: '{\"online\": false}'")
    parser.add_argument("--tune", action="store_true", help="measure max-autotune as well")
    options = parser.parse_args(arguments)
    import labcore as lab

    if not lab.cuda.is_available():
        sys.exit(f"bench-gpu needs a card: {lab.cuda.use_card()}")
    try:
        import torch  # type: ignore[import-not-found]  # a peer
    except ImportError:
        sys.exit("bench-gpu compares with PyTorch, which is not installed in this environment")
    console, figures = Console(width=140), dict[str, dict[str, float]]()
    copy = copy_speed(torch)
    for name in chosen(options.only):
        figures[name] = measured(torch, lab, ROWS[name], copy, options.options,
                                 console.out if options.tune else None)
        lab.compiler.reset()
        torch.compiler.reset()  # each row's function has the same code: it would give up compiling
        lab.cuda.empty_cache()
    title = f"{lab.cuda.get_device_name()}, a copy moves {copy / 1e6:.2f} TB/s"
    console.print(table_of(figures, title))
    host = host_times()
    for name, us in host.items():
        console.print(f"host, {name}: {us:.1f} us")
    Path(options.json).write_text(json.dumps(
        {"card": lab.cuda.get_device_name(), "copy bytes a us": copy, "rows": figures,
         "host us": host, "torch": torch.__version__}, indent=1))


if __name__ == "__main__":
    main()
