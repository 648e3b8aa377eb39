"""CPU metrics of the machine: all cores, and those that the job may use."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import ClassVar

from seamark.probes.files import KernelFile, read_number, read_text
from seamark.probes.machine.cores import (
    Statistics,
    core_shares,
    cpu_list,
    distribution,
    parse_statistics,
)
from seamark.probes.probe import Facts, Job, Probe, ProbeUnavailable, Sample
from seamark.probes.rates import known
from seamark.probes.reading import COARSE, INFERRED, SAMPLED, Fact, Reading, Scope
from seamark.recording.values import Value

_DEVICES = Path("/dev")
_SHORTEST_SECONDS = 0.25
_CLOCK_SECONDS = 10.0
# Enough to detect a machine with reduced clocks.
_MAX_CLOCKS = 8
# Created by the drivers of NVIDIA (also on Jetson and in WSL) and of AMD.
_GPU_DEVICES = ("nvidia*", "nvhost*", "dxg", "kfd")

_STAT = "/proc/stat"
_OF_HOST = (
    ("cpu_percent", "% of all cores", COARSE, ""),
    (
        "cpu_wait_percent",
        "% of all cores",
        INFERRED,
        "I/O wait",
    ),
    (
        "cpu_steal_percent",
        "% of all cores",
        COARSE,
        "steal time of this virtual machine",
    ),
    ("running_processes", "", COARSE, "running or runnable"),
    ("blocked_processes", "", COARSE, "waiting for a disk"),
)
_OF_CORES = (
    ("busiest_percent", "% of a core", "busiest core"),
    ("median_percent", "% of a core", ""),
    ("idlest_percent", "% of a core", "least busy core"),
    ("saturated", "cores", "cores at 90 % or more"),
    ("idle", "cores", "cores at 10 % or less"),
)


class HostProbe(Probe):
    """Reads the kernel's counters of every core."""

    name = "host"
    readings: ClassVar[tuple[Reading, ...]] = (
        *(
            Reading(f"host/{name}", unit, Scope.HOST, _STAT, quality, meaning)
            for name, unit, quality, meaning in _OF_HOST
        ),
        *(
            Reading(f"cores/{name}", unit, Scope.CORES, _STAT, SAMPLED, meaning)
            for name, unit, meaning in _OF_CORES
        ),
        Reading(
            "host/load",
            "",
            Scope.HOST,
            "/proc/loadavg",
            COARSE,
            "load average of one minute",
        ),
        Reading(
            "host/cpu_mhz",
            "MHz",
            Scope.HOST,
            "cpufreq",
            COARSE,
            f"mean of at most {_MAX_CLOCKS} cores",
            _CLOCK_SECONDS,
        ),
    )
    states: ClassVar[tuple[Fact, ...]] = (
        Fact("facts/host", "string", "hostname"),
        Fact("facts/python", "string"),
        Fact("facts/platform", "string"),
        Fact("facts/cpu_model", "string"),
        Fact("facts/host_cores", "int", "logical CPUs"),
        Fact(
            "facts/allowed_cpus",
            "string",
            "CPU affinity at the start, for example `0-15,64-79`",
        ),
        Fact("facts/cpu_max_mhz", "float", "maximum clock"),
        Fact(
            "facts/gpu_count",
            "int",
            "GPUs visible to the process; absent if unknown",
        ),
    )

    def __init__(
        self,
        watched: int | None = None,
        *,
        devices: Path = _DEVICES,
        processes: Path = Path("/proc"),
        system: Path = Path("/sys/devices/system/cpu"),
    ) -> None:
        self._watched = watched
        self._devices = devices
        self._processes = processes
        self._clocks = [
            KernelFile(path)
            for path in sorted(system.glob("cpu[0-9]*/cpufreq/scaling_cur_freq"))
        ][:_MAX_CLOCKS]
        self._system = system
        self._file = KernelFile(processes / "stat", never_blocks=True)
        self._load = KernelFile(processes / "loadavg", never_blocks=True)
        self._last: tuple[float, Statistics] | None = None
        self._clocks_at = float("-inf")
        self._ticks = float(os.sysconf("SC_CLK_TCK"))
        if parse_statistics(self._file.read() or "") is None:
            raise ProbeUnavailable("no /proc/stat")

    @classmethod
    def of(cls, job: Job) -> HostProbe:
        return cls(job.watched)

    def facts(self) -> Facts:
        facts = facts_of_system()
        cores = os.cpu_count()
        if cores:
            facts["facts/host_cores"] = cores
        allowed = _allowed(self._watched)
        if allowed:
            facts["facts/allowed_cpus"] = cpu_list(sorted(allowed))
        model = _cpu_model(read_text(self._processes / "cpuinfo"))
        if model:
            facts["facts/cpu_model"] = model
        most = read_number(self._system / "cpu0/cpufreq/cpuinfo_max_freq")
        if most:
            facts["facts/cpu_max_mhz"] = most / 1000
        if not _has_gpu(self._devices):
            facts["facts/gpu_count"] = 0
        return facts

    def sample(self, now: float) -> Sample:
        statistics = parse_statistics(self._file.read() or "")
        load = (self._load.read() or "").split()
        readings: dict[str, float | None] = {
            "host/load": float(load[0]) if load else None,
            "host/cpu_mhz": self._clock(now),
        }
        if statistics is not None:
            readings["host/running_processes"] = _as_float(statistics.running)
            readings["host/blocked_processes"] = _as_float(statistics.blocked)
            readings.update(self._shares(statistics, now))
        return known(readings)

    def _shares(self, statistics: Statistics, now: float) -> Sample:
        last = self._last
        if last is not None and now < last[0] + _SHORTEST_SECONDS:
            return {}
        self._last = now, statistics
        if last is None:
            return {}
        before, ticks = last[1], (now - last[0]) * self._ticks
        whole = ticks * max(1, len(statistics.cores))
        grown = [
            new - old for old, new in zip(before.whole, statistics.whole, strict=True)
        ]
        if min(grown[0], grown[2]) < 0:
            # A container was migrated: the counters are those of another machine.
            return {}
        shares = core_shares(
            before.cores, statistics.cores, ticks, _allowed(self._watched)
        )
        return {
            "host/cpu_percent": min(100.0, 100 * (grown[0] + grown[2]) / whole),
            "host/cpu_wait_percent": min(100.0, 100 * max(0, grown[1]) / whole),
            "host/cpu_steal_percent": min(100.0, 100 * grown[2] / whole),
            **distribution(shares),
        }

    def _clock(self, now: float) -> float | None:
        if now < self._clocks_at:
            return None
        self._clocks_at = now + _CLOCK_SECONDS
        texts = [(file.read() or "").strip() for file in self._clocks]
        clocks = [int(text) / 1000 for text in texts if text.isdigit()]
        return sum(clocks) / len(clocks) if clocks else None


def facts_of_system() -> dict[str, Value]:
    # Not from `platform`, which starts a process to determine the CPU.
    system = os.uname()
    return {
        "facts/host": system.nodename,
        "facts/python": ".".join(map(str, sys.version_info[:3])),
        "facts/platform": f"{system.sysname} {system.release} {system.machine}",
    }


def _allowed(watched: int | None) -> frozenset[int] | None:
    try:
        return frozenset(os.sched_getaffinity(watched or 0))
    except (OSError, AttributeError):
        return None


def _cpu_model(text: str) -> str:
    for line in text.splitlines():
        name, _, model = line.partition(":")
        # ARM kernels have no model name here.
        if name.strip() == "model name":
            return model.strip()
    return ""


def _has_gpu(devices: Path) -> bool:
    return any(next(devices.glob(name), None) for name in _GPU_DEVICES)


def _as_float(count: int | None) -> float | None:
    return None if count is None else float(count)
