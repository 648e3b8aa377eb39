"""Maps MLflow's system metrics to paths of hardware metrics (pure).

Metrics without a counterpart, and those of several nodes, keep MLflow's names.
"""

from __future__ import annotations

import re

_MB = 1e6
_GPU = re.compile(r"system/gpu_(\d{1,3})_(\w{1,60})")
_GPU_FIELDS = {
    "utilization_percentage": ("utilization_percent", 1.0),
    "memory_usage_megabytes": ("memory_used_bytes", _MB),
    "power_usage_watts": ("power_watts", 1.0),
}
_HOST_FIELDS = {
    "system/cpu_utilization_percentage": ("host/cpu_percent", 1.0),
    "system/system_memory_usage_megabytes": ("host/memory_used_bytes", _MB),
}


def hardware_path(name: str) -> tuple[str, float] | None:
    """Return the path below the stage, and the factor of its unit."""
    found = _GPU.fullmatch(name)
    if found is None:
        return _HOST_FIELDS.get(name)
    field = _GPU_FIELDS.get(found[2])
    return None if field is None else (f"gpu/{int(found[1])}/{field[0]}", field[1])
