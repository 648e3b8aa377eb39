"""Network metrics as seen by this process: in a container, the container's."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import ClassVar, NamedTuple

from seamark.probes.files import KernelFile
from seamark.probes.probe import Probe, ProbeUnavailable, Sample
from seamark.probes.reading import COARSE, Reading, Scope

_LOOPBACK = "lo"
_SOURCE = "/proc/net/dev"
_FIELDS = 16
_SHORTEST_SECONDS = 0.25


class Traffic(NamedTuple):
    """Counters of one interface since it was created."""

    received: int
    sent: int
    lost: int  # packets lost or damaged in either direction


def _reading(name: str, unit: str, meaning: str) -> Reading:
    path = f"host/network_{name}"
    return Reading(path, unit, Scope.NETWORK, _SOURCE, COARSE, meaning)


class NetworkProbe(Probe):
    """Reads the kernel's counters for each interface except loopback."""

    name = "network"
    is_of_machine = True
    readings: ClassVar[tuple[Reading, ...]] = (
        _reading(
            "receive_bytes_per_second",
            "B/s",
            "physical interfaces; all interfaces if there is no physical one, as in containers",
        ),
        _reading(
            "send_bytes_per_second",
            "B/s",
            "physical interfaces; all interfaces if there is no physical one, as in containers",
        ),
        _reading("errors", "", "dropped or damaged packets"),
    )

    def __init__(
        self,
        file: Path = Path("/proc/net/dev"),
        interfaces: Path = Path("/sys/class/net"),
    ) -> None:
        self._file = KernelFile(file, never_blocks=True)
        self._interfaces = interfaces
        self._names: frozenset[str] = frozenset()
        self._counted: frozenset[str] = frozenset()
        self._last: tuple[float, Mapping[str, Traffic]] | None = None
        self._lost = 0
        if self._file.read() is None:
            raise ProbeUnavailable("no /proc/net/dev")

    def sample(self, now: float) -> Sample:
        last = self._last
        if last is not None and now < last[0] + _SHORTEST_SECONDS:
            return {}
        lines = lines_of(self._file.read() or "")
        if lines.keys() != self._names:
            self._names = frozenset(lines)
            self._counted = counted(self._names, self._interfaces)
        found = {name: traffic_in(lines[name]) for name in self._counted}
        self._last = now, found
        if not found:
            return {}
        if last is None:
            return {"host/network_errors": 0.0}
        self._lost += newly_lost(last[1], found)
        rates = network_rates(last[1], found, now - last[0])
        return {**rates, "host/network_errors": float(self._lost)}


def lines_of(text: str) -> dict[str, list[str]]:
    """Return the fields of each interface except loopback."""
    lines = {}
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        fields = rest.split()
        if colon and name.strip() != _LOOPBACK and len(fields) >= _FIELDS:
            lines[name.strip()] = fields
    return lines


def counted(names: Collection[str], folder: Path) -> frozenset[str]:
    """Return the interfaces to count without double counting.

    Traffic through a bond, a VLAN, a bridge or a container's interface pair is counted
    there and by the card. Without a card all interfaces are counted.
    """
    cards = frozenset(name for name in names if _is_card(folder / name))
    return cards or frozenset(names)


def _is_card(folder: Path) -> bool:
    # In virtual machines a card may be the slave of another one with a device, which
    # counts the traffic of both.
    return (folder / "device").exists() and not (folder / "master/device").exists()


def traffic_in(fields: list[str]) -> Traffic:
    numbers = [int(field) for field in fields[:12]]
    # Errors and drops of both directions.
    lost = sum(numbers[2:4]) + sum(numbers[10:12])
    return Traffic(numbers[0], numbers[8], lost)


def network_rates(
    before: Mapping[str, Traffic], after: Mapping[str, Traffic], seconds: float
) -> dict[str, float]:
    """Return bytes per second of interfaces that existed at both times."""
    grown = [
        (now.received - before[name].received, now.sent - before[name].sent)
        for name, now in after.items()
        if name in before
    ]
    # The counters fall if an interface is replaced by another with the same name.
    grown = [both for both in grown if min(both) >= 0]
    if not grown:
        return {}
    return {
        "host/network_receive_bytes_per_second": sum(r for r, _ in grown) / seconds,
        "host/network_send_bytes_per_second": sum(s for _, s in grown) / seconds,
    }


def newly_lost(before: Mapping[str, Traffic], after: Mapping[str, Traffic]) -> int:
    """Return the number of packets lost since; after a reset, all are new."""
    pairs = [(before[n].lost, now.lost) for n, now in after.items() if n in before]
    return sum(new - (old if new >= old else 0) for old, new in pairs)
