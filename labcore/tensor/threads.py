"""How many threads may work at once: `set_num_threads`, `get_num_threads`.

In: a number, for the whole process.  Out: that number, for numpy's BLAS, which is told, and for
compiled kernels, which look into `cell` at each call.
Invariant: a matrix product and a kernel never work at the same moment for one call, so together
they take no more threads than that. PyTorch has a second number, of operators that run side by side
(`set_num_interop_threads`); here there are none.
"""

from __future__ import annotations

import ctypes
import os


def _at_first() -> int:
    """$OMP_NUM_THREADS, as in PyTorch, else as many as this process has processors to run on."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


cell = ctypes.c_int64(_at_first())  # native code reads it


def get_num_threads() -> int:
    """How many threads a matrix product or a compiled kernel may use."""
    return cell.value


def set_num_threads(count: int) -> None:
    """For the whole process. Raises RuntimeError for a number below 1."""
    if count <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    from threadpoolctl import threadpool_limits

    threadpool_limits(count, user_api="blas")
    cell.value = count
