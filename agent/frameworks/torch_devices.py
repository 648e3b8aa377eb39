"""On which GPUs PyTorch computes in this process, asked without touching the others.

What is first done on a GPU makes a context there, which takes hundreds of MB of a card
that may be somebody else's. The allocator's books are read without. `backend` is
torch.cuda, or a module that is like it, of which the script makes use.
"""

from __future__ import annotations

from typing import Any


# Any: PyTorch's types are known only where it is installed.
def holding_tensors(backend: Any) -> list[int]:
    """Return the GPUs on which this process has tensors."""
    return _holding(backend, "allocated_bytes")


def holding_memory(backend: Any) -> list[int]:
    """Return the GPUs on which it has tensors, or memory that it keeps for some."""
    return _holding(backend, "reserved_bytes")


def find_computing(backend: Any, devices: list[int]) -> int | None:
    """Return which of these computes; None where there is none, or nobody can tell."""
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
        # An allocator that was put in the place of PyTorch's keeps no books.
        return [backend.current_device()]


def _current(stats: Any, kind: str) -> int:
    count: int = stats.get(kind, {}).get("all", {}).get("current", 0)
    return count
