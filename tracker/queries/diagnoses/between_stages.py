"""The time of runs between their stages, if it is known."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tracker.diagnosis.breakdown.categories import Ledger
from tracker.models import Stage

# Allowed overlap of stages and error of their time breakdowns: share of the run, or seconds.
SLACK_SHARE, SLACK_SECONDS = 0.01, 0.5


@dataclass(frozen=True, slots=True)
class Span:
    """Start and end; None if unknown or not over yet."""

    start: datetime | None
    end: datetime | None

    @property
    def seconds(self) -> float | None:
        if self.start is None or self.end is None:
            return None
        return max(0.0, (self.end - self.start).total_seconds())


def seconds_between(
    run: Span, stages: Sequence[Span], ledgers: Sequence[Ledger | None]
) -> float | None:
    """Return the part of a run's time that is in none of its stages.

    None if the sum would be wrong: a stage is still running, stages overlap, or a time breakdown
    is missing, has another length than its stage, or has GPUs.
    """
    whole, lengths = run.seconds, [stage.seconds for stage in stages]
    kept = [ledger for ledger in ledgers if ledger is not None and not ledger.gpus]
    known = [length for length in lengths if length is not None]
    if whole is None or not len(stages) == len(known) == len(kept) == len(ledgers):
        return None
    slack = max(SLACK_SECONDS, SLACK_SHARE * whole)
    accounted = sum(ledger.total for ledger in kept)
    if abs(accounted - sum(known)) > slack or _overlap(stages) > slack:
        return None
    return max(0.0, whole - accounted) if accounted <= whole + slack else None


def stage_spans(run_ids: Collection[UUID]) -> dict[UUID, list[Span]]:
    """Return the time spans of each run's stages; running stages have no end."""
    spans: dict[UUID, list[Span]] = {run_id: [] for run_id in run_ids}
    rows = Stage.objects.filter(run_id__in=list(run_ids)).order_by()
    for run_id, start, end in rows.values_list("run_id", "started_at", "ended_at"):
        spans[run_id].append(Span(start, end))
    return spans


def _overlap(stages: Sequence[Span]) -> float:
    """Return the time in which more than one stage ran."""
    spans = sorted(
        (stage.start, stage.end)
        for stage in stages
        if stage.start is not None and stage.end is not None
    )
    seconds, until = 0.0, None
    for start, end in spans:
        if until is not None and start < until:
            seconds += (min(until, end) - start).total_seconds()
        until = end if until is None else max(until, end)
    return seconds
