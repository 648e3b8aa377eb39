"""The network as this process sees it: in a container, the container's."""

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
    """What one interface has carried since it is there."""

    received: int
    sent: int
    lost: int  # packets, of either direction, and those that were damaged


def _reading(name: str, unit: str, meaning: str) -> Reading:
    path = f"host/network_{name}"
    return Reading(path, unit, Scope.NETWORK, _SOURCE, COARSE, meaning)


class NetworkProbe(Probe):
    """Reads what the kernel counts for each interface but the loopback."""

    name = "network"
    is_of_machine = True
    readings: ClassVar[tuple[Reading, ...]] = (
        _reading(
            "receive_bytes_per_second",
            "B/s",
            "of interfaces with a device; where none has one, as in containers, of all",
        ),
        _reading("send_bytes_per_second", "B/s", "likewise"),
        _reading(
            "errors", "", "packets lost or damaged since the agent began; likewise"
        ),
    )

    def __init__(
        self,
        file: Path = Path("/proc/net/dev"),
        interfaces: Path = Path("/sys/class/net"),
    ) -> None:
        self._file = KernelFile(file, waits_for_nobody=True)
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
    """Return the fields of each interface but the loopback."""
    lines = {}
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        fields = rest.split()
        if colon and name.strip() != _LOOPBACK and len(fields) >= _FIELDS:
            lines[name.strip()] = fields
    return lines


def counted(names: Collection[str], folder: Path) -> frozenset[str]:
    """Return the interfaces whose traffic is not that of another one as well.

    What goes through a bond, a VLAN, a bridge or the pairs of containers is counted there
    and by the card. Where there is no card, none of them is known to be another's.
    """
    cards = frozenset(name for name in names if _is_card(folder / name))
    return cards or frozenset(names)


def _is_card(folder: Path) -> bool:
    # In virtual machines a card may stand behind another that has a device, too, and
    # counts for both.
    return (folder / "device").exists() and not (folder / "master/device").exists()


def traffic_in(fields: list[str]) -> Traffic:
    numbers = [int(field) for field in fields[:12]]
    # Errors and drops, of either direction.
    lost = sum(numbers[2:4]) + sum(numbers[10:12])
    return Traffic(numbers[0], numbers[8], lost)


def network_rates(
    before: Mapping[str, Traffic], after: Mapping[str, Traffic], seconds: float
) -> dict[str, float]:
    """Return the bytes that went through interfaces that were there at both times."""
    grown = [
        (now.received - before[name].received, now.sent - before[name].sent)
        for name, now in after.items()
        if name in before
    ]
    # Where an interface was exchanged for another of its name, its counters have fallen.
    grown = [both for both in grown if min(both) >= 0]
    if not grown:
        return {}
    return {
        "host/network_receive_bytes_per_second": sum(r for r, _ in grown) / seconds,
        "host/network_send_bytes_per_second": sum(s for _, s in grown) / seconds,
    }


def newly_lost(before: Mapping[str, Traffic], after: Mapping[str, Traffic]) -> int:
    """Return how many packets were lost since; after a reset, all are new."""
    pairs = [(before[n].lost, now.lost) for n, now in after.items() if n in before]
    return sum(new - (old if new >= old else 0) for old, new in pairs)
