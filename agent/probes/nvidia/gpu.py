"""Measures one NVIDIA GPU or MIG slice."""

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
# CPU seconds per turn and GPU: queries with long intervals are postponed to the next
# turn. Otherwise most are due at once and take tens of milliseconds.
_TURN_SECONDS = 0.005


class Part:
    """The common part of a GPU and a MIG slice: queries and their results."""

    def __init__(self) -> None:
        self._readers: list[Paced] = []

    @property
    def calls(self) -> Sequence[Paced]:
        """All queries, with their costs."""
        return self._readers

    @property
    def failure(self) -> str:
        """The error if all frequent queries failed; "" otherwise."""
        failures = [
            reader.failure
            for reader in self._readers
            if reader.is_offered and reader.seconds <= _OFTEN
        ]
        return failures[0] if failures and all(failures) else ""

    @property
    def answered(self) -> set[str]:
        """The names of successful queries."""
        return {reader.name for reader in self._readers if reader.has_answered}


class Gpu(Part):
    """Measures a GPU; unsupported queries are made only once."""

    def __init__(
        self,
        library: Any,
        handle: Any,
        pids: Pids,
        clock: Callable[[], float] = time.thread_time,
        growths: Growths | None = None,
    ) -> None:
        """`growths` are the kept counters of this GPU since the agent began, if any."""
        super().__init__()
        self._library, self.handle = library, handle
        self._clock = clock
        self._postponed: list[Paced] = []
        self._counters = Counters(library, handle)
        self._gpm: Gpm | None = gpm_of_gpu(library, handle)
        self._seen_by_gpm: set[str] = set()
        # Counters first, because they determine which other sources are needed.
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
        """The queries that are slowed or disabled, with the reason."""
        parts = ((reader.name, self._less(reader)) for reader in self._readers)
        reasons = (f"{name}: {less}" for name, less in parts if less)
        # Several readers have the same name.
        return ", ".join(dict.fromkeys(reasons))

    @property
    def measured_with(self) -> str:
        """The sources used for this GPU, best first."""
        tiers = {"gpm": "gpm", "samples": "samples", "counters": "counters"}
        tiers["utilization"] = "nvml"
        answered = self.answered
        if not self._counters.paths:
            answered.discard("counters")
        return ", ".join(tier for name, tier in tiers.items() if name in answered)

    @property
    def counted(self) -> set[str]:
        """The paths supplied by counters, for which no other source is used."""
        counted = set(self._counters.paths) if self._counting.supplies else set()
        return counted | {MEAN_POWER} if self._metering.supplies else counted

    @property
    def found_by_gpm(self) -> set[str]:
        """The paths supplied by hardware counters but not by the driver's."""
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
        """Return all queries, those postponed in the last turn first."""
        first, self._postponed = self._postponed, []
        return [*first, *(reader for reader in self._readers if reader not in first)]

    def _supplied(self) -> set[str]:
        return self.counted | self.found_by_gpm

    def _less(self, reader: Paced) -> str:
        """Return how much a query is slowed; "" if it is not."""
        if not reader.is_permitted:
            return "not permitted"
        if reader.is_too_dear:
            return "never"
        if (times := _about(reader)) > 1:
            return f"{times * reader.seconds:.0f} s"
        fields = self._fields.get(reader.name)
        return "" if fields is None or fields.is_permitted else "in part not permitted"


class Slice(Part):
    """A MIG slice of a GPU: memory, processes, and hardware counters."""

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
        """The sources used for this slice, best first."""
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
    """Return the MIG slices of a GPU by index; empty without MIG."""
    try:
        if not library.nvmlDeviceGetMigMode(handle)[0]:
            return {}
        most = library.nvmlDeviceGetMaxMigDeviceCount(handle)
    except (AttributeError, library.NVMLError):
        return {}
    slices: dict[int, Slice] = {}
    for number in range(most):
        # No slice has this index, or it is not accessible.
        with contextlib.suppress(library.NVMLError):
            found = library.nvmlDeviceGetMigDeviceHandleByIndex(handle, number)
            slices[number] = Slice(library, handle, found, pids)
    return slices


def _about(reader: Paced) -> int:
    """Return the approximate slowdown of a query: 1, 2, 4, 8, …

    Rounded, because the cost varies and facts should not change each second.
    """
    return 1 << max(0, round(math.log2(reader.interval / reader.seconds)))


def _polled(
    library: Any, handle: Any, read: Callable[[Any, Any], dict[str, float]]
) -> Read:
    query = partial(read, library, handle)
    return lambda _: query()
