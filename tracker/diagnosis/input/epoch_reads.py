"""Bytes read in each epoch, and its mean step and wait times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.epochs import Epoch
from tracker.diagnosis.signals import Array, Samples


@dataclass(frozen=True, slots=True)
class EpochReads:
    """One value per epoch, in order."""

    read: Array  # bytes from storage
    requested: Array | None  # bytes including the page cache
    step_seconds: Array  # mean
    wait_seconds: Array  # mean
    steps: int  # in the first epoch
    total_seconds: float

    @property
    def data_bytes(self) -> float:
        """Return the largest number of bytes read in an epoch after the first one."""
        later = self.read[1:] if self.requested is None else self.requested[1:]
        return float(max(later.max(), self.read[1:].max()))


def measure_epoch_reads(
    epochs: tuple[Epoch, ...],
    step_seconds: Array,
    waits: Array,
    read: Samples,
    requested: Samples | None,
) -> EpochReads | None:
    """Return None if there are no epochs or an epoch has no samples."""
    seconds = np.array([epoch.seconds for epoch in epochs])
    bytes_read = bytes_of_epochs(epochs, read)
    if bytes_read is None:
        return None
    return EpochReads(
        read=bytes_read,
        requested=bytes_of_epochs(epochs, requested),
        step_seconds=np.array([step_seconds[e.rows].mean() for e in epochs]),
        wait_seconds=np.array([waits[e.rows].mean() for e in epochs]),
        steps=epochs[0].steps,
        total_seconds=float(seconds.sum()),
    )


def bytes_of_epochs(epochs: tuple[Epoch, ...], rate: Samples | None) -> Array | None:
    """Return the bytes read in each epoch; None if an epoch has no sample."""
    rates = [epoch.mean(rate) if rate is not None else None for epoch in epochs]
    if not epochs or None in rates:
        return None
    seconds = np.array([epoch.seconds for epoch in epochs])
    found: Array = np.array(rates, dtype=np.float64) * seconds
    return found
