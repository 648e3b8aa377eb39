"""How long runs held GPUs, for how much of it in vain, and what energy that took.

The figures are those of the ledgers that the diagnosis keeps of each stage. What was
not measured is None. A page of runs is looked up; to sort by them and to find runs, one
pass over an index of diagnoses yields those of all.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Case, QuerySet, Sum, Value, When
from django.db.models.functions import NullIf
from django.db.models.lookups import GreaterThan

from tracker.diagnosis.uses import IDLE_USES, KNOWN_USES, Ledger, added_up
from tracker.models import Diagnosis
from tracker.queries.ledgers import (
    HOUR,
    ledger_from,
)
from tracker.queries.run_columns import each_of
from tracker.queries.some_runs import SomeRuns, Sorted


@dataclass(frozen=True, slots=True)
class GpuTime:
    """`idle_percent` is of the time held; None where nobody knows what that was used for."""

    hours: float | None = None
    idle_percent: float | None = None
    energy_joules: float | None = None


NOT_MEASURED = GpuTime()


def gpu_times(run_ids: Collection[UUID]) -> dict[UUID, GpuTime]:
    """Return the figures of these runs, in one statement; those without are absent."""
    rows = Diagnosis.objects.filter(
        run_id__in=each_of(run_ids), ledger__isnull=False
    ).values_list("run_id", "ledger")
    held: dict[UUID, list[Ledger]] = {}
    for run_id, row in rows:
        ledger = ledger_from(row)
        if ledger is not None and ledger.gpus:
            held.setdefault(run_id, []).append(ledger)
    return {run_id: _figures(added_up(ledgers)) for run_id, ledgers in held.items()}


def by_gpu_hours(found: SomeRuns) -> Sorted:
    return _held(found), Sum("gpu_seconds") / Value(HOUR)


def by_gpu_idle(found: SomeRuns) -> Sorted:
    idle = 100 * Sum("gpu_idle_seconds") / NullIf(Sum("gpu_seconds"), Value(0.0))
    is_known = GreaterThan(Sum("gpu_known_seconds"), Value(0.0))
    return _held(found), Case(When(is_known, then=idle))


def by_energy(found: SomeRuns) -> Sorted:
    return _held(found), Sum("gpu_joules")


def _held(found: SomeRuns) -> QuerySet[Any]:
    """Return the stages that held GPUs for a time, to be grouped by run."""
    kept = Diagnosis.objects.filter(gpu_seconds__gt=0, run__in=found.runs())
    return kept.order_by().values("run_id")


def _figures(ledger: Ledger | None) -> GpuTime:
    if ledger is None or not ledger.total > 0:
        return NOT_MEASURED
    is_known = any(ledger.seconds[use] > 0 for use in KNOWN_USES)
    idle = sum(ledger.seconds[use] for use in IDLE_USES)
    return GpuTime(
        hours=ledger.total / HOUR,
        idle_percent=100 * idle / ledger.total if is_known else None,
        energy_joules=ledger.energy_joules,
    )
