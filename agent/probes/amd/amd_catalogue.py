"""Describes every path under `gpu/<i>/` that AMD's library supplies."""

from __future__ import annotations

from seamark.probes.gpu_catalogue import ENERGY, PCIE_HEALTH, USERS, shares_of_users
from seamark.probes.reading import COUNTED, SAMPLED, Fact, Reading, Scope

_SOURCE = "amdsmi"
_ROWS = (
    ("utilization_percent", "% of time", "graphics engine busy", 1),
    ("memory_utilization_percent", "% of time", "memory controller busy", 1),
    ("memory_used_bytes", "B", "", 1),
    ("power_watts", "W", "", 1),
    ("temperature_celsius", "°C", "hottest spot, if known", 1),
    ("memory_temperature_celsius", "°C", "", 1),
    ("sm_clock_mhz", "MHz", "graphics engine", 1),
    ("memory_clock_mhz", "MHz", "", 5),
    ("pcie_width", "lanes", "current", 5),
    ("pcie_generation", "", "", 5),
    ("pcie_bytes_per_second", "B/s", "both directions", 5),
    *((path, "", text, 5) for path, text in PCIE_HEALTH.items()),
    ("ecc_corrected", "", "", 5),
    ("ecc_uncorrected", "", "", 5),
)
_USERS = (*USERS, *shares_of_users("sm", "sum over processes"))
_REASONS = {
    "power": "power limit",
    "thermal": "package temperature",
    "processor_hot": "external temperature signal (PROCHOT)",
    "voltage_regulator": "voltage regulator temperature",
    "memory_thermal": "memory temperature",
}
_COUNTED = (
    *ENERGY,
    *((f"limited/{name}_share", "0–1", why) for name, why in _REASONS.items()),
)

READINGS = (
    *(
        Reading(
            f"gpu/<i>/{path}", unit, Scope.GPU, _SOURCE, SAMPLED, text, float(seconds)
        )
        for path, unit, text, seconds in _ROWS
    ),
    *(
        Reading(f"gpu/<i>/{path}", unit, Scope.GPU_JOB, _SOURCE, SAMPLED, text, 5.0)
        for path, unit, text in _USERS
    ),
    *(
        Reading(f"gpu/<i>/{path}", unit, Scope.GPU, _SOURCE, COUNTED, text, 5.0)
        for path, unit, text in _COUNTED
    ),
)
FACTS = (
    Fact("facts/gpu/<i>/architecture", "string", "AMD, for example `gfx942`"),
    Fact("facts/gpu/<i>/pcie_generation_max", "int", "of the card (AMD)"),
    Fact("facts/gpu/<i>/pcie_width_max", "int", "lanes of the card (AMD)"),
)
