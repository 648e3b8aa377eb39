"""The device of a benchmark: synchronization, memory, out-of-memory errors.

Uses only frameworks that the script has imported.
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

# The exceptions of frameworks have no common class, but these words.
_WORDS = ("out of memory", "resource_exhausted", "can't allocate", "cannot allocate")


def wait_for_device(result: object) -> None:
    """Wait until the devices have finished their work.

    For JAX, waits for the arrays in the result, at any depth: its devices cannot be
    synchronized.
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
    """Return whether JAX may still be computing: it is imported, but the result has no
    array.
    """
    trees = getattr(sys.modules.get("jax"), "tree_util", None)
    flatten = getattr(trees, "tree_leaves", None)
    if not callable(flatten) or _backends() or _mps() is not None:
        return False
    # Numbers, and arrays of other libraries, are complete when they are returned.
    return not any(
        isinstance(leaf, (int, float)) or hasattr(leaf, "shape")
        for leaf in flatten(result)
    )


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an exception of any library means out of memory."""
    if isinstance(error, MemoryError):
        return True
    return any(word in str(error).lower() for word in _WORDS)


def free_memory() -> None:
    """Free the memory of the last attempt."""
    gc.collect()
    cuda = _cuda()
    if cuda is not None:
        with contextlib.suppress(Exception):
            cuda.empty_cache()


def reset_peak() -> None:
    """Reset the peak of the memory statistics."""
    cuda = _cuda()
    if cuda is not None:
        for device in holding_memory(cuda):
            cuda.reset_peak_memory_stats(device)


def peak_bytes() -> int | None:
    """Return the peak bytes of tensors; None if no allocator reports it."""
    cuda = _cuda()
    device = None if cuda is None else _computing(cuda)
    return None if device is None else int(cuda.max_memory_allocated(device))


def capacity_bytes() -> int | None:
    """Return the memory of the computing device, in bytes; None if unknown."""
    cuda = _cuda()
    device = None if cuda is None else _computing(cuda)
    return None if device is None else int(cuda.mem_get_info(device)[1])


def _computing(cuda: Any) -> int | None:
    # Steps may leave no tensors behind.
    return find_computing(cuda, holding_tensors(cuda) or holding_memory(cuda))


def _cuda() -> Any:
    """Return torch.cuda if the script already uses it."""
    return _backend("cuda")


def _backends() -> list[Any]:
    """Return PyTorch's GPU modules that the script already uses."""
    found = map(_backend, ("cuda", "xpu"))
    return [backend for backend in found if backend is not None]


def _backend(name: str) -> Any:
    backend = getattr(sys.modules.get("torch"), name, None)
    is_initialized = getattr(backend, "is_initialized", None)
    return backend if callable(is_initialized) and is_initialized() else None


def _mps() -> Any:
    """Return torch.mps if the script has tensors on Apple's GPU."""
    torch: Any = sys.modules.get("torch")
    with contextlib.suppress(Exception):
        # PyTorch does not report whether it is initialized.
        if torch.backends.mps.is_available() and torch.mps.current_allocated_memory():
            return torch.mps
    return None
