"""Attributes a GPU's usage to the job's processes and to others.

In a container the driver may report host PIDs. Which ones it reports is detected during
the run; until then the attribution is unknown.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from seamark.probes.nvidia.driver import NOT_FOUND, code_of
from seamark.probes.nvidia.last_seen import LastSeen
from seamark.probes.process.descendants import descendants

# Scanning the children of all threads of all processes takes milliseconds.
_FOUND_SECONDS = 4.0
# Per-process utilization takes milliseconds to read. Without other processes on the
# card, the card's utilization is the job's.
_ALONE_SECONDS = 30.0
# The driver's per-process values, by name in the metrics.
_PARTS = {
    "sm": "smUtil",
    "memory_utilization": "memUtil",
    "encoder": "encUtil",
    "decoder": "decUtil",
}
_MAX_PERCENT = 100.0
# The id of the initial PID namespace, a constant of Linux.
_FIRST_NAMESPACE = "pid:[4026531836]"


Parts = Mapping[str, float]


class Use(NamedTuple):
    """A process with memory on a GPU; None if the driver does not report it."""

    pid: int
    memory_bytes: int | None


class Pids:
    """The job's processes, and whether the driver's PIDs are from this namespace."""

    def __init__(
        self, root: int, find: Callable[[int], list[int]] = descendants
    ) -> None:
        self._root, self._find = root, find
        self._own: frozenset[int] = frozenset()
        self._found_until = float("-inf")
        self.is_comparable: bool | None = True if _is_first_namespace() else None

    def own(self, now: float) -> frozenset[int]:
        """Return the job's PIDs; cached for all GPUs."""
        if now >= self._found_until:
            self._found_until = now + _FOUND_SECONDS
            self._own = frozenset((self._root, *self._find(self._root)))
        return self._own

    def compare(self, seen: Collection[int], own: Collection[int]) -> None:
        """Detect from the driver's PIDs whether they are from this namespace."""
        if self.is_comparable is None and not set(own).isdisjoint(seen):
            self.is_comparable = True


class Users:
    """Memory and processes of the job and of others on one GPU."""

    def __init__(self, library: Any, gpu: Any, pids: Pids) -> None:
        self._library, self._gpu, self._pids = library, gpu, pids
        # Whether only the job uses the GPU; False if unknown.
        self.are_alone = False

    def __call__(self, now: float) -> dict[str, float]:
        found = self._library.nvmlDeviceGetComputeRunningProcesses(self._gpu)
        uses = [Use(process.pid, process.usedGpuMemory) for process in found]
        own = self._pids.own(now)
        self._pids.compare([use.pid for use in uses], own)
        readings = use_readings(uses, own if self._pids.is_comparable else None)
        own_ones, others = (
            readings.get(f"{owner}_processes") for owner in ("job", "other")
        )
        # In some containers the driver lists no processes.
        self.are_alone = bool(own_ones) and others == 0
        return readings


def use_readings(uses: Sequence[Use], own: Collection[int] | None) -> dict[str, float]:
    """Return the known numbers of processes and their memory (pure)."""
    readings = {"processes": float(len(uses))}
    if own is None and uses:
        return readings
    parts = {
        "job": [use for use in uses if own is not None and use.pid in own],
        "other": [use for use in uses if own is None or use.pid not in own],
    }
    for name, some in parts.items():
        readings[f"{name}_processes"] = float(len(some))
        memory = [use.memory_bytes for use in some if use.memory_bytes is not None]
        if len(memory) == len(some):
            readings[f"{name}_memory_bytes"] = float(sum(memory))
    return readings


class Shares:
    """The shares of the GPU's time used by the job's processes and by others."""

    def __init__(self, library: Any, gpu: Any, pids: Pids, users: Users) -> None:
        self._library, self._gpu, self._pids = library, gpu, pids
        self._users = users
        self._last_seen = LastSeen()
        self._queried_at = float("-inf")
        # Processes that only render appear only here.
        self._saw_others = False

    def __call__(self, now: float) -> dict[str, float]:
        is_alone = self._users.are_alone and not self._saw_others
        if is_alone and now < self._queried_at + _ALONE_SECONDS:
            return {}
        last = self._last_seen.newest
        try:
            samples = self._library.nvmlDeviceGetProcessUtilization(self._gpu, last)
        except self._library.NVMLError as error:
            # No process has used it since the last read.
            if code_of(error) != NOT_FOUND:
                raise
            samples = []
        self._last_seen.saw([int(sample.timeStamp) for sample in samples])
        fresh = [sample for sample in samples if sample.timeStamp > last]
        if last == 0 and samples:
            # Samples from before the run.
            return {}
        self._queried_at = now
        latest = {sample.pid: _parts(sample) for sample in fresh}
        own = self._pids.own(now)
        self._saw_others = not own.issuperset(latest)
        self._pids.compare(latest, own)
        return share_readings(latest, own if self._pids.is_comparable else None)


def _parts(sample: Any) -> Parts:
    return {
        name: float(getattr(sample, member))
        for name, member in _PARTS.items()
        # An idle decoder is 0; an unsupported one is out of range.
        if 0 <= getattr(sample, member) <= _MAX_PERCENT
    }


def share_readings(
    percents: Mapping[int, Parts], own: Collection[int] | None
) -> dict[str, float]:
    """Return the shares of the job and of others; empty if they are indistinguishable."""
    if own is None and percents:
        return {}
    readings: dict[str, float] = {}
    for owner, is_own in (("job", True), ("other", False)):
        theirs = [p for pid, p in percents.items() if (pid in (own or ())) is is_own]
        for name in _PARTS:
            if all(name in parts for parts in theirs):
                total = sum(parts[name] for parts in theirs)
                readings[f"{owner}_{name}_percent"] = min(_MAX_PERCENT, total)
    return readings


def job_root(watched: int | None) -> int:
    """Return the PID of the process whose descendants are the job."""
    if watched is not None:
        return watched
    # A launcher's children are the processes of a distributed job on a machine.
    local = os.environ.get("LOCAL_WORLD_SIZE", "")
    return os.getppid() if local.isdigit() and int(local) > 1 else os.getpid()


def _is_first_namespace(process: Path = Path("/proc/self")) -> bool:
    try:
        return str((process / "ns/pid").readlink()) == _FIRST_NAMESPACE
    except OSError:
        return False
