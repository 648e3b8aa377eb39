"""How long runs spent between their stages, where that can be told."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tracker.diagnosis.breakdown.categories import Ledger
from tracker.models import Stage

# Stages may overlap, and their ledgers miss, so much of the whole; or so many seconds.
SLACK_SHARE, SLACK_SECONDS = 0.01, 0.5


@dataclass(frozen=True, slots=True)
class Span:
    """From when to when; None: not known, or it still goes on."""

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
    """Return what of a run's time was in none of its stages, beside their ledgers.

    None where it would not add up: something still goes on, stages overlap, or a
    ledger is not there, of another length than its stage, or of GPUs.
    """
    whole, lengths = run.seconds, [stage.seconds for stage in stages]
    kept = [ledger for ledger in ledgers if ledger is not None and not ledger.gpus]
    known = [length for length in lengths if length is not None]
    if whole is None or not len(stages) == len(known) == len(kept) == len(ledgers):
        return None
    slack = max(SLACK_SECONDS, SLACK_SHARE * whole)
    told = sum(ledger.total for ledger in kept)
    if abs(told - sum(known)) > slack or _overlap(stages) > slack:
        return None
    return max(0.0, whole - told) if told <= whole + slack else None


def stage_spans(run_ids: Collection[UUID]) -> dict[UUID, list[Span]]:
    """Return when the stages of each run were; those that go on have no end."""
    spans: dict[UUID, list[Span]] = {run_id: [] for run_id in run_ids}
    rows = Stage.objects.filter(run_id__in=list(run_ids)).order_by()
    for run_id, start, end in rows.values_list("run_id", "started_at", "ended_at"):
        spans[run_id].append(Span(start, end))
    return spans


def _overlap(stages: Sequence[Span]) -> float:
    """Return for how long more than one stage ran."""
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
