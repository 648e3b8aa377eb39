"""Disk I/O of the machine: bytes, requests, latency, and the busiest disk."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, NamedTuple

from seamark.probes.files import KernelFile
from seamark.probes.probe import Probe, ProbeUnavailable, Sample
from seamark.probes.reading import COARSE, INFERRED, Reading, Scope

_SECTOR_BYTES = 512  # in /proc/diskstats, whatever the disk's sector size
_SHORTEST_SECONDS = 0.25
# Memory-backed disks, and disks composed of others, which are counted themselves.
_NOT_DISKS = re.compile(r"(loop|ram|zram|sr|fd|dm-|md)\d+$")
_FEWEST_FIELDS = 14
_SOURCE = "/proc/diskstats"


class DiskCounts(NamedTuple):
    """Counters of one disk since the machine started."""

    reads: int
    read_bytes: int
    read_milliseconds: int
    writes: int
    write_bytes: int
    write_milliseconds: int
    busy_milliseconds: int
    queue_milliseconds: int  # weighted by the number of waiting requests


def _reading(name: str, unit: str, quality: float, meaning: str = "") -> Reading:
    return Reading(f"host/{name}", unit, Scope.HOST, _SOURCE, quality, meaning)


class DisksProbe(Probe):
    """Reads the kernel's counters for each disk; network file systems are not included."""

    name = "disks"
    is_of_machine = True
    readings: ClassVar[tuple[Reading, ...]] = (
        _reading("disk_read_bytes_per_second", "B/s", COARSE),
        _reading("disk_write_bytes_per_second", "B/s", COARSE),
        _reading("disk_reads_per_second", "1/s", COARSE, "requests"),
        _reading("disk_writes_per_second", "1/s", COARSE, "requests"),
        _reading("disk_read_seconds", "s", COARSE, "mean time of a read"),
        _reading("disk_write_seconds", "s", COARSE, "mean time of a write"),
        _reading("disk_queue", "", COARSE, "mean requests in progress, all disks"),
        _reading(
            "disk_busiest_percent",
            "% of time",
            INFERRED,
            "busiest disk; less meaningful for parallel disks such as NVMe",
        ),
    )

    def __init__(
        self,
        file: Path = Path("/proc/diskstats"),
        blocks: Path = Path("/sys/block"),
    ) -> None:
        # A disk and its partitions are one record.
        self._file = KernelFile(file, has_long_records=True, never_blocks=True)
        self._blocks = blocks
        self._disks: dict[str, bool] = {}
        self._last: tuple[float, Mapping[str, DiskCounts]] | None = None
        if self._file.read() is None:
            raise ProbeUnavailable("no /proc/diskstats")

    def sample(self, now: float) -> Sample:
        last = self._last
        if last is not None and now < last[0] + _SHORTEST_SECONDS:
            return {}
        counts = {
            name: found
            for name, found in parse_disks(self._file.read() or "").items()
            if self._is_disk(name)
        }
        self._last = now, counts
        return {} if last is None else disk_readings(last[1], counts, now - last[0])

    def _is_disk(self, name: str) -> bool:
        known = self._disks.get(name)
        if known is None:
            # Partitions have no folder there.
            is_whole = not self._blocks.is_dir() or (self._blocks / name).exists()
            known = self._disks[name] = is_whole and not _NOT_DISKS.match(name)
        return known


def parse_disks(text: str) -> dict[str, DiskCounts]:
    disks = {}
    for line in text.splitlines():
        _, _, name, *fields = line.split()
        if len(fields) < _FEWEST_FIELDS - 3:
            continue
        numbers = [int(field) for field in fields[:11]]
        reads, _, sectors, spent, writes, _, written, wrote, _, busy, queue = numbers
        disks[name] = DiskCounts(
            reads,
            sectors * _SECTOR_BYTES,
            spent,
            writes,
            written * _SECTOR_BYTES,
            wrote,
            busy,
            queue,
        )
    return disks


def disk_readings(
    before: Mapping[str, DiskCounts], after: Mapping[str, DiskCounts], seconds: float
) -> dict[str, float]:
    """Return the disk metrics of an interval; empty if there is no disk."""
    grown = [
        DiskCounts(*(new - old for old, new in zip(before[name], now, strict=True)))
        for name, now in after.items()
        if name in before
    ]
    # The counters fall if a disk is replaced by another with the same name.
    grown = [disk for disk in grown if min(disk) >= 0]
    if not grown:
        return {}
    total = DiskCounts(*map(sum, zip(*grown, strict=True)))
    busiest = max(disk.busy_milliseconds for disk in grown) / 1000
    readings = {
        "host/disk_read_bytes_per_second": total.read_bytes / seconds,
        "host/disk_write_bytes_per_second": total.write_bytes / seconds,
        "host/disk_reads_per_second": total.reads / seconds,
        "host/disk_writes_per_second": total.writes / seconds,
        "host/disk_queue": total.queue_milliseconds / 1000 / seconds,
        "host/disk_busiest_percent": min(100.0, 100 * busiest / seconds),
    }
    if total.reads:
        readings["host/disk_read_seconds"] = (
            total.read_milliseconds / 1000 / total.reads
        )
    if total.writes:
        readings["host/disk_write_seconds"] = (
            total.write_milliseconds / 1000 / total.writes
        )
    return readings
