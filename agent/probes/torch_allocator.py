"""The GPU memory that PyTorch's allocator holds, in the process that trains.

PyTorch is asked only once the script has imported it and uses a GPU. The reading takes
the allocator's own lock, in the order in which PyTorch takes it, and does not wait for
the device.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from typing import Any, ClassVar

from agent.probes.probe import Job, Probe, ProbeUnavailable, Sample
from agent.probes.reading import COUNTED, Reading, Scope

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
    """Reads the allocator of every GPU this process uses, by the driver's numbers."""

    name = "torch_allocator"
    is_of_process = True
    readings: ClassVar[tuple[Reading, ...]] = (
        _reading("reserved_bytes", "B", "what the allocator holds of the GPU"),
        _reading("allocated_bytes", "B", "what tensors use of that"),
        _reading(
            "peak_allocated_bytes",
            "B",
            "the most that tensors used, since the process began or the script reset it",
        ),
        _reading(
            "inactive_split_bytes",
            "B",
            "held, free, and in pieces that cannot be given back",
        ),
        _reading(
            "retries",
            "",
            "times that memory was given back to get some, since the process began",
        ),
        _reading(
            "out_of_memory_count", "", "times that it failed, since the process began"
        ),
    )

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment
        # By PyTorch's number of the GPU; None: the driver's is not known.
        self._numbers: dict[int, int | None] = {}

    @classmethod
    def of(cls, job: Job) -> Probe:
        if job.watched is not None:
            # Another process's allocator cannot be asked.
            raise ProbeUnavailable("")
        return cls()

    def sample(self, now: float) -> Sample:
        del now
        # Perhaps imported a moment ago, and not whole yet.
        cuda = getattr(sys.modules.get("torch"), "cuda", None)
        is_initialized = getattr(cuda, "is_initialized", None)
        if cuda is None or is_initialized is None or not is_initialized():
            return {}
        readings: dict[str, float] = {}
        for device in range(cuda.device_count()):
            stats = cuda.memory_stats_as_nested_dict(device)
            number = self._number(cuda, device)
            # A GPU that this process has not touched is somebody else's.
            if number is None or not _find(stats, ("reserved_bytes", "all", "peak")):
                continue
            for name, path in _SOURCES.items():
                value = _find(stats, path)
                if value is not None:
                    readings[f"gpu/{number}/allocator/{name}"] = value
        return readings

    # Any: PyTorch's types are known only where it is installed.
    def _number(self, cuda: Any, device: int) -> int | None:
        if device not in self._numbers:
            number = None
            with contextlib.suppress(Exception):
                number = _driver_numbers().get(
                    _plain(cuda.get_device_properties(device).uuid)
                )
            if number is None and "CUDA_VISIBLE_DEVICES" not in self._environment:
                number = device
            self._numbers[device] = number
        return self._numbers[device]


def _driver_numbers() -> dict[str, int]:
    """Return the driver's numbers by the GPUs' ids; it was initialised for its probe."""
    library = sys.modules["pynvml"]
    return {
        _plain(library.nvmlDeviceGetUUID(library.nvmlDeviceGetHandleByIndex(i))): i
        for i in range(library.nvmlDeviceGetCount())
    }


def _plain(uuid: object) -> str:
    text = uuid.decode() if isinstance(uuid, bytes) else str(uuid)
    return text.removeprefix("GPU-").lower()


def _find(stats: Any, path: tuple[str, ...]) -> float | None:
    for name in path:
        if not isinstance(stats, Mapping) or name not in stats:
            return None
        stats = stats[name]
    return float(stats) if isinstance(stats, (int, float)) else None
