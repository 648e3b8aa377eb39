"""One GPU of NVIDIA, or one slice of it, and everything that is read of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

from agent.probes.nvidia.driver import NotNow, NotOffered, ask
from agent.probes.nvidia.fields import Counters, Health
from agent.probes.nvidia.gpm import Gpm, gpm_of_gpu, gpm_of_slice
from agent.probes.nvidia.polled import POLLED, POLLED_OF_SLICES, reasons
from agent.probes.nvidia.samples import buffered
from agent.probes.nvidia.users import Pids, Shares, Users

_OFTEN, _NOW_AND_THEN, _SELDOM = 1.0, 5.0, 60.0
# Ticks are never exactly on time.
_TOLERANCE_SECONDS = 0.5

Read = Callable[[float], dict[str, float]]


class Paced:
    """A reader, how often it is asked, and whether it is offered at all."""

    def __init__(self, name: str, seconds: float, read: Read) -> None:
        self.name = name
        self.is_offered = True
        self.has_answered = False
        self._seconds = seconds
        self._read = read
        self._not_before = float("-inf")

    def sample(self, library: Any, now: float) -> dict[str, float]:
        """Return readings if it is time; a GPU that is lost is the caller's matter."""
        if not self.is_offered or now < self._not_before - _TOLERANCE_SECONDS:
            return {}
        self._not_before = now + self._seconds
        try:
            readings = ask(library, lambda: self._read(now))
        except NotOffered:
            self.is_offered = False
            return {}
        except NotNow:
            return {}
        self.has_answered = True
        return readings


class Gpu:
    """Reads a GPU; what it does not offer is asked for only once."""

    def __init__(self, library: Any, handle: Any, pids: Pids) -> None:
        self._library, self.handle = library, handle
        self._counters = Counters(library, handle)
        self._gpm: Gpm | None = gpm_of_gpu(library, handle)
        # The counters first: they say what nothing else need supply.
        self._readers = [Paced("counters", _NOW_AND_THEN, self._counters)]
        if self._gpm is not None:
            self._readers.append(Paced("gpm", _OFTEN, self._gpm))
        self._readers += [
            Paced(read.__name__, seconds, _polled(library, handle, read))
            for seconds, read in POLLED
        ]
        self._readers += [
            Paced("samples", _NOW_AND_THEN, read) for read in buffered(library, handle)
        ]
        self._readers += [
            Paced("users", _NOW_AND_THEN, Users(library, handle, pids)),
            Paced("shares", _NOW_AND_THEN, Shares(library, handle, pids)),
            Paced("health", _SELDOM, Health(library, handle)),
        ]

    @property
    def measured_with(self) -> str:
        """Name what the GPU has answered with, the best first."""
        tiers = {"gpm": "gpm", "samples": "samples", "counters": "counters"}
        tiers["utilization"] = "nvml"
        answered = {reader.name for reader in self._readers if reader.has_answered}
        if not self._counters.paths:
            answered.discard("counters")
        return ", ".join(tier for name, tier in tiers.items() if name in answered)

    @property
    def counted(self) -> set[str]:
        """The paths that counters supply, so that nothing else does."""
        return self._counters.paths

    def sample(self, now: float) -> dict[str, float]:
        readings: dict[str, float] = {}
        for reader in self._readers:
            found = reader.sample(self._library, now)
            if reader.name in (reasons.__name__, "gpm"):
                counted = self._counters.paths
                found = {p: v for p, v in found.items() if p not in counted}
            readings.update(found)
        return readings

    def close(self) -> None:
        if self._gpm is not None:
            self._gpm.close()


class Slice:
    """A slice of a GPU (MIG): its memory, its users, and its hardware counters."""

    def __init__(self, library: Any, parent: Any, handle: Any, pids: Pids) -> None:
        self._library, self.handle = library, handle
        instance = library.nvmlDeviceGetGpuInstanceId(handle)
        self._gpm = gpm_of_slice(library, parent, instance)
        self._readers = [
            Paced(read.__name__, seconds, _polled(library, handle, read))
            for seconds, read in POLLED_OF_SLICES
        ]
        self._readers.append(
            Paced("users", _NOW_AND_THEN, Users(library, handle, pids))
        )
        if self._gpm is not None:
            self._readers.append(Paced("gpm", _OFTEN, self._gpm))

    def sample(self, now: float) -> dict[str, float]:
        readings: dict[str, float] = {}
        for reader in self._readers:
            readings.update(reader.sample(self._library, now))
        return readings

    def close(self) -> None:
        if self._gpm is not None:
            self._gpm.close()


def slices_of(library: Any, handle: Any, pids: Pids) -> dict[int, Slice]:
    """Return the slices of a GPU by their number; none if it is not cut."""
    try:
        if not library.nvmlDeviceGetMigMode(handle)[0]:
            return {}
        most = library.nvmlDeviceGetMaxMigDeviceCount(handle)
    except (AttributeError, library.NVMLError):
        return {}
    slices: dict[int, Slice] = {}
    for number in range(most):
        # Where no slice of that number was made, or it is not ours to see: none.
        with contextlib.suppress(library.NVMLError):
            found = library.nvmlDeviceGetMigDeviceHandleByIndex(handle, number)
            slices[number] = Slice(library, handle, found, pids)
    return slices


def _polled(
    library: Any, handle: Any, read: Callable[[Any, Any], dict[str, float]]
) -> Read:
    asked = partial(read, library, handle)
    return lambda _: asked()
