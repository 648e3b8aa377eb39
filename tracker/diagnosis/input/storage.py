"""Whether those who load the data wait for storage, and what they read of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.statistics import average, margin_above
from tracker.diagnosis.engine.finding import Evidence, Side
from tracker.diagnosis.signals import Samples

# What a rule lacks where nobody knows whether anything waits.
WAITING_SIGNALS = ("workers_blocked", "io_pressure_share")

FEWEST_TO_CORRELATE = 10


@dataclass(frozen=True, slots=True)
class WaitLimits:
    """From where on loading waits for storage; a finding that is open stays above."""

    blocked: float
    blocked_release: float
    pressure: float
    pressure_release: float


@dataclass(frozen=True, slots=True)
class StorageWait:
    """How much of the time loading waits for storage; None where it is not known."""

    blocked_share: float | None  # of the loading processes, at a moment
    pressure_share: float | None  # of time, in which any task waited
    quality: float

    def exceeds(self, limits: WaitLimits, *, already_open: bool) -> bool:
        blocked = limits.blocked_release if already_open else limits.blocked
        pressure = limits.pressure_release if already_open else limits.pressure
        return (self.blocked_share or 0.0) >= blocked or (
            self.pressure_share or 0.0
        ) >= pressure

    def agrees(self, limits: WaitLimits) -> bool:
        """Whether both say that loading waits."""
        return (self.blocked_share or 0.0) >= limits.blocked and (
            self.pressure_share or 0.0
        ) >= limits.pressure

    def margin(self, limits: WaitLimits) -> float:
        return max(
            margin_above(self.blocked_share or 0.0, limits.blocked),
            margin_above(self.pressure_share or 0.0, limits.pressure),
        )

    def evidence(self, limits: WaitLimits) -> tuple[Evidence, ...]:
        found = []
        if self.blocked_share is not None:
            found.append(
                Evidence(
                    "workers_blocked",
                    "loading processes blocked on storage, share",
                    self.blocked_share,
                    "share",
                    limits.blocked,
                    Side.ABOVE,
                    release=limits.blocked_release,
                )
            )
        if self.pressure_share is not None:
            found.append(
                Evidence(
                    "io_pressure_share",
                    "time with a task stalled on storage, mean share",
                    self.pressure_share,
                    "share",
                    limits.pressure,
                    Side.ABOVE,
                    release=limits.pressure_release,
                )
            )
        return tuple(found)


def measure_storage_wait(
    *,
    loader_workers: float | None = None,
    job_workers: Samples | None = None,
    workers_blocked: Samples | None = None,
    io_pressure_share: Samples | None = None,
) -> StorageWait | None:
    """Return None where nothing tells."""
    blocked = blocked_share(loader_workers, job_workers, workers_blocked)
    qualities = []
    if blocked is not None and workers_blocked is not None:
        qualities.append(workers_blocked.quality)
    pressure = None
    if io_pressure_share is not None and len(io_pressure_share.values):
        pressure = average(io_pressure_share.values)
        qualities.append(io_pressure_share.quality)
    if not qualities:
        return None
    return StorageWait(blocked, pressure, max(qualities))


def blocked_share(
    loader_workers: float | None,
    job_workers: Samples | None,
    workers_blocked: Samples | None,
) -> float | None:
    """Return which share of the loading processes waits for storage at a moment.

    None where the training process loads by itself: nobody looks at its state.
    """
    if workers_blocked is None or not len(workers_blocked.values):
        return None
    children = average(job_workers.values) if job_workers is not None else 0.0
    # Helpers are children, too: what the loader says counts before their number.
    loading = loader_workers if loader_workers is not None else children
    if not loading > 0:
        return None
    return min(1.0, average(workers_blocked.values) / loading)


def correlation(one: Samples, other: Samples) -> float | None:
    """Return how two readings rise and fall together, -1 to 1; None if unknown."""
    if min(len(one.values), len(other.values)) < FEWEST_TO_CORRELATE:
        return None
    # Two probes read within one tick, but not at one moment.
    values = np.interp(one.times, other.times, other.values)
    spread = float(np.std(one.values) * np.std(values))
    if not spread > 0:
        return None
    distances = (one.values - one.values.mean()) * (values - values.mean())
    return float(distances.mean() / spread)
