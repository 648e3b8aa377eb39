"""The device under a trial: waiting for it, its memory, and what it says when full.

Frameworks are asked where the script imported them; none is imported for it.
"""

from __future__ import annotations

import contextlib
import gc
import sys
from typing import Any

from seamark.frameworks.torch_devices import (
    find_computing,
    holding_memory,
    holding_tensors,
)

# What frameworks raise has no common class; their words have these in common.
_WORDS = ("out of memory", "resource_exhausted", "can't allocate", "cannot allocate")


def wait_for_device(result: object) -> None:
    """Return when the devices have done what they were given.

    Of JAX that is what the result holds, at any depth: its devices cannot be asked.
    """
    block = getattr(sys.modules.get("jax"), "block_until_ready", None)
    if callable(block):
        block(result)
    for backend in _backends():
        for device in holding_memory(backend):
            backend.synchronize(device)
    mps = _mps()
    if mps is not None:
        mps.synchronize()


def may_be_unfinished(result: object) -> bool:
    """Whether JAX may still compute: it was loaded, and the result holds nothing of it."""
    trees = getattr(sys.modules.get("jax"), "tree_util", None)
    flatten = getattr(trees, "tree_leaves", None)
    if not callable(flatten) or _backends() or _mps() is not None:
        return False
    # Numbers, and arrays of others, are there once they are returned.
    return not any(
        isinstance(leaf, (int, float)) or hasattr(leaf, "shape")
        for leaf in flatten(result)
    )


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
    return _backend("cuda")


def _backends() -> list[Any]:
    """Return PyTorch's modules of the kinds of GPUs that the script uses already."""
    found = map(_backend, ("cuda", "xpu"))
    return [backend for backend in found if backend is not None]


def _backend(name: str) -> Any:
    backend = getattr(sys.modules.get("torch"), name, None)
    is_initialized = getattr(backend, "is_initialized", None)
    return backend if callable(is_initialized) and is_initialized() else None


def _mps() -> Any:
    """Return PyTorch's module of Apple's GPU where the script has tensors on it."""
    torch: Any = sys.modules.get("torch")
    with contextlib.suppress(Exception):
        # Nothing says whether it was initialized.
        if torch.backends.mps.is_available() and torch.mps.current_allocated_memory():
            return torch.mps
    return None
