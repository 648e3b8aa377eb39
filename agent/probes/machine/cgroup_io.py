"""Disk I/O of the container; network file systems are not included."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import ClassVar

from seamark.probes.files import KernelFile
from seamark.probes.machine.groups import PROCESSES, ROOT, Groups
from seamark.probes.probe import Job, Probe, ProbeUnavailable, Sample
from seamark.probes.rates import Rates, known
from seamark.probes.reading import COUNTED, Reading, Scope

_UNIFIED_NAMES = {
    "rbytes": "read_bytes",
    "wbytes": "write_bytes",
    "rios": "reads",
    "wios": "writes",
}
_VERSION_1_FILES = {
    "blkio.throttle.io_service_bytes": {"Read": "read_bytes", "Write": "write_bytes"},
    "blkio.throttle.io_serviced": {"Read": "reads", "Write": "writes"},
}


class CgroupIoProbe(Probe):
    """Reads the kernel's I/O counters for a process's group."""

    name = "cgroup_io"
    is_of_machine = True
    readings: ClassVar[tuple[Reading, ...]] = tuple(
        Reading(
            f"cgroup/{name}_per_second", unit, Scope.CONTAINER, "io.stat", COUNTED, text
        )
        for name, unit, text in (
            ("read_bytes", "B/s", ""),
            ("write_bytes", "B/s", ""),
            ("reads", "1/s", "requests"),
            ("writes", "1/s", "requests"),
        )
    )

    def __init__(
        self,
        watched: int | None = None,
        *,
        root: Path = ROOT,
        processes: Path = PROCESSES,
    ) -> None:
        groups = Groups(watched, root=root, processes=processes)
        group = groups.of("blkio")
        self._is_unified = groups.is_unified
        names = ("io.stat",) if groups.is_unified else tuple(_VERSION_1_FILES)
        # Version 2 sums over groups under a lock, so a read may block.
        open_one = partial(KernelFile, never_blocks=not groups.is_unified)
        self._files = [] if group is None else [open_one(group / n) for n in names]
        self._rates = Rates()
        if not self._counts():
            raise ProbeUnavailable("the group's requests to disks are not counted")

    @classmethod
    def of(cls, job: Job) -> CgroupIoProbe:
        return cls(job.watched)

    def sample(self, now: float) -> Sample:
        rates = self._rates.of(dict(self._counts()), now)
        return known({f"cgroup/{name}_per_second": r for name, r in rates.items()})

    def _counts(self) -> dict[str, float]:
        counts: dict[str, float] = {}
        for file, kinds in zip(self._files, _VERSION_1_FILES.values(), strict=False):
            text = file.read()
            if text is None:
                continue
            found = unified(text) if self._is_unified else version_1(text, kinds)
            counts.update(found)
        return counts


def unified(text: str) -> dict[str, float]:
    """Return the sums over all disks from the lines of `io.stat`."""
    # A group without I/O has no lines.
    counts = dict.fromkeys(_UNIFIED_NAMES.values(), 0.0)
    for line in text.splitlines():
        for field in line.split()[1:]:
            name, _, number = field.partition("=")
            if name in _UNIFIED_NAMES and number.isdigit():
                counts[_UNIFIED_NAMES[name]] += int(number)
    return counts


def version_1(text: str, kinds: dict[str, str]) -> dict[str, float]:
    counts = dict.fromkeys(kinds.values(), 0.0)
    for line in text.splitlines():
        fields = line.split()
        # The last line, without a disk, is the sum.
        if len(fields) == 3 and fields[1] in kinds and fields[2].isdigit():  # noqa: PLR2004
            counts[kinds[fields[1]]] += int(fields[2])
    return counts
