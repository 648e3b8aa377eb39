"""Whether the loading processes wait for storage, and how much they read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.statistics import average, margin_above
from tracker.diagnosis.engine.finding import Evidence, Side
from tracker.diagnosis.signals import Samples

# The missing signals in the answer of a rule if no wait is measured.
WAITING_SIGNALS = ("workers_blocked", "io_pressure_share")

FEWEST_TO_CORRELATE = 10


@dataclass(frozen=True, slots=True)
class WaitLimits:
    """Limits for waiting on storage; an open finding uses the release limits."""

    blocked: float
    blocked_release: float
    pressure: float
    pressure_release: float


@dataclass(frozen=True, slots=True)
class StorageWait:
    """Shares of time in which loading waits for storage; None if unknown."""

    blocked_share: float | None  # of the loading processes, at one time
    pressure_share: float | None  # of time with any task waiting
    quality: float

    def exceeds(self, limits: WaitLimits, *, already_open: bool) -> bool:
        blocked = limits.blocked_release if already_open else limits.blocked
        pressure = limits.pressure_release if already_open else limits.pressure
        return (self.blocked_share or 0.0) >= blocked or (
            self.pressure_share or 0.0
        ) >= pressure

    def agrees(self, limits: WaitLimits) -> bool:
        """Return whether both signals show that loading waits."""
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
    """Return None if neither signal is measured."""
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
    """Return the share of the loading processes that wait for storage at one time.

    None if the training process loads the data itself, because its state is not sampled.
    """
    if workers_blocked is None or not len(workers_blocked.values):
        return None
    children = average(job_workers.values) if job_workers is not None else 0.0
    # Helper processes are children, too, so the loader's own count is preferred.
    loading = loader_workers if loader_workers is not None else children
    if not loading > 0:
        return None
    return min(1.0, average(workers_blocked.values) / loading)


def correlation(one: Samples, other: Samples) -> float | None:
    """Return the correlation of two series, -1 to 1; None if unknown."""
    if min(len(one.values), len(other.values)) < FEWEST_TO_CORRELATE:
        return None
    # Two probes sample within one tick, but not at the same time.
    values = np.interp(one.times, other.times, other.values)
    spread = float(np.std(one.values) * np.std(values))
    if not spread > 0:
        return None
    distances = (one.values - one.values.mean()) * (values - values.mean())
    return float(distances.mean() / spread)
