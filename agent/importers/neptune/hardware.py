"""Maps hardware metrics of Neptune's client 2.x to paths of Seamark's (pure)."""

from __future__ import annotations

import re
from typing import NamedTuple

_GB = 2.0**30
# With one GPU the names have no number.
_PATH = re.compile(
    r"monitoring/([^/]{1,100})/(cpu|memory|gpu(?:_memory|_power)?)(?:_(\d{1,3}))?"
)
_HOST_FIELDS = {
    "cpu": ("host/cpu_percent", 1.0),
    "memory": ("host/memory_used_bytes", _GB),
}
_GPU_FIELDS = {
    "gpu": ("utilization_percent", 1.0),
    "gpu_memory": ("memory_used_bytes", _GB),
    "gpu_power": ("power_watts", 1.0),
}


class Hardware(NamedTuple):
    """A hardware metric of a process."""

    process: str  # the client's id of it
    path: str  # below the stage
    factor: float  # of its unit


def hardware_of(path: str) -> Hardware | None:
    """Return the hardware metric of a series; None for other series."""
    found = _PATH.fullmatch(path)
    if found is None:
        return None
    process, name, number = found[1], found[2], found[3]
    if name in _GPU_FIELDS:
        field, factor = _GPU_FIELDS[name]
        return Hardware(process, f"gpu/{int(number or 0)}/{field}", factor)
    return None if number else Hardware(process, *_HOST_FIELDS[name])
