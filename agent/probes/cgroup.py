"""The limits of the container, and what it takes, in version 1 and 2 of control groups."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

import psutil

from agent.probes.files import KernelFile, read_number, read_text, table
from agent.probes.groups import PROCESSES, ROOT, Groups
from agent.probes.probe import Facts, Job, Probe, ProbeUnavailable, Sample
from agent.probes.rates import Growth, Rates, known
from agent.probes.reading import COUNTED, SAMPLED, Fact, Reading, Scope
from agent.values import Value

# Version 1 writes "no limit" as a number near 2**63.
_UNLIMITED_BYTES = 2**60
_SECOND_IN_MICROSECONDS, _SECOND_IN_NANOSECONDS = 1e6, 1e9


def _reading(name: str, unit: str, source: str, quality: float, text: str) -> Reading:
    return Reading(f"cgroup/{name}", unit, Scope.CONTAINER, source, quality, text)


class CgroupProbe(Probe):
    """Reads the group of a process; limits also from the groups around it."""

    name = "cgroup"
    readings: ClassVar[tuple[Reading, ...]] = (
        _reading("cpu_cores", "cores", "cpu.stat", COUNTED, "CPU seconds per second"),
        _reading(
            "throttled_share",
            "0–1",
            "cpu.stat",
            COUNTED,
            "share of scheduler periods in which the CPU quota stopped the job",
        ),
        _reading(
            "throttled_seconds_per_second",
            "s/s",
            "cpu.stat",
            COUNTED,
            "time that threads were kept from running by the quota, all together",
        ),
        _reading(
            "memory_used_bytes", "B", "memory.stat", SAMPLED, "without inactive cache"
        ),
        _reading("page_cache_bytes", "B", "memory.stat", SAMPLED, "files in memory"),
        _reading(
            "memory_limit_hits",
            "",
            "memory.events",
            COUNTED,
            "times that the memory limit was met since the agent began",
        ),
        _reading(
            "oom_kills",
            "",
            "memory.events",
            COUNTED,
            "processes killed for memory since the agent began",
        ),
    )
    states: ClassVar[tuple[Fact, ...]] = (
        Fact(
            "facts/effective_cores",
            "float",
            "least of CPU quota, affinity and CPU set",
        ),
        Fact(
            "facts/cpu_quota_cores", "float", "the container's, absent if it has none"
        ),
        Fact(
            "facts/memory_limit_bytes",
            "int",
            "least of physical memory and the container's limit",
        ),
    )

    def __init__(
        self,
        watched: int | None = None,
        *,
        root: Path = ROOT,
        processes: Path = PROCESSES,
    ) -> None:
        """`watched` is the process; by default this one."""
        self._watched = watched
        self._groups = Groups(watched, root=root, processes=processes)
        if not self._groups:
            raise ProbeUnavailable("no control groups")
        self._files = _Files(self._groups)
        self._last_periods: tuple[int, int] | None = None
        self._rates = Rates()
        self._limit_hits, self._kills = Growth(), Growth()

    @classmethod
    def of(cls, job: Job) -> CgroupProbe:
        return cls(job.watched)

    def facts(self) -> Facts:
        quota = self._quota_cores()
        cores = [c for c in (quota, _affinity(self._watched), self._set_cores()) if c]
        limits = [psutil.virtual_memory().total, *self._memory_limits()]
        facts: dict[str, Value] = {"facts/memory_limit_bytes": min(limits)}
        if quota:
            facts["facts/cpu_quota_cores"] = quota
        if cores:
            facts["facts/effective_cores"] = float(min(cores))
        return facts

    def sample(self, now: float) -> Sample:
        files = self._files
        processor = table(files.processor.read() or "")
        memory = table(files.memory.read() or "")
        events = table(files.events.read() or "")
        rates = self._rates.of(
            {
                "cgroup/cpu_cores": self._used_seconds(processor),
                "cgroup/throttled_seconds_per_second": _throttled_seconds(processor),
            },
            now,
        )
        hits = _number(files.failures) if files.failures else events.get("max")
        return known(
            {
                **rates,
                "cgroup/throttled_share": self._throttled_share(processor),
                "cgroup/memory_used_bytes": self._memory_used(memory),
                "cgroup/page_cache_bytes": _first(memory, "total_cache", "file"),
                "cgroup/memory_limit_hits": self._limit_hits.of(hits),
                "cgroup/oom_kills": self._kills.of(events.get("oom_kill")),
            }
        )

    def _used_seconds(self, processor: dict[str, int]) -> float | None:
        if "usage_usec" in processor:
            return processor["usage_usec"] / _SECOND_IN_MICROSECONDS
        nanoseconds = _number(self._files.usage) if self._files.usage else None
        return None if nanoseconds is None else nanoseconds / _SECOND_IN_NANOSECONDS

    def _memory_used(self, memory: dict[str, int]) -> float | None:
        used = _number(self._files.used)
        if used is None:
            return None
        # The kernel gives this part of the page cache back before it runs out.
        idle = _first(memory, "total_inactive_file", "inactive_file")
        return float(max(0.0, used - (idle or 0.0)))

    def _throttled_share(self, processor: dict[str, int]) -> float | None:
        if "nr_periods" not in processor:
            return None
        periods = processor["nr_periods"], processor.get("nr_throttled", 0)
        last, self._last_periods = self._last_periods, periods
        if last is None or periods[0] <= last[0]:
            return None
        return min(1.0, max(0, periods[1] - last[1]) / (periods[0] - last[0]))

    def _quota_cores(self) -> float | None:
        quotas = [_quota(folder) for folder in self._groups.with_ancestors("cpu")]
        return min((quota for quota in quotas if quota), default=None)

    def _set_cores(self) -> int | None:
        group = self._groups.of("cpuset")
        if group is None:
            return None
        for name in ("cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"):
            count = _count_cpus(read_text(group / name))
            if count:
                return count
        return None

    def _memory_limits(self) -> list[int]:
        is_unified = self._groups.is_unified
        name = "memory.max" if is_unified else "memory.limit_in_bytes"
        folders = self._groups.with_ancestors("memory")
        limits = (read_number(folder / name) for folder in folders)
        return [limit for limit in limits if limit and limit < _UNLIMITED_BYTES]


class _Files:
    """The files that are read at every sample; those of other versions are None."""

    def __init__(self, groups: Groups) -> None:
        nowhere = Path("/nonexistent")
        is_unified = groups.is_unified
        processor = groups.of("cpu") or nowhere
        memory = groups.of("memory") or nowhere
        self.processor = KernelFile(processor / "cpu.stat")
        self.memory = KernelFile(memory / "memory.stat")
        self.used = KernelFile(
            memory / ("memory.current" if is_unified else "memory.usage_in_bytes")
        )
        # Version 1 tells of kills where it tells whether they are allowed.
        self.events = KernelFile(
            memory / ("memory.events" if is_unified else "memory.oom_control")
        )
        accounting = groups.of("cpuacct") or nowhere
        self.usage = None if is_unified else KernelFile(accounting / "cpuacct.usage")
        self.failures = None if is_unified else KernelFile(memory / "memory.failcnt")


def _throttled_seconds(processor: dict[str, int]) -> float | None:
    # Groups without a quota have the line, too, and it never moves.
    if not processor.get("nr_periods"):
        return None
    if "throttled_usec" in processor:
        return processor["throttled_usec"] / _SECOND_IN_MICROSECONDS
    nanoseconds = processor.get("throttled_time")
    return None if nanoseconds is None else nanoseconds / _SECOND_IN_NANOSECONDS


def _first(numbers: dict[str, int], *names: str) -> float | None:
    found = [numbers[name] for name in names if name in numbers]
    return float(found[0]) if found else None


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
    """Count a list of CPUs such as `0-3,8`."""
    count = 0
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        count += int(high or low) - int(low) + 1
    return count


def _number(file: KernelFile) -> int | None:
    text = (file.read() or "").strip()
    return int(text) if text.isdigit() else None
