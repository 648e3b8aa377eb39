"""Time that tasks waited for CPU, memory and disks: pressure stall information (PSI)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from seamark.probes.files import KernelFile
from seamark.probes.machine.groups import PROCESSES, ROOT, UNIFIED, Groups
from seamark.probes.probe import Job, Probe, ProbeUnavailable, Sample
from seamark.probes.rates import Rates, known, share
from seamark.probes.reading import COARSE, COUNTED, Reading, Scope

_RESOURCES = ("cpu", "memory", "io")
_MEANINGS = {
    "some": "time in which at least one task waited",
    "full": "time in which all tasks waited",
}
OF_GROUP, OF_HOST = "<resource>.pressure", "/proc/pressure"
_SOURCES = ((OF_GROUP, Scope.CONTAINER, COUNTED), (OF_HOST, Scope.HOST, COARSE))
# Always 0: while all tasks of the host wait for a CPU, one is running.
_NO_PRESSURE = {(OF_HOST, "cpu", "full")}
_SECOND_IN_MICROSECONDS = 1e6


class PressureProbe(Probe):
    """Reads the group's counters if it has any, else those of the host."""

    name = "pressure"
    is_of_machine = True
    readings: ClassVar[tuple[Reading, ...]] = tuple(
        Reading(
            f"pressure/{resource}_{kind}_share", "0–1", scope, source, quality, meaning
        )
        for resource in _RESOURCES
        for kind, meaning in _MEANINGS.items()
        for source, scope, quality in _SOURCES
        if (source, resource, kind) not in _NO_PRESSURE
    )

    def __init__(
        self,
        watched: int | None = None,
        *,
        root: Path = ROOT,
        processes: Path = PROCESSES,
    ) -> None:
        self._files: dict[str, KernelFile] = {}
        self._chosen: dict[str, str] = {}
        self._rates = Rates()
        groups = Groups(watched, root=root, processes=processes)
        group = groups.of(UNIFIED) if groups.is_unified else None
        for resource in _RESOURCES:
            # Both may be disabled; then reading fails.
            for source, path in (
                (OF_GROUP, group and group / f"{resource}.pressure"),
                (OF_HOST, processes / "pressure" / resource),
            ):
                if path and resource not in self._files:
                    self._open(resource, source, path)
        if not self._files:
            raise ProbeUnavailable("the kernel does not count pressure")

    @property
    def chosen(self) -> Mapping[str, str]:
        return self._chosen

    @classmethod
    def of(cls, job: Job) -> PressureProbe:
        return cls(job.watched)

    def sample(self, now: float) -> Sample:
        totals: dict[str, float | None] = {}
        for resource, file in self._files.items():
            for kind, seconds in stalled_seconds(file.read() or "").items():
                totals[f"pressure/{resource}_{kind}_share"] = seconds
        rates = self._rates.of(totals, now)
        return known({path: share(rates.get(path)) for path in self._chosen})

    def _open(self, resource: str, source: str, path: Path) -> None:
        file = KernelFile(path)
        if not stalled_seconds(file.read() or ""):
            return
        self._files[resource] = file
        for kind in _MEANINGS:
            if (source, resource, kind) not in _NO_PRESSURE:
                self._chosen[f"pressure/{resource}_{kind}_share"] = source


def stalled_seconds(text: str) -> dict[str, float]:
    """Return the total of each kind from a file's lines."""
    totals = {}
    for line in text.splitlines():
        kind, _, rest = line.partition(" ")
        _, found, total = rest.partition("total=")
        if kind in _MEANINGS and found and total.strip().isdigit():
            totals[kind] = int(total) / _SECOND_IN_MICROSECONDS
    return totals
