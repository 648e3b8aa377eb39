"""Memory metrics of the machine, including signs of memory pressure."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from seamark.probes.files import KernelFile, picked
from seamark.probes.probe import Facts, Probe, ProbeUnavailable, Sample
from seamark.probes.rates import Growth, Rates, known
from seamark.probes.reading import COARSE, Fact, Reading, Scope

_KIBIBYTE = 1024
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_COUNTS = ("pswpin", "pswpout", "pgmajfault", "oom_kill")
_AMOUNTS = (
    "MemTotal",
    "MemAvailable",
    "Cached",
    "Shmem",
    "Dirty",
    "SwapTotal",
    "SwapFree",
)
_MEMINFO, _VMSTAT = "/proc/meminfo", "/proc/vmstat"


def _reading(name: str, unit: str, source: str, meaning: str) -> Reading:
    return Reading(f"host/{name}", unit, Scope.HOST, source, COARSE, meaning)


class MemoryProbe(Probe):
    """Reads the kernel's counters for the whole host."""

    name = "memory"
    is_of_machine = True
    readings: ClassVar[tuple[Reading, ...]] = (
        _reading("memory_used_bytes", "B", _MEMINFO, "without page cache"),
        _reading("page_cache_bytes", "B", _MEMINFO, ""),
        _reading("shared_memory_bytes", "B", _MEMINFO, "including `/dev/shm`"),
        _reading("dirty_bytes", "B", _MEMINFO, "not yet written to disk"),
        _reading("swap_used_bytes", "B", _MEMINFO, "absent without swap"),
        _reading("swap_in_bytes_per_second", "B/s", _VMSTAT, ""),
        _reading("swap_out_bytes_per_second", "B/s", _VMSTAT, ""),
        _reading(
            "major_faults_per_second",
            "1/s",
            _VMSTAT,
            "page faults that read from a disk",
        ),
        _reading(
            "oom_kills",
            "",
            _VMSTAT,
            "processes killed by the OOM killer",
        ),
    )
    states: ClassVar[tuple[Fact, ...]] = (
        Fact("facts/host_memory_bytes", "int", "physical memory"),
    )

    def __init__(self, processes: Path = Path("/proc")) -> None:
        self._info = KernelFile(processes / "meminfo", never_blocks=True)
        self._counts = KernelFile(processes / "vmstat")
        self._rates = Rates()
        self._kills = Growth()
        if self._info.read() is None:
            raise ProbeUnavailable("no /proc/meminfo")

    def facts(self) -> Facts:
        total = picked(self._info.read() or "", _AMOUNTS, ":").get("MemTotal")
        return {"facts/host_memory_bytes": total * _KIBIBYTE} if total else {}

    def sample(self, now: float) -> Sample:
        counts = picked(self._counts.read() or "", _COUNTS, " ")
        rates = {
            "host/swap_in_bytes_per_second": counts.get("pswpin"),
            "host/swap_out_bytes_per_second": counts.get("pswpout"),
            "host/major_faults_per_second": counts.get("pgmajfault"),
        }
        readings = self._rates.of(rates, now)
        for name in ("swap_in", "swap_out"):
            path = f"host/{name}_bytes_per_second"
            pages = readings[path]
            readings[path] = None if pages is None else pages * _PAGE_BYTES
        readings["host/oom_kills"] = self._kills.of(counts.get("oom_kill"))
        return known(
            {**amounts(picked(self._info.read() or "", _AMOUNTS, ":")), **readings}
        )


def amounts(info: dict[str, int]) -> dict[str, float | None]:
    """Return bytes by metric, from the lines of /proc/meminfo."""

    def of(*names: str) -> float | None:
        if any(name not in info for name in names):
            return None
        first, *others = (info[name] * _KIBIBYTE for name in names)
        return float(max(0, first - sum(others)))

    return {
        "host/memory_used_bytes": of("MemTotal", "MemAvailable"),
        "host/page_cache_bytes": of("Cached", "Shmem"),
        "host/shared_memory_bytes": of("Shmem"),
        "host/dirty_bytes": of("Dirty"),
        "host/swap_used_bytes": (
            of("SwapTotal", "SwapFree") if info.get("SwapTotal") else None
        ),
    }
