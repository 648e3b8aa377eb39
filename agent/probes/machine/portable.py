"""Machine metrics through psutil, for systems without /proc."""

from __future__ import annotations

from typing import ClassVar

import psutil

from seamark.probes.machine.host import facts_of_system
from seamark.probes.probe import Facts, Probe, ProbeUnavailable, Sample
from seamark.probes.rates import Rate, Rates, known
from seamark.probes.reading import COARSE, Reading, Scope

_SOURCE = "psutil"
_LOOPBACK_PREFIX = "lo"


class PortableProbe(Probe):
    """Measures CPU, memory, disks and network on systems other than Linux."""

    name = "portable"
    is_of_machine = True
    readings: ClassVar[tuple[Reading, ...]] = tuple(
        Reading(f"host/{name}", unit, Scope.HOST, _SOURCE, COARSE)
        for name, unit in (
            ("cpu_percent", "% of all cores"),
            ("memory_used_bytes", "B"),
            ("disk_read_bytes_per_second", "B/s"),
            ("disk_write_bytes_per_second", "B/s"),
            ("network_receive_bytes_per_second", "B/s"),
            ("network_send_bytes_per_second", "B/s"),
        )
    )

    def __init__(self) -> None:
        if psutil.LINUX:
            raise ProbeUnavailable  # Linux has its own, more detailed probes
        self._busy = Rate()
        self._rates = Rates()
        self._cores = psutil.cpu_count() or 0

    def facts(self) -> Facts:
        facts = facts_of_system()
        if self._cores:
            facts["facts/host_cores"] = self._cores
        return facts

    def sample(self, now: float) -> Sample:
        memory = psutil.virtual_memory()
        disk = psutil.disk_io_counters()
        received, sent = _network_bytes()
        return known(
            {
                "host/cpu_percent": self._cpu_percent(now),
                "host/memory_used_bytes": float(memory.total - memory.available),
                **self._rates.of(
                    {
                        "host/disk_read_bytes_per_second": disk.read_bytes
                        if disk
                        else None,
                        "host/disk_write_bytes_per_second": disk.write_bytes
                        if disk
                        else None,
                        "host/network_receive_bytes_per_second": received,
                        "host/network_send_bytes_per_second": sent,
                    },
                    now,
                ),
            }
        )

    def _cpu_percent(self, now: float) -> float | None:
        times = psutil.cpu_times()
        cores = self._busy.of(times.user + times.nice + times.system, now)
        if cores is None or not self._cores:
            return None
        return min(100.0, 100.0 * cores / self._cores)


def _network_bytes() -> tuple[int, int]:
    """Return bytes received and sent, without loopback."""
    counters = [
        counter
        for name, counter in psutil.net_io_counters(pernic=True).items()
        if not name.startswith(_LOOPBACK_PREFIX)
    ]
    return sum(c.bytes_recv for c in counters), sum(c.bytes_sent for c in counters)
