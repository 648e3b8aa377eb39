"""File systems used by a run: type and usage."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

from seamark.probes.probe import ANY_JOB, Facts, Job, Probe, Sample
from seamark.probes.reading import SAMPLED, Fact, Reading, Scope
from seamark.queue.mounts import mount_of
from seamark.recording.values import Value

_SHARED_MEMORY = Path("/dev/shm")
_INTERVAL_SECONDS = 10.0
_FOLDERS = ("work", "data", "shared_memory")


class StorageProbe(Probe):
    """Reads the usage of file systems; network file systems may block."""

    name = "storage"
    is_of_machine = True
    may_hang = True
    interval_seconds = _INTERVAL_SECONDS
    readings: ClassVar[tuple[Reading, ...]] = tuple(
        Reading(
            f"storage/{name}/{path}",
            unit,
            Scope.FILE_SYSTEM,
            "statvfs",
            SAMPLED,
            seconds=_INTERVAL_SECONDS,
        )
        for name in _FOLDERS
        for path, unit in (("used_bytes", "B"), ("used_share", "0–1"))
    )
    states: ClassVar[tuple[Fact, ...]] = tuple(
        Fact(f"facts/storage/{name}/{path}", kind, text)
        for name in _FOLDERS
        for path, kind, text in (
            ("file_system", "string", "type, as named by the kernel"),
            (
                "is_network",
                "bool",
                "network file system; absent if unknown",
            ),
            ("total_bytes", "int", "size"),
        )
    )

    def __init__(
        self,
        watched: int | None = None,
        data: Path | None = None,
        *,
        find_data: Callable[[], Path | None] = ANY_JOB.find_data,
        processes: Path = Path("/proc"),
        shared_memory: Path = _SHARED_MEMORY,
    ) -> None:
        self._processes = processes / str(watched or "self")
        self._folders = {"work": _working_folder(self._processes)}
        if data is not None:
            self._folders["data"] = data
        if shared_memory.is_dir():
            self._folders["shared_memory"] = shared_memory
        self._find_data = find_data
        self._news: dict[str, Value] = {}

    @classmethod
    def of(cls, job: Job) -> StorageProbe:
        return cls(job.watched, job.data, find_data=job.find_data)

    def facts(self) -> Facts:
        return self._facts_of(self._folders)

    def news(self) -> Facts:
        news, self._news = self._news, {}
        return news

    def sample(self, now: float) -> Sample:  # noqa: ARG002 - it measures no rates
        self._look_for_data()
        readings: dict[str, float] = {}
        for name, folder in self._folders.items():
            sizes = _sizes(folder)
            # Some file systems report size 0.
            if sizes is not None and sizes[0]:
                total, used = sizes
                readings[f"storage/{name}/used_bytes"] = float(used)
                readings[f"storage/{name}/used_share"] = used / total
        return readings

    def _look_for_data(self) -> None:
        found = None if "data" in self._folders else self._find_data()
        # A dataset may name something else than a folder.
        if found is not None and found.exists():
            self._folders["data"] = found
            self._news = self._facts_of({"data": found})

    def _facts_of(self, folders: Mapping[str, Path]) -> dict[str, Value]:
        facts: dict[str, Value] = {}
        for name, folder in folders.items():
            sizes = _sizes(folder)
            if sizes is not None:
                facts[f"facts/storage/{name}/total_bytes"] = sizes[0]
        # Resolved afterwards: the data may be behind a link on another file system, and
        # automounts were triggered above.
        real = {n: Path(os.path.realpath(folder)) for n, folder in folders.items()}
        mounts = _read(self._processes / "mountinfo")
        for name, folder in real.items():
            mount = mount_of(folder, mounts)
            if mount is None:
                continue
            facts[f"facts/storage/{name}/file_system"] = mount.kind
            if mount.is_network is not None:
                facts[f"facts/storage/{name}/is_network"] = mount.is_network
        return facts


def _working_folder(process: Path) -> Path:
    try:
        return (process / "cwd").readlink()
    except OSError:
        return Path.cwd()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _sizes(folder: Path) -> tuple[int, int] | None:
    """Return the total and used bytes of a file system; None if unknown."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return found.f_blocks * found.f_frsize, (
        found.f_blocks - found.f_bfree
    ) * found.f_frsize
