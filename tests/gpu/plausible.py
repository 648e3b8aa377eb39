"""Plausible ranges of GPU metrics, by their documented unit (pure)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from seamark.probes.nvidia.catalogue import READINGS
from seamark.probes.reading import pattern_of
from seamark.recording.values import Value

UNITS = {reading.path: reading.unit for reading in READINGS}
_GIGA = 1e9


def undescribed(sample: Mapping[str, float]) -> set[str]:
    """Return the paths that are not in the catalog."""
    return {path for path in sample if pattern_of(path) not in UNITS}


def implausible(sample: Mapping[str, float], facts: Mapping[str, Value]) -> list[str]:
    """Return a line for each implausible value; `facts` are those of the GPU's probe."""
    found = []
    for path, value in sample.items():
        low, high = bounds(path, facts)
        if not (math.isfinite(value) and low <= value <= high):
            found.append(f"{path} = {value:g}, not within {low:g} to {high:g}")
    return found


def bounds(path: str, facts: Mapping[str, Value]) -> tuple[float, float]:
    """Return the lowest and highest plausible value of a path."""
    gpu = "/".join(path.split("/")[:2])
    unit = UNITS[pattern_of(path)]
    if "margin" in path:
        return -50.0, 120.0
    if unit.startswith("%"):
        # Hardware counters and their time span are read one after the other.
        return 0.0, 101.0
    # A requested limit may be above the enforced one.
    limit = "power_limit_max_watts" if "limit" in path else "power_limit_watts"
    most: dict[str, tuple[float, float]] = {
        "W": (0.0, 1.5 * float(facts.get(f"facts/{gpu}/{limit}", 2_000.0))),
        "B": (0.0, float(facts[f"facts/{gpu}/memory_total_bytes"])),
        "MHz": (1.0, 20_000.0),
        "°C": (10.0, 100.0),
        "0–1": (0.0, 1.0),
        "lanes": (1.0, 32.0),
        "B/s": (0.0, 4_000 * _GIGA),
    }
    return most.get(unit, (0.0, 1_000 * _GIGA))
