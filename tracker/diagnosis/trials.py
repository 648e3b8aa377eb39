"""What trials of the loader and of the step say about waiting for data."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.finding import Evidence
from tracker.diagnosis.gain import Floor
from tracker.diagnosis.waiting import Waiting


@dataclass(frozen=True, slots=True)
class Trials:
    """Of one batch each, measured by themselves; None where nobody tried."""

    step_seconds: float | None = None
    loader_seconds: float | None = None

    def floor(self, waiting: Waiting) -> Floor:
        """Return what a step takes at the least, however fast its batches come."""
        if self.step_seconds is None or not self.step_seconds > 0:
            return Floor(waiting.compute_seconds, "the training step's own work")
        return Floor(
            self.step_seconds, "the training step's own work, as tried on one batch"
        )

    def loader_keeps_up(self, waiting: Waiting) -> bool | None:
        """Whether the loader alone is as fast as training needs it."""
        if self.loader_seconds is None or not self.loader_seconds > 0:
            return None
        return self.loader_seconds <= self.floor(waiting).seconds

    def evidence(self) -> tuple[Evidence, ...]:
        tried = {
            "probe_step_seconds": ("a step on one batch, repeated", self.step_seconds),
            "probe_loader_seconds": (
                "a batch of the loader alone",
                self.loader_seconds,
            ),
        }
        return tuple(
            Evidence(name, statistic, value, "s")
            for name, (statistic, value) in tried.items()
            if value is not None
        )
