"""Resource limits of a container, from its group and its parents."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, TypeVar

import psutil

from seamark.probes.files import read_number, read_text
from seamark.probes.machine.groups import Groups
from seamark.probes.probe import Facts
from seamark.probes.reading import Fact
from seamark.recording.values import Value

# Version 1 writes "no limit" as a number near 2**63.
_UNLIMITED_BYTES = 2**60

FACTS = (
    Fact(
        "facts/effective_cores",
        "float",
        "lowest of CPU quota, affinity and CPU set",
    ),
    Fact(
        "facts/cpu_quota_cores",
        "float",
        "tightest quota of the container and its parents; absent without a quota; the number of host cores after a quota is removed",
    ),
    Fact(
        "facts/memory_limit_bytes",
        "int",
        "lowest of physical memory and the limits of the container and its parents",
    ),
    Fact(
        "facts/memory_throttle_bytes",
        "int",
        "`memory.high`, above which the container is throttled; absent without one",
    ),
    Fact(
        "facts/swap_limit_bytes",
        "int",
        "`memory.swap.max`; absent without a limit (version 2)",
    ),
    Fact(
        "facts/allowed_memory_nodes",
        "string",
        "NUMA nodes whose memory the job may use, for example `0-1`",
    ),
)


class Limits(NamedTuple):
    """The limits, and the groups that set the tightest ones.

    The kernel counts hits of a limit in the group that sets it, not in its children.
    """

    facts: Facts
    of_quota: Path | None = None
    of_memory: Path | None = None
    of_throttling: Path | None = None  # for exceeding `memory.high`


def limits(groups: Groups, watched: int | None) -> Limits:
    """Return the limits; the tightest of all groups for cores and memory.

    Raises:
        OSError: The process has ended.
    """
    folders = groups.with_ancestors("cpu")
    quota, of_quota = _tightest((_quota(folder), folder) for folder in folders)
    cores = [quota, _affinity(watched), _count_cpus(_set_of(groups, "cpus"))]
    name = "memory.max" if groups.is_unified else "memory.limit_in_bytes"
    memory, of_memory = _tightest(_limits_of(groups, name))
    physical = psutil.virtual_memory().total
    facts: dict[str, Value] = {
        "facts/memory_limit_bytes": min(physical, memory or physical)
    }
    if quota:
        facts["facts/cpu_quota_cores"] = quota
    if any(cores):
        facts["facts/effective_cores"] = float(min(filter(None, cores)))
    throttle, of_throttling = _tightest(_limits_of(groups, "memory.high"))
    if throttle:
        facts["facts/memory_throttle_bytes"] = throttle
    swap, _ = _tightest(_limits_of(groups, "memory.swap.max"))
    if swap is not None:
        facts["facts/swap_limit_bytes"] = swap
    nodes = _set_of(groups, "mems")
    if nodes:
        facts["facts/allowed_memory_nodes"] = nodes
    return Limits(facts, of_quota, of_memory, of_throttling)


def changed(before: Facts, after: Facts) -> Facts:
    """Return the current limits (pure); a logged fact cannot be deleted."""
    if "facts/cpu_quota_cores" in before.keys() - after.keys():
        return {**after, "facts/cpu_quota_cores": float(os.cpu_count() or 1)}
    return after


_Number = TypeVar("_Number", int, float)


def _tightest(
    found: Iterable[tuple[_Number | None, Path]],
) -> tuple[_Number | None, Path | None]:
    """Return the lowest limit, and the first group that has it."""
    there = [(limit, folder) for limit, folder in found if limit is not None]
    return min(there, key=lambda each: each[0], default=(None, None))


def _limits_of(groups: Groups, name: str) -> list[tuple[int, Path]]:
    """Return a memory limit of each group, outermost first.

    If groups have the same limit, the outermost is hit first.
    """
    folders = reversed(groups.with_ancestors("memory"))
    found = [(read_number(folder / name), folder) for folder in folders]
    return [
        (limit, folder)
        for limit, folder in found
        if limit is not None and limit < _UNLIMITED_BYTES
    ]


def _set_of(groups: Groups, kind: str) -> str:
    """Return the list of allowed `cpus` or `mems`; "" if there is none."""
    group = groups.of("cpuset")
    if group is None:
        return ""
    names = (f"cpuset.{kind}.effective", f"cpuset.effective_{kind}", f"cpuset.{kind}")
    found = (read_text(group / name) for name in names)
    return next((text for text in found if text), "")


def _quota(folder: Path) -> float | None:
    """Return the cores that a group may use, from the files of either version."""
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
    """Return the number of CPUs in a list such as `0-3,8`."""
    count = 0
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        count += int(high or low) - int(low) + 1
    return count
