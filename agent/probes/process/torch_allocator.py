"""GPU memory held by PyTorch's allocator in the training process.

Queried only if the script has imported PyTorch and uses a GPU. A query takes the
allocator's own lock, in PyTorch's order, and does not synchronize with the device.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from typing import Any, ClassVar

from seamark.probes.nvidia.numbers import Numbers
from seamark.probes.probe import Job, Probe, ProbeUnavailable, Sample
from seamark.probes.reading import COUNTED, Reading, Scope

_SOURCES = {
    "reserved_bytes": ("reserved_bytes", "all", "current"),
    "allocated_bytes": ("allocated_bytes", "all", "current"),
    "peak_allocated_bytes": ("allocated_bytes", "all", "peak"),
    "inactive_split_bytes": ("inactive_split_bytes", "all", "current"),
    "retries": ("num_alloc_retries",),
    "out_of_memory_count": ("num_ooms",),
}


def _reading(name: str, unit: str, meaning: str) -> Reading:
    return Reading(
        f"gpu/<i>/allocator/{name}", unit, Scope.PROCESS, "PyTorch", COUNTED, meaning
    )


class TorchAllocatorProbe(Probe):
    """Reads the allocator of every GPU this process uses, by the driver's indices."""

    name = "torch_allocator"
    is_of_process = True
    readings: ClassVar[tuple[Reading, ...]] = (
        _reading("reserved_bytes", "B", "memory reserved by the allocator"),
        _reading("allocated_bytes", "B", "memory allocated to tensors"),
        _reading(
            "peak_allocated_bytes",
            "B",
            "peak memory of tensors since the start, or since the script reset it",
        ),
        _reading(
            "inactive_split_bytes",
            "B",
            "free memory in split blocks that cannot be released",
        ),
        _reading(
            "retries",
            "",
            "allocations that first had to release cached memory",
        ),
        _reading("out_of_memory_count", "", "failed allocations"),
    )

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment
        self._driver = Numbers()
        # PyTorch's index of a GPU to the driver's.
        self._numbers: dict[int, int] = {}

    @classmethod
    def of(cls, job: Job) -> Probe:
        if job.watched is not None:
            # The allocator of another process is not accessible.
            raise ProbeUnavailable("")
        return cls()

    def sample(self, now: float) -> Sample:
        # The import may not be complete.
        cuda = getattr(sys.modules.get("torch"), "cuda", None)
        is_initialized = getattr(cuda, "is_initialized", None)
        if cuda is None or is_initialized is None or not is_initialized():
            return {}
        readings: dict[str, float] = {}
        for device in range(cuda.device_count()):
            stats = cuda.memory_stats_as_nested_dict(device)
            # A GPU without allocations of this process belongs to others.
            if not _find(stats, ("reserved_bytes", "all", "peak")):
                continue
            number = self._number(cuda, device, now)
            if number is None:
                continue
            for name, path in _SOURCES.items():
                value = _find(stats, path)
                if value is not None:
                    readings[f"gpu/{number}/allocator/{name}"] = value
        return readings

    # Any: PyTorch's types are known only where it is installed.
    def _number(self, cuda: Any, device: int, now: float) -> int | None:
        if device in self._numbers:
            return self._numbers[device]
        uuid = None
        # Older PyTorch versions do not report it.
        with contextlib.suppress(Exception):
            uuid = str(cuda.get_device_properties(device).uuid)
        number = None if uuid is None else self._driver.of(uuid, now)
        if number is not None:
            self._numbers[device] = number
            return number
        is_identified = uuid is None or self._driver.has_answered
        are_all_visible = "CUDA_VISIBLE_DEVICES" not in self._environment
        return device if is_identified and are_all_visible else None


def _find(stats: Any, path: tuple[str, ...]) -> float | None:
    for name in path:
        if not isinstance(stats, Mapping) or name not in stats:
            return None
        stats = stats[name]
    return float(stats) if isinstance(stats, (int, float)) else None
