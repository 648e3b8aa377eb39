"""InfiniBand and RoCE traffic, which bypasses the kernel's network stack."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from seamark.probes.files import KernelFile
from seamark.probes.probe import Probe, ProbeUnavailable, Sample
from seamark.probes.rates import Rates, known
from seamark.probes.reading import COARSE, Reading, Scope

_DEVICES = Path("/sys/class/infiniband")
_WORD_BYTES = 4  # ports count 4-byte words
_COUNTERS = {"receive": "port_rcv_data", "send": "port_xmit_data"}


def _path(direction: str) -> str:
    return f"host/rdma_{direction}_bytes_per_second"


class RdmaProbe(Probe):
    """Reads the counters of all ports; some cards query their firmware."""

    name = "rdma"
    is_of_machine = True
    may_hang = True
    readings: ClassVar[tuple[Reading, ...]] = tuple(
        Reading(_path(direction), "B/s", Scope.HOST, f"{_DEVICES}", COARSE, meaning)
        for direction, meaning in (
            (
                "receive",
                "all InfiniBand and RoCE ports; IP over InfiniBand also counts as `host/network_…`",
            ),
            (
                "send",
                "all InfiniBand and RoCE ports; IP over InfiniBand also counts as `host/network_…`",
            ),
        )
    )

    def __init__(self, devices: Path = _DEVICES) -> None:
        self._files = {
            f"{direction} {port}": KernelFile(port / "counters" / counter)
            for port in sorted(devices.glob("*/ports/*"))
            for direction, counter in _COUNTERS.items()
        }
        self._rates = Rates()
        if not known(self._words()):
            # Few machines have such ports, so their absence is not reported.
            raise ProbeUnavailable

    def sample(self, now: float) -> Sample:
        rates = known(self._rates.of(self._words(), now))
        readings: dict[str, float] = {}
        for name, words in rates.items():
            path = _path(name.partition(" ")[0])
            readings[path] = readings.get(path, 0.0) + words * _WORD_BYTES
        return readings

    def _words(self) -> dict[str, float | None]:
        return {name: words_in(file.read() or "") for name, file in self._files.items()}

    def close(self) -> None:
        for file in self._files.values():
            file.close()


def words_in(text: str) -> float | None:
    """Return a port's counter; None if the port does not have it."""
    # For unsupported counters, the driver writes a sentence.
    return float(text) if text.strip().isdigit() else None
