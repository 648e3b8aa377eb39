"""What trials of the loader and of the step say about waiting for data."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    CONTRADICTED,
    Evidence,
    Recommendation,
)
from tracker.diagnosis.engine.speedup import Floor
from tracker.diagnosis.engine.wording import duration
from tracker.diagnosis.input.waiting import Waiting
from tracker.diagnosis.signals.trials import CACHED


@dataclass(frozen=True, slots=True)
class Trials:
    """Of one batch each, measured by themselves; None where nobody tried."""

    step_seconds: float | None = None
    loader_seconds: float | None = None
    prepare_seconds: float | None = None
    fetch_seconds: float | None = None

    def floor(self, waiting: Waiting) -> Floor:
        """Return what a step takes at the least, however fast its batches come."""
        if self.step_seconds is None or not self.step_seconds > 0:
            return waiting.own_work
        return Floor(
            self.step_seconds, "the training step's own work, as tried on one batch"
        )

    def loader_keeps_up(self, waiting: Waiting) -> bool | None:
        """Whether the loader alone is as fast as training needs it."""
        if self.loader_seconds is None or not self.loader_seconds > 0:
            return None
        return self.loader_seconds <= self.floor(waiting).seconds

    def corroboration(self, waiting: Waiting) -> float:
        """Return whether what was tried agrees with the waiting that was seen."""
        keeps_up = self.loader_keeps_up(waiting)
        if keeps_up is None:
            return ALONE
        return CONTRADICTED if keeps_up else AGREEING

    def recommendation(self) -> Recommendation:
        """Return what to look at, or, once it was tried, what to change."""
        if self.prepare_seconds is None or self.fetch_seconds is None:
            return Recommendation(
                "Find what the batches wait for: CPU work, storage or the network."
                " The rules about these name it when they have their signals; a trial"
                " of the loader tells fetching from preparing.",
                code=CACHED,
            )
        is_far = self.fetch_seconds > self.prepare_seconds
        return Recommendation(
            f"As tried, a batch takes {duration(self.prepare_seconds)} to prepare and"
            f" {duration(self.fetch_seconds)} to fetch: "
            + (
                "bring the data nearer, or keep them in memory."
                if is_far
                else "make preparing it cheaper, or do it in more processes."
            )
        )

    def evidence(self) -> tuple[Evidence, ...]:
        """Return what was tried."""
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
