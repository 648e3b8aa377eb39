"""Metrics common to the GPUs of every vendor, with the same paths and descriptions."""

from __future__ import annotations

# By path under the GPU's: unit and meaning.
USERS = (
    ("processes", "", "that compute on it"),
    ("job_processes", "", "the job's; absent while the driver's numbers are not ours"),
    ("job_memory_bytes", "B", ""),
    ("other_processes", "", "all but the job's; likewise"),
    ("other_memory_bytes", "B", ""),
)
_OWNERS = {"job": "sum over the job's processes", "other": "sum over all others"}
PCIE_HEALTH = {
    "pcie_replays": "packets sent again since the agent began",
    "pcie_recoveries": "times that the link had to recover since the agent began",
    "pcie_naks": "packets refused, sent and received, since the agent began",
}
ENERGY = (
    ("energy_joules", "J", "since the agent began"),
    ("power_mean_watts", "W", "energy over time"),
)


def shares_of_users(part: str, of: str = "") -> list[tuple[str, str, str]]:
    """Describe the shares of a part of the GPU that the job and others use."""
    return [
        (f"{owner}_{part}_percent", "% of time", f"{meaning}{of}")
        for owner, meaning in _OWNERS.items()
    ]
