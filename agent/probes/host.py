"""The machine as a whole: CPU, memory, disks and network."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import psutil

from agent.probes.probe import Facts, Sample
from agent.probes.rates import Rate, known
from agent.values import Value

_LOOPBACK_PREFIX = "lo"
_DEVICES = Path("/dev")
# Drivers of NVIDIA (also on Jetson and inside WSL) and of AMD make one of these.
_GPU_DEVICES = ("nvidia*", "nvhost*", "dxg", "kfd")


class HostProbe:
    """Reads what the kernel counts for the whole host."""

    name = "host"

    def __init__(self, devices: Path = _DEVICES) -> None:
        self._devices = devices
        self._busy = Rate()
        self._cores = psutil.cpu_count() or 0
        self._disk_read, self._disk_write = Rate(), Rate()
        self._received, self._sent = Rate(), Rate()

    def facts(self) -> Facts:
        # Not from `platform`, which starts a process to find out the processor.
        system = os.uname()
        facts: dict[str, Value] = {
            "facts/host": system.nodename,
            "facts/python": ".".join(map(str, sys.version_info[:3])),
            "facts/platform": f"{system.sysname} {system.release} {system.machine}",
        }
        if self._cores:
            facts["facts/host_cores"] = self._cores
        if system.sysname == "Linux" and not _has_gpu(self._devices):
            facts["facts/gpu_count"] = 0
        return facts

    def sample(self, now: float) -> Sample:
        memory = psutil.virtual_memory()
        readings: dict[str, float | None] = {
            "host/cpu_percent": self._cpu_percent(now),
            "host/memory_used_bytes": float(memory.total - memory.available),
        }
        disk = psutil.disk_io_counters()
        if disk is not None:
            read, written = disk.read_bytes, disk.write_bytes
            readings["host/disk_read_bytes_per_second"] = self._disk_read.of(read, now)
            readings["host/disk_write_bytes_per_second"] = self._disk_write.of(
                written, now
            )
        received, sent = _network_bytes()
        readings["host/network_receive_bytes_per_second"] = self._received.of(
            received, now
        )
        readings["host/network_send_bytes_per_second"] = self._sent.of(sent, now)
        return known(readings)

    def _cpu_percent(self, now: float) -> float | None:
        times = psutil.cpu_times()
        # Guest time is counted in user time already.
        busy = times.user + times.nice + times.system
        busy += times.irq + times.softirq + times.steal
        cores = self._busy.of(busy, now)
        if cores is None or not self._cores:
            return None
        return min(100.0, 100.0 * cores / self._cores)


def _has_gpu(devices: Path) -> bool:
    return any(next(devices.glob(name), None) for name in _GPU_DEVICES)


def _network_bytes() -> tuple[int, int]:
    """Bytes received and sent, without what the host sends to itself."""
    counters = [
        counter
        for name, counter in psutil.net_io_counters(pernic=True).items()
        if not name.startswith(_LOOPBACK_PREFIX)
    ]
    return sum(c.bytes_recv for c in counters), sum(c.bytes_sent for c in counters)
