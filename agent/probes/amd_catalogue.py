"""Describes every path under `gpu/<i>/` that AMD's library supplies."""

from __future__ import annotations

from seamark.probes.gpu_catalogue import ENERGY, PCIE_HEALTH, USERS, shares_of_users
from seamark.probes.reading import COUNTED, SAMPLED, Fact, Reading, Scope

_SOURCE = "amdsmi"
_ROWS = (
    ("utilization_percent", "% of time", "the graphics engine was busy", 1),
    ("memory_utilization_percent", "% of time", "the memory's controller was busy", 1),
    ("memory_used_bytes", "B", "", 1),
    ("power_watts", "W", "", 1),
    ("temperature_celsius", "°C", "of the hottest spot, where it is known", 1),
    ("memory_temperature_celsius", "°C", "", 1),
    ("sm_clock_mhz", "MHz", "of the graphics engine", 1),
    ("memory_clock_mhz", "MHz", "", 5),
    ("pcie_width", "lanes", "at the moment", 5),
    ("pcie_generation", "", "at the moment", 5),
    ("pcie_bytes_per_second", "B/s", "both ways together, at the moment", 5),
    *((path, "", text, 5) for path, text in PCIE_HEALTH.items()),
    ("ecc_corrected", "", "as the card counts", 5),
    ("ecc_uncorrected", "", "as the card counts", 5),
)
_USERS = (*USERS, *shares_of_users("sm"))
_REASONS = {
    "power": "by the power limit",
    "thermal": "for the temperature of the package",
    "processor_hot": "because something told it that it is too hot",
    "voltage_regulator": "for the temperature of what supplies it",
    "memory_thermal": "for the temperature of its memory",
}
_COUNTED = (
    *ENERGY,
    *(
        (f"limited/{name}_share", "0–1", f"of time with lower clocks {why}")
        for name, why in _REASONS.items()
    ),
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
    Fact("facts/gpu/<i>/architecture", "string", "of AMD's, such as `gfx942`"),
    Fact("facts/gpu/<i>/pcie_generation_max", "int", "of the card"),
    Fact("facts/gpu/<i>/pcie_width_max", "int", "lanes, of the card"),
)
