"""One GPU of NVIDIA, or one slice of it, and everything that is read of it."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from seamark.probes.nvidia.fields import MEAN_POWER, Counters, Energy, Health
from seamark.probes.nvidia.gpm import Gpm, gpm_of_gpu, gpm_of_slice
from seamark.probes.nvidia.paced import Paced, Read
from seamark.probes.nvidia.polled import POLLED, POLLED_OF_SLICES
from seamark.probes.nvidia.reasons import Reasons
from seamark.probes.nvidia.samples import buffered
from seamark.probes.nvidia.users import Pids, Shares, Users
from seamark.probes.nvidia.window import Window
from seamark.probes.rates import Growths

_OFTEN, _NOW_AND_THEN, _RARELY, _SELDOM = 1.0, 5.0, 30.0, 60.0
# Of a core, in one turn of one GPU: what is asked seldom can wait for the next one. Most
# of it is due at the same time otherwise, and takes tens of milliseconds together.
_TURN_SECONDS = 0.005


class Part:
    """What a GPU and a slice of it have in common: questions, and how these fare."""

    def __init__(self) -> None:
        self._readers: list[Paced] = []

    @property
    def calls(self) -> Sequence[Paced]:
        """All that it is asked, with what each costs."""
        return self._readers

    @property
    def failure(self) -> str:
        """Why nothing was answered of what is asked most often; empty while anything is."""
        failures = [
            reader.failure
            for reader in self._readers
            if reader.is_offered and reader.seconds <= _OFTEN
        ]
        return failures[0] if failures and all(failures) else ""

    @property
    def answered(self) -> set[str]:
        """The names of the questions that were answered."""
        return {reader.name for reader in self._readers if reader.has_answered}


class Gpu(Part):
    """Reads a GPU; what it does not offer is asked for only once."""

    def __init__(
        self,
        library: Any,
        handle: Any,
        pids: Pids,
        clock: Callable[[], float] = time.thread_time,
        growths: Growths | None = None,
    ) -> None:
        """`growths` are those of this GPU since the agent began, if anybody keeps them."""
        super().__init__()
        self._library, self.handle = library, handle
        self._clock = clock
        self._postponed: list[Paced] = []
        self._counters = Counters(library, handle)
        self._gpm: Gpm | None = gpm_of_gpu(library, handle)
        self._seen_by_gpm: set[str] = set()
        # The counters first: they say what nothing else need supply.
        self._counting = Paced("counters", _NOW_AND_THEN, self._counters)
        self._metering = Paced(
            "energy", _NOW_AND_THEN, Energy(library, handle, growths)
        )
        self._readers += [self._counting, self._metering]
        self._comparing: Paced | None = None
        if self._gpm is not None:
            self._comparing = Paced("gpm", _OFTEN, self._gpm)
            self._readers.append(self._comparing)
        self._readers += [
            Paced(read.__name__, seconds, _polled(library, handle, read))
            for seconds, read in POLLED
        ]
        self._readers.append(Paced(Reasons.name, _OFTEN, Reasons(library, handle)))
        self._readers += [
            Paced("samples", _NOW_AND_THEN, read)
            for read in buffered(library, handle, self._supplied)
        ]
        users = Users(library, handle, pids)
        health = Health(library, handle, growths)
        self._readers += [
            Paced("users", _NOW_AND_THEN, users),
            Paced("shares", _NOW_AND_THEN, Shares(library, handle, pids, users)),
            Paced("health", _SELDOM, health),
            Paced("window", _RARELY, Window(library, handle, self._supplied)),
        ]
        self._fields = {"counters": self._counters.fields, "health": health.fields}

    @property
    def asked_less(self) -> str:
        """Name what is asked less often than it should be, or no more, and why."""
        parts = ((reader.name, self._less(reader)) for reader in self._readers)
        told = (f"{name}: {less}" for name, less in parts if less)
        # Several readers have one name.
        return ", ".join(dict.fromkeys(told))

    @property
    def measured_with(self) -> str:
        """Name what the GPU has answered with, the best first."""
        tiers = {"gpm": "gpm", "samples": "samples", "counters": "counters"}
        tiers["utilization"] = "nvml"
        answered = self.answered
        if not self._counters.paths:
            answered.discard("counters")
        return ", ".join(tier for name, tier in tiers.items() if name in answered)

    @property
    def counted(self) -> set[str]:
        """The paths that counters supply, so that nothing else does."""
        counted = set(self._counters.paths) if self._counting.supplies else set()
        return counted | {MEAN_POWER} if self._metering.supplies else counted

    @property
    def found_by_gpm(self) -> set[str]:
        """The paths that hardware counters supply where the driver's do not."""
        is_supplied = self._comparing is not None and self._comparing.supplies
        return self._seen_by_gpm if is_supplied else set()

    def sample(self, now: float) -> dict[str, float]:
        readings: dict[str, float] = {}
        began = self._clock()
        for reader in self._in_turn():
            if reader.seconds > _OFTEN and self._clock() > began + _TURN_SECONDS:
                self._postponed.append(reader)
                continue
            found = reader.sample(self._library, now)
            if reader is self._comparing:
                self._seen_by_gpm |= found.keys()
            if reader is self._comparing or reader.name == Reasons.name:
                counted = self.counted
                found = {p: v for p, v in found.items() if p not in counted}
            readings.update(found)
        return readings

    def close(self) -> None:
        if self._gpm is not None:
            self._gpm.close()

    def _in_turn(self) -> Sequence[Paced]:
        """Return all that it is asked, first what had to wait the last time."""
        first, self._postponed = self._postponed, []
        return [*first, *(reader for reader in self._readers if reader not in first)]

    def _supplied(self) -> set[str]:
        return self.counted | self.found_by_gpm

    def _less(self, reader: Paced) -> str:
        """Return how often it is asked; nothing if that is as often as it should be."""
        if not reader.is_permitted:
            return "not permitted"
        if reader.is_too_dear:
            return "never"
        if (times := _about(reader)) > 1:
            return f"{times * reader.seconds:.0f} s"
        fields = self._fields.get(reader.name)
        return "" if fields is None or fields.is_permitted else "in part not permitted"


class Slice(Part):
    """A slice of a GPU (MIG): its memory, its users, and its hardware counters."""

    def __init__(self, library: Any, parent: Any, handle: Any, pids: Pids) -> None:
        super().__init__()
        self._library, self.handle = library, handle
        instance = library.nvmlDeviceGetGpuInstanceId(handle)
        self._gpm = gpm_of_slice(library, parent, instance)
        self._readers += [
            Paced(read.__name__, seconds, _polled(library, handle, read))
            for seconds, read in POLLED_OF_SLICES
        ]
        self._readers.append(
            Paced("users", _NOW_AND_THEN, Users(library, handle, pids))
        )
        if self._gpm is not None:
            self._readers.append(Paced("gpm", _OFTEN, self._gpm))

    @property
    def measured_with(self) -> str:
        """Name what the slice has answered with, the best first."""
        tiers = {"gpm": "gpm", "memory": "nvml"}
        return ", ".join(tier for name, tier in tiers.items() if name in self.answered)

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


def _about(reader: Paced) -> int:
    """Return about how many times as long as it should it waits: 1, 2, 4, 8, …

    What it costs is never quite the same, and facts that change each second help nobody.
    """
    return 1 << max(0, round(math.log2(reader.interval / reader.seconds)))


def _polled(
    library: Any, handle: Any, read: Callable[[Any, Any], dict[str, float]]
) -> Read:
    asked = partial(read, library, handle)
    return lambda _: asked()
