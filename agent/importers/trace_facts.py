"""Extracts facts from a trace: devices, versions, ranks, the loader (pure)."""

from __future__ import annotations

from typing import Any, TypeGuard

from seamark.importers.trace import Trace
from seamark.importers.trace_steps import is_pinned

TOOL = "torch.profiler"
# The quality of values from a trace; see docs/monitoring.md.
MEASURED = 1.0
_LONGEST = 200  # characters of a name
_MAX_RANKS = 1_000_000
_CUDA_VERSIONS = range(1_000, 1_000_000)  # 12010 is 12.1
_LOADS_ITSELF = "_SingleProcessDataLoaderIter"


def facts_of(trace: Trace) -> dict[str, object]:
    """Return facts by path below `facts/`."""
    facts: dict[str, object] = {"framework": "pytorch", "traced_with": TOOL}
    facts |= _versions(trace.header)
    facts |= _distributed(trace.header)
    facts |= _devices(trace)
    if trace.loaders == {_LOADS_ITSELF}:
        # With workers, their number is not in the trace.
        facts["loader_workers"] = 0
    pinned = is_pinned(trace.copies)
    if pinned is not None:
        facts["loader_pin_memory"] = pinned
    facts["readings"] = "\n".join(
        f"{path}\t{unit}\tGPU\t{MEASURED:g}\t{TOOL}" for path, unit in READINGS
    )
    return facts


# GPU metrics per window.
READINGS = (
    ("gpu/<i>/utilization_percent", "% of time"),
    ("gpu/<i>/allocator/allocated_bytes", "B"),
    ("gpu/<i>/allocator/reserved_bytes", "B"),
)


# Any: untrusted JSON, here and below.
def rank_of(header: dict[str, Any]) -> int:
    """Return the rank of the traced process; 0 if unknown."""
    rank = _object(header.get("distributedInfo")).get("rank")
    return rank if _is_whole(rank) and rank < _MAX_RANKS else 0


def base_microseconds(header: dict[str, Any]) -> float:
    """Return the base of the trace's times; older traces count from 1970."""
    nanoseconds = header.get("baseTimeNanoseconds")
    if not _is_whole(nanoseconds) or nanoseconds > 2**63:
        return 0.0
    return float(nanoseconds) / 1_000


def _versions(header: dict[str, Any]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name in ("pytorch_version", "torch_version"):
        if isinstance(header.get(name), str):
            found["torch/version"] = header[name][:_LONGEST]
    for name, path in (
        ("cuda_runtime_version", "torch/cuda"),
        ("cuda_driver_version", "gpu_driver_cuda"),
    ):
        number = header.get(name)
        if _is_whole(number) and number in _CUDA_VERSIONS:
            found[path] = f"{number // 1_000}.{number % 1_000 // 10}"
    return found


def _distributed(header: dict[str, Any]) -> dict[str, object]:
    info = _object(header.get("distributedInfo"))
    found: dict[str, object] = {}
    backend, size = info.get("backend"), info.get("world_size")
    if isinstance(backend, str):
        found["distributed/backend"] = backend[:_LONGEST]
    if _is_whole(size) and size <= _MAX_RANKS:
        found["distributed/world_size"] = size
    return found


def _devices(trace: Trace) -> dict[str, object]:
    """Return facts about the devices that were used."""
    listed = trace.header.get("deviceProperties")
    devices = [_object(each) for each in listed] if isinstance(listed, list) else []
    used = {*trace.kernels, *trace.collectives}
    found: dict[str, object] = {"torch/device_count": len(devices)} if devices else {}
    for device in devices:
        number = device.get("id")
        if not _is_whole(number) or number not in used:
            continue
        place = f"gpu/{number}"
        if isinstance(device.get("name"), str):
            found[f"{place}/name"] = device["name"][:_LONGEST]
        total = device.get("totalGlobalMem")
        if _is_whole(total) and 0 < total < 2**63:
            found[f"{place}/memory_total_bytes"] = total
        major, minor = device.get("computeMajor"), device.get("computeMinor")
        if _is_whole(major) and _is_whole(minor) and max(major, minor) < _LONGEST:
            found[f"{place}/compute_capability"] = f"{major}.{minor}"
    return found


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
