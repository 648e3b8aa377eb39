"""Limits and usage of the container, from control groups of version 1 and 2."""

from __future__ import annotations

import os
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import ClassVar

from seamark.probes.files import KernelFile, table
from seamark.probes.machine.cgroup_limits import FACTS, Limits, changed, limits
from seamark.probes.machine.groups import PROCESSES, ROOT, Groups
from seamark.probes.probe import Facts, Job, Probe, ProbeUnavailable, Sample
from seamark.probes.rates import Growth, Rates, known
from seamark.probes.reading import COUNTED, SAMPLED, Fact, Reading, Scope

_SECOND_IN_MICROSECONDS, _SECOND_IN_NANOSECONDS = 1e6, 1e9
_TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.01
_SELDOM_SECONDS = 10.0
_LIMITS_SECONDS = 30.0


def _reading(name: str, unit: str, source: str, quality: float, text: str) -> Reading:
    return Reading(f"cgroup/{name}", unit, Scope.CONTAINER, source, quality, text)


class CgroupProbe(Probe):
    """Measures a process's group, and the parent groups that limit it."""

    name = "cgroup"
    readings: ClassVar[tuple[Reading, ...]] = (
        _reading("cpu_cores", "cores", "cpu.stat", COUNTED, "CPU seconds per second"),
        _reading("cpu_user_cores", "cores", "cpu.stat", COUNTED, "user mode"),
        _reading("cpu_system_cores", "cores", "cpu.stat", COUNTED, "kernel mode"),
        _reading(
            "throttled_share",
            "0–1",
            "cpu.stat",
            COUNTED,
            "scheduler periods throttled by the CPU quota",
        ),
        _reading(
            "throttled_seconds_per_second",
            "s/s",
            "cpu.stat",
            COUNTED,
            "throttled time, sum over threads",
        ),
        _reading(
            "memory_used_bytes", "B", "memory.stat", SAMPLED, "without inactive cache"
        ),
        _reading("page_cache_bytes", "B", "memory.stat", SAMPLED, ""),
        Reading(
            "cgroup/memory_peak_bytes",
            "B",
            Scope.CONTAINER,
            "memory.peak",
            COUNTED,
            "peak, with page cache",
            _SELDOM_SECONDS,
        ),
        Reading(
            "cgroup/swap_used_bytes",
            "B",
            Scope.CONTAINER,
            "memory.swap.current",
            SAMPLED,
            "",
            _SELDOM_SECONDS,
        ),
        _reading(
            "memory_throttle_hits",
            "",
            "memory.events",
            COUNTED,
            "times throttled at `memory.high` (version 2)",
        ),
        _reading(
            "memory_limit_hits",
            "",
            "memory.events",
            COUNTED,
            "times the memory limit was reached",
        ),
        _reading(
            "oom_hits",
            "",
            "memory.events",
            COUNTED,
            "times memory ran out with nothing left to reclaim (version 2)",
        ),
        _reading(
            "oom_kills",
            "",
            "memory.events",
            COUNTED,
            "processes killed by the OOM killer",
        ),
    )
    states: ClassVar[tuple[Fact, ...]] = FACTS

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
        self._limits = limits(self._groups, watched)
        self._limits_at: float | None = None
        self._news: Facts = {}
        self._files = _Files(self._groups, self._limits)
        self._last_periods: tuple[int, int] | None = None
        self._rates = Rates()
        self._grown: defaultdict[str, Growth] = defaultdict(Growth)
        self._seldom_at = float("-inf")

    @classmethod
    def of(cls, job: Job) -> CgroupProbe:
        return cls(job.watched)

    def facts(self) -> Facts:
        return self._limits.facts

    def news(self) -> Facts:
        news, self._news = self._news, {}
        return news

    def sample(self, now: float) -> Sample:
        self._look_at_limits(now)
        files = self._files
        processor = table(files.processor.read() or "")
        quota = processor
        if files.quota is not None:
            quota = table(files.quota.read() or "")
        memory = table(files.memory.read() or "")
        events = table(files.events.read() or "")
        throttles = events
        if files.throttles is not None:
            throttles = table(files.throttles.read() or "")
        user, system = self._split_seconds(processor)
        rates = self._rates.of(
            {
                "cgroup/cpu_cores": self._used_seconds(processor),
                "cgroup/cpu_user_cores": user,
                "cgroup/cpu_system_cores": system,
                "cgroup/throttled_seconds_per_second": _throttled_seconds(quota),
            },
            now,
        )
        hits = _number(files.failures) if files.failures else events.get("max")
        counts = {
            "cgroup/memory_throttle_hits": throttles.get("high"),
            "cgroup/memory_limit_hits": hits,
            "cgroup/oom_hits": events.get("oom"),
            "cgroup/oom_kills": events.get("oom_kill"),
        }
        return known(
            {
                **rates,
                "cgroup/throttled_share": self._throttled_share(quota),
                "cgroup/memory_used_bytes": self._memory_used(memory),
                "cgroup/page_cache_bytes": _first(memory, "total_cache", "file"),
                **self._seldom(memory, now),
                **{path: self._grown[path].of(n) for path, n in counts.items()},
            }
        )

    def _look_at_limits(self, now: float) -> None:
        """Check whether the limits have changed, and use the groups that set them."""
        if self._limits_at is None:
            self._limits_at = now + _LIMITS_SECONDS
        if now < self._limits_at:
            return
        self._limits_at = now + _LIMITS_SECONDS
        try:
            found = limits(self._groups, self._watched)
        except OSError:
            # The process has ended, and its groups may be deleted.
            return
        before, self._limits = self._limits, found
        if found == before:
            return
        self._news = changed(before.facts, found.facts)
        if found[1:] != before[1:]:
            self._begin_anew()

    def _begin_anew(self) -> None:
        """Use the groups that set the limits now, with their own counters."""
        self._files = _Files(self._groups, self._limits)
        self._last_periods = None
        self._rates.forget(["cgroup/throttled_seconds_per_second"])
        for growth in self._grown.values():
            growth.go_on_with_another()

    def _used_seconds(self, processor: dict[str, int]) -> float | None:
        if "usage_usec" in processor:
            return processor["usage_usec"] / _SECOND_IN_MICROSECONDS
        nanoseconds = _number(self._files.usage) if self._files.usage else None
        return None if nanoseconds is None else nanoseconds / _SECOND_IN_NANOSECONDS

    def _split_seconds(
        self, processor: dict[str, int]
    ) -> tuple[float | None, float | None]:
        """Return the CPU time in user and in kernel mode, in seconds."""
        if self._files.split is None:
            user = _first(processor, "user_usec")
            system = _first(processor, "system_usec")
            factor = 1 / _SECOND_IN_MICROSECONDS
        else:
            ticks = table(self._files.split.read() or "")
            user, system = _first(ticks, "user"), _first(ticks, "system")
            factor = _TICK_SECONDS
        return (
            None if user is None else user * factor,
            None if system is None else system * factor,
        )

    def _seldom(self, memory: dict[str, int], now: float) -> dict[str, float | None]:
        if now < self._seldom_at - 0.5:
            return {}
        self._seldom_at = now + _SELDOM_SECONDS
        return {
            "cgroup/memory_peak_bytes": _as_float(_number(self._files.peak)),
            "cgroup/swap_used_bytes": _first(memory, "total_swap")
            if self._files.swap is None
            else _as_float(_number(self._files.swap)),
        }

    def _memory_used(self, memory: dict[str, int]) -> float | None:
        used = _number(self._files.used)
        if used is None:
            return None
        # The kernel frees this part of the page cache before memory runs out.
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


class _Files:
    """The files that are read for every sample; None if the version has none."""

    def __init__(self, groups: Groups, limits: Limits) -> None:
        nowhere = Path("/nonexistent")
        is_unified = groups.is_unified
        processor = groups.of("cpu") or nowhere
        own_memory = groups.of("memory") or nowhere
        memory = limits.of_memory or own_memory
        # Statistics that the kernel sums over groups may block on its lock.
        statistics = partial(KernelFile, never_blocks=not is_unified)
        self.processor = statistics(processor / "cpu.stat")
        self.quota = None
        if limits.of_quota not in (None, processor):
            self.quota = statistics(limits.of_quota / "cpu.stat")
        self.memory = KernelFile(memory / "memory.stat")
        counter = partial(KernelFile, never_blocks=True)
        self.used = counter(
            memory / ("memory.current" if is_unified else "memory.usage_in_bytes")
        )
        self.peak = counter(
            memory / ("memory.peak" if is_unified else "memory.max_usage_in_bytes")
        )
        # Version 1 has it in its statistics, if it accounts swap.
        self.swap = counter(memory / "memory.swap.current") if is_unified else None
        # Version 1 reports kills in memory.oom_control, and only in the group of the
        # killed process.
        self.events = counter(
            memory / "memory.events"
            if is_unified
            else own_memory / "memory.oom_control"
        )
        self.throttles = None
        if limits.of_throttling not in (None, memory):
            self.throttles = counter(limits.of_throttling / "memory.events")
        accounting = groups.of("cpuacct") or nowhere
        self.usage = None if is_unified else counter(accounting / "cpuacct.usage")
        self.split = None if is_unified else counter(accounting / "cpuacct.stat")
        self.failures = None if is_unified else counter(memory / "memory.failcnt")


def _throttled_seconds(processor: dict[str, int]) -> float | None:
    # Groups without a quota have the line too, with constant values.
    if not processor.get("nr_periods"):
        return None
    if "throttled_usec" in processor:
        return processor["throttled_usec"] / _SECOND_IN_MICROSECONDS
    nanoseconds = processor.get("throttled_time")
    return None if nanoseconds is None else nanoseconds / _SECOND_IN_NANOSECONDS


def _first(numbers: dict[str, int], *names: str) -> float | None:
    found = [numbers[name] for name in names if name in numbers]
    return float(found[0]) if found else None


def _as_float(number: int | None) -> float | None:
    return None if number is None else float(number)


def _number(file: KernelFile) -> int | None:
    text = (file.read() or "").strip()
    return int(text) if text.isdigit() else None
