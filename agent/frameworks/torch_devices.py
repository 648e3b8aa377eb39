"""Finds the GPUs that PyTorch uses in this process, without creating a CUDA context.

The first operation on a GPU creates a context of hundreds of MB, perhaps on another
user's GPU; allocator statistics need no context. `backend` is torch.cuda or a module
with the same functions.
"""

from __future__ import annotations

from typing import Any


# Any: PyTorch's types are known only where it is installed.
def holding_tensors(backend: Any) -> list[int]:
    """Return the GPUs on which this process has tensors."""
    return _holding(backend, "allocated_bytes")


def holding_memory(backend: Any) -> list[int]:
    """Return the GPUs on which it has tensors or reserved memory."""
    return _holding(backend, "reserved_bytes")


def find_computing(backend: Any, devices: list[int]) -> int | None:
    """Return the computing GPU of these; None without one, or if it is ambiguous."""
    if len(devices) == 1:
        return devices[0]
    current: int | None = backend.current_device() if devices else None
    return current if current in devices else None


def _holding(backend: Any, kind: str) -> list[int]:
    try:
        return [
            device
            for device in range(backend.device_count())
            if _current(backend.memory_stats_as_nested_dict(device), kind) > 0
        ]
    except Exception:  # noqa: BLE001 - foreign code
        # Custom allocators have no statistics.
        return [backend.current_device()]


def _current(stats: Any, kind: str) -> int:
    count: int = stats.get(kind, {}).get("all", {}).get("current", 0)
    return count
