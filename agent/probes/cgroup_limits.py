"""What a container may use at most, from its group and those around it."""

from __future__ import annotations

import os
from pathlib import Path

import psutil

from agent.probes.files import read_number, read_text
from agent.probes.groups import Groups
from agent.probes.probe import Facts
from agent.probes.reading import Fact
from agent.values import Value

# Version 1 writes "no limit" as a number near 2**63.
_UNLIMITED_BYTES = 2**60

FACTS = (
    Fact("facts/effective_cores", "float", "least of CPU quota, affinity and CPU set"),
    Fact("facts/cpu_quota_cores", "float", "the container's, absent if it has none"),
    Fact(
        "facts/memory_limit_bytes",
        "int",
        "least of physical memory and the container's limit",
    ),
    Fact(
        "facts/memory_throttle_bytes",
        "int",
        "`memory.high`: with more than this the container is slowed; absent if it has"
        " none",
    ),
    Fact(
        "facts/allowed_memory_nodes",
        "string",
        "the host's nodes whose memory the job may use, such as `0-1`",
    ),
)


def limits(groups: Groups, watched: int | None) -> Facts:
    """Return the limits that there are; of cores and memory the tightest of all."""
    quotas = [_quota(folder) for folder in groups.with_ancestors("cpu")]
    quota = min((quota for quota in quotas if quota), default=None)
    cores = [quota, _affinity(watched), _count_cpus(_set_of(groups, "cpus"))]
    name = "memory.max" if groups.is_unified else "memory.limit_in_bytes"
    memory = [psutil.virtual_memory().total, *_limits_of(groups, name)]
    facts: dict[str, Value] = {"facts/memory_limit_bytes": min(memory)}
    if quota:
        facts["facts/cpu_quota_cores"] = quota
    if any(cores):
        facts["facts/effective_cores"] = float(min(filter(None, cores)))
    throttles = _limits_of(groups, "memory.high")
    if throttles:
        facts["facts/memory_throttle_bytes"] = min(throttles)
    nodes = _set_of(groups, "mems")
    if nodes:
        facts["facts/allowed_memory_nodes"] = nodes
    return facts


def _limits_of(groups: Groups, name: str) -> list[int]:
    """Return a limit of memory of the group, and those of the groups around it."""
    found = (read_number(folder / name) for folder in groups.with_ancestors("memory"))
    return [limit for limit in found if limit and limit < _UNLIMITED_BYTES]


def _set_of(groups: Groups, kind: str) -> str:
    """Return the list of `cpus` or `mems` that the group may use, or nothing."""
    group = groups.of("cpuset")
    if group is None:
        return ""
    names = (f"cpuset.{kind}.effective", f"cpuset.effective_{kind}", f"cpuset.{kind}")
    found = (read_text(group / name) for name in names)
    return next((text for text in found if text), "")


def _quota(folder: Path) -> float | None:
    """The cores that a group may use, from either version's files."""
    parts = read_text(folder / "cpu.max").split()
    if not parts:
        parts = [
            read_text(folder / "cpu.cfs_quota_us"),
            read_text(folder / "cpu.cfs_period_us"),
        ]
    try:
        quota, period = int(parts[0]), int(parts[1])
    except (ValueError, IndexError):
        # "max", or no such files.
        return None
    return quota / period if quota > 0 and period > 0 else None


def _affinity(watched: int | None) -> int | None:
    if not hasattr(os, "sched_getaffinity"):
        return psutil.cpu_count()
    return len(os.sched_getaffinity(watched or 0))


def _count_cpus(text: str) -> int:
    """Return how many CPUs a list such as `0-3,8` has."""
    count = 0
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        count += int(high or low) - int(low) + 1
    return count
