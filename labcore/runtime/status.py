"""What a call of NVIDIA's driver gave, and what its status means.

In: what cuda-bindings return, a status and values.  Out: the values, or an error with the driver's
words and, where a kernel is to blame, what to do.
"""

from __future__ import annotations

from typing import Any

from cuda.bindings import driver as cu

from .driver import CudaError, OutOfMemory

LOST = {  # the process's context is gone after these
    cu.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS,
    cu.CUresult.CUDA_ERROR_ILLEGAL_INSTRUCTION,
    cu.CUresult.CUDA_ERROR_LAUNCH_FAILED,
    cu.CUresult.CUDA_ERROR_ASSERT,
    cu.CUresult.CUDA_ERROR_MISALIGNED_ADDRESS,
}


def checked(result: tuple) -> Any:
    """What a call gave besides its status. Raises CudaError, OutOfMemory."""
    status, *found = result
    if status == cu.CUresult.CUDA_SUCCESS:
        return found[0] if len(found) == 1 else found or None
    name = status.name
    _, text = cu.cuGetErrorString(status)
    told = f"CUDA error: {text.decode() if text else name} ({name})"
    if status == cu.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
        raise OutOfMemory(told)
    if status in LOST:
        told += (
            ". A kernel that ran earlier stopped itself, as one does at an index that does not "
            "exist, or touched memory that is not its own; CUDA serves this process no more: start "
            "it anew, and run the call on the simulated card (labcore.cuda.simulate()), which says "
            "which thread and which line"
        )
    raise CudaError(told)
