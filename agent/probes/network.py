"""The network as this process sees it: in a container, the container's."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from agent.probes.files import KernelFile
from agent.probes.probe import Probe, ProbeUnavailable, Sample
from agent.probes.rates import Growth, Rates, known
from agent.probes.reading import COARSE, Reading, Scope

_LOOPBACK_PREFIX = "lo"
_SOURCE = "/proc/net/dev"
_FIELDS = 16


def _reading(name: str, unit: str, meaning: str = "") -> Reading:
    path = f"host/network_{name}"
    return Reading(path, unit, Scope.NETWORK, _SOURCE, COARSE, meaning)


class NetworkProbe(Probe):
    """Reads what the kernel counts for all interfaces but the loopback."""

    name = "network"
    is_of_machine = True
    readings: ClassVar[tuple[Reading, ...]] = (
        _reading("receive_bytes_per_second", "B/s"),
        _reading("send_bytes_per_second", "B/s"),
        _reading("errors", "", "packets lost or damaged since the agent began"),
    )

    def __init__(self, file: Path = Path("/proc/net/dev")) -> None:
        self._file = KernelFile(file, waits_for_nobody=True)
        self._rates = Rates()
        self._errors = Growth()
        if self._file.read() is None:
            raise ProbeUnavailable("no /proc/net/dev")

    def sample(self, now: float) -> Sample:
        totals = network_totals(self._file.read() or "")
        if totals is None:
            return {}
        received, sent, errors = totals
        return known(
            {
                **self._rates.of(
                    {
                        "host/network_receive_bytes_per_second": received,
                        "host/network_send_bytes_per_second": sent,
                    },
                    now,
                ),
                "host/network_errors": self._errors.of(errors),
            }
        )


def network_totals(text: str) -> tuple[int, int, int] | None:
    """Return bytes received, bytes sent, and packets lost; None without interfaces."""
    received = sent = errors = interfaces = 0
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        fields = rest.split()
        is_loopback = name.strip().startswith(_LOOPBACK_PREFIX)
        if not colon or is_loopback or len(fields) < _FIELDS:
            continue
        numbers = [int(field) for field in fields]
        interfaces += 1
        received += numbers[0]
        sent += numbers[8]
        # Errors and drops, of either direction.
        errors += sum(numbers[2:4]) + sum(numbers[10:12])
    return (received, sent, errors) if interfaces else None
