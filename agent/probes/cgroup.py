"""The limits of the container, in version 1 and 2 of control groups."""

from __future__ import annotations

import os
from pathlib import Path

import psutil

from agent.probes.probe import Facts, ProbeUnavailable, Sample
from agent.probes.rates import known
from agent.values import Value

_ROOT = Path("/sys/fs/cgroup")
_PROCESSES = Path("/proc")
# Version 1 writes "no limit" as a number near 2**63.
_UNLIMITED_BYTES = 2**60


class CgroupProbe:
    """Reads the group of a process; limits also from the groups around it."""

    name = "cgroup"

    def __init__(
        self,
        watched: int | None = None,
        *,
        root: Path = _ROOT,
        processes: Path = _PROCESSES,
    ) -> None:
        """`watched` is the process; by default this one."""
        self._watched = watched
        self._groups = _find_groups(root, processes / str(watched or "self") / "cgroup")
        if not self._groups:
            raise ProbeUnavailable("no control groups")
        self._is_unified = "" in self._groups
        self._last_periods: tuple[int, int] | None = None

    def facts(self) -> Facts:
        cores = [
            c
            for c in (self._quota_cores(), _affinity(self._watched), self._set_cores())
            if c
        ]
        limits = [psutil.virtual_memory().total, *self._memory_limits()]
        facts: dict[str, Value] = {"facts/memory_limit_bytes": min(limits)}
        if cores:
            facts["facts/effective_cores"] = float(min(cores))
        return facts

    def sample(self, now: float) -> Sample:
        del now  # periods are counted by the kernel, not by our clock
        return known(
            {
                "cgroup/memory_used_bytes": self._memory_used(),
                "cgroup/throttled_share": self._throttled_share(),
            }
        )

    def _memory_used(self) -> float | None:
        group = self._group("memory")
        if group is None:
            return None
        used = _number(
            group / ("memory.current" if self._is_unified else "memory.usage_in_bytes")
        )
        statistics = _table(group / "memory.stat")
        key = "inactive_file" if self._is_unified else "total_inactive_file"
        if used is None:
            return None
        # The kernel gives this part of the page cache back before it runs out.
        return float(max(0, used - statistics.get(key, 0)))

    def _throttled_share(self) -> float | None:
        group = self._group("cpu")
        statistics = {} if group is None else _table(group / "cpu.stat")
        if "nr_periods" not in statistics:
            return None
        periods = statistics["nr_periods"], statistics.get("nr_throttled", 0)
        last, self._last_periods = self._last_periods, periods
        if last is None or periods[0] <= last[0]:
            return None
        return min(1.0, (periods[1] - last[1]) / (periods[0] - last[0]))

    def _quota_cores(self) -> float | None:
        quotas = [_quota(folder) for folder in self._with_ancestors("cpu")]
        return min((quota for quota in quotas if quota), default=None)

    def _set_cores(self) -> int | None:
        group = self._group("cpuset")
        if group is None:
            return None
        for name in ("cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"):
            count = _count_cpus(_text(group / name))
            if count:
                return count
        return None

    def _memory_limits(self) -> list[int]:
        name = "memory.max" if self._is_unified else "memory.limit_in_bytes"
        limits = (_number(folder / name) for folder in self._with_ancestors("memory"))
        return [limit for limit in limits if limit and limit < _UNLIMITED_BYTES]

    def _group(self, controller: str) -> Path | None:
        groups = self._with_ancestors(controller)
        return groups[0] if groups else None

    def _with_ancestors(self, controller: str) -> list[Path]:
        found = self._groups.get("" if self._is_unified else controller)
        if found is None:
            return []
        top, group = found
        inner = [group, *group.parents]
        return inner[: inner.index(top) + 1]


def _find_groups(root: Path, membership: Path) -> dict[str, tuple[Path, Path]]:
    """By controller ("" for version 2): where its tree begins, and our group in it."""
    groups: dict[str, tuple[Path, Path]] = {}
    for line in _text(membership).splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        for controller in controllers.split(","):
            top = root / controller
            group = top / path.lstrip("/")
            # In a container the path may be the host's: what we see is all of it.
            if ".." in path or not group.is_dir():
                group = top
            if top.is_dir():
                groups[controller] = (top, group)
    # Where both are mounted, version 2 has no controllers and answers nothing.
    is_unified = (root / "cgroup.controllers").exists()
    return {name: g for name, g in groups.items() if (name == "") == is_unified}


def _quota(folder: Path) -> float | None:
    """The cores that a group may use, from either version's files."""
    parts = _text(folder / "cpu.max").split()
    if not parts:
        parts = [
            _text(folder / "cpu.cfs_quota_us"),
            _text(folder / "cpu.cfs_period_us"),
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


def _table(path: Path) -> dict[str, int]:
    rows = (line.split() for line in _text(path).splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) > 1}


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text.isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
