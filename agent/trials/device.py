"""The device under a trial: waiting for it, its memory, and what it says when full.

Frameworks are asked where the script imported them; none is imported for it.
"""

from __future__ import annotations

import contextlib
import gc
import sys
from typing import Any

from agent.frameworks.torch_devices import (
    find_computing,
    holding_memory,
    holding_tensors,
)

# What frameworks raise has no common class; their words have these in common.
_WORDS = ("out of memory", "resource_exhausted", "can't allocate", "cannot allocate")


def wait_for_device(result: object) -> None:
    """Return when the device has done what it was given."""
    # JAX's arrays wait for themselves.
    block = getattr(result, "block_until_ready", None)
    if callable(block):
        block()
    cuda = _cuda()
    if cuda is not None:
        for device in holding_memory(cuda):
            cuda.synchronize(device)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory could not be had, whoever says so."""
    if isinstance(error, MemoryError):
        return True
    return any(word in str(error).lower() for word in _WORDS)


def free_memory() -> None:
    """Give back what the last try held."""
    gc.collect()
    cuda = _cuda()
    if cuda is not None:
        with contextlib.suppress(Exception):
            cuda.empty_cache()


def forget_peak() -> None:
    """Begin to look for the most memory anew."""
    cuda = _cuda()
    if cuda is not None:
        for device in holding_memory(cuda):
            cuda.reset_peak_memory_stats(device)


def peak_bytes() -> int | None:
    """Return the most that tensors held since; None where no allocator says so."""
    cuda = _cuda()
    device = None if cuda is None else _computing(cuda)
    return None if device is None else int(cuda.max_memory_allocated(device))


def capacity_bytes() -> int | None:
    """Return the memory of the device that computes."""
    cuda = _cuda()
    device = None if cuda is None else _computing(cuda)
    return None if device is None else int(cuda.mem_get_info(device)[1])


def _computing(cuda: Any) -> int | None:
    # Steps may leave no tensors behind.
    return find_computing(cuda, holding_tensors(cuda) or holding_memory(cuda))


def _cuda() -> Any:
    """Return PyTorch's module of CUDA where the script uses it already."""
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return None
    return cuda
