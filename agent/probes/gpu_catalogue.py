"""Metrics common to the GPUs of every vendor, with the same paths and descriptions."""

from __future__ import annotations

# By path under the GPU's: unit and meaning.
USERS = (
    ("processes", "", "compute processes"),
    (
        "job_processes",
        "",
        "compute processes of the job; absent if the driver uses host process ids",
    ),
    ("job_memory_bytes", "B", ""),
    (
        "other_processes",
        "",
        "compute processes of other jobs; absent if the driver uses host process ids",
    ),
    ("other_memory_bytes", "B", ""),
)
_OWNERS = ("job", "other")
PCIE_HEALTH = {
    "pcie_replays": "resent packets",
    "pcie_recoveries": "link recoveries",
    "pcie_naks": "rejected packets, both directions",
}
ENERGY = (
    ("energy_joules", "J", ""),
    ("power_mean_watts", "W", "from the energy counter"),
)


def shares_of_users(part: str, meaning: str = "") -> list[tuple[str, str, str]]:
    """Describe the shares of a part of the GPU that the job and others use."""
    return [(f"{owner}_{part}_percent", "% of time", meaning) for owner in _OWNERS]
