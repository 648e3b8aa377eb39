"""Results of micro-benchmarks of the loader and the step, for rules about waiting."""

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
    """Times of one batch, measured separately; None if not measured."""

    step_seconds: float | None = None
    loader_seconds: float | None = None
    prepare_seconds: float | None = None
    fetch_seconds: float | None = None

    def floor(self, waiting: Waiting) -> Floor:
        """Return the minimum step time, however fast the batches arrive."""
        if self.step_seconds is None or not self.step_seconds > 0:
            return waiting.own_work
        return Floor(
            self.step_seconds, "the training step's own work, as measured on one batch"
        )

    def loader_keeps_up(self, waiting: Waiting) -> bool | None:
        """Return whether the loader alone is as fast as training needs it."""
        if self.loader_seconds is None or not self.loader_seconds > 0:
            return None
        return self.loader_seconds <= self.floor(waiting).seconds

    def corroboration(self, waiting: Waiting) -> float:
        """Return whether the micro-benchmark agrees with the measured waiting."""
        keeps_up = self.loader_keeps_up(waiting)
        if keeps_up is None:
            return ALONE
        return CONTRADICTED if keeps_up else AGREEING

    def recommendation(self) -> Recommendation:
        """Recommend a micro-benchmark, or a change if it has run."""
        if self.prepare_seconds is None or self.fetch_seconds is None:
            return Recommendation(
                "Find out what the waits come from: CPU work, storage or the network. If"
                " no other finding names it, a micro-benchmark of the loader shows whether"
                " fetching or preparing a batch takes longer.",
                code=CACHED,
            )
        is_far = self.fetch_seconds > self.prepare_seconds
        return Recommendation(
            f"Measured: a batch takes {duration(self.prepare_seconds)} to prepare and"
            f" {duration(self.fetch_seconds)} to fetch: "
            + (
                "move the data closer, or keep it in memory."
                if is_far
                else "make the preparation cheaper, or use more processes."
            )
        )

    def evidence(self) -> tuple[Evidence, ...]:
        """Return the measured times."""
        tried = {
            "probe_step_seconds": ("a step on one repeated batch", self.step_seconds),
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
