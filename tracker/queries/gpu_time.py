"""How long runs held GPUs, for how much of it in vain, and what energy that took.

The figures are those of the ledgers that the diagnosis keeps of each stage. What was
not measured is None. A page of runs is looked up; to sort by them, one pass over the
project's diagnoses yields those of all.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import FloatField, Sum, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import NullIf

from tracker.diagnosis.uses import Ledger, Use, added_up
from tracker.models import Diagnosis
from tracker.queries.hardware_order import Sorted
from tracker.queries.ledgers import (
    HOUR,
    energy_kept,
    ledger_from,
    number_kept,
    seconds_kept,
    wasted_uses,
)
from tracker.queries.run_columns import each_of
from tracker.queries.run_filter import Found


@dataclass(frozen=True, slots=True)
class GpuTime:
    """`idle_percent` is of the time held: all but useful work and what is unknown."""

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


def by_gpu_hours(found: Found) -> Sorted:
    return _held(found, _summed(Use) / Value(HOUR))


def by_gpu_idle(found: Found) -> Sorted:
    wasted = 100 * _summed(wasted_uses())
    return _held(found, wasted / NullIf(_summed(Use), Value(0.0)))


def by_energy(found: Found) -> Sorted:
    return _held(found, Sum(energy_kept(), output_field=FloatField()))


def _held(found: Found, key: Combinable) -> Sorted:
    """Return the stages that held GPUs, to be grouped by run."""
    kept = Diagnosis.objects.filter(ledger__isnull=False, run__in=found.runs())
    kept = kept.annotate(gpus=number_kept("gpus")).filter(gpus__gt=0)
    return kept.order_by().values("run_id"), key


def _summed(uses: Collection[Use] | type[Use]) -> Sum:
    return Sum(seconds_kept(uses), output_field=FloatField())


def _figures(ledger: Ledger | None) -> GpuTime:
    if ledger is None or not ledger.total > 0:
        return NOT_MEASURED
    wasted = sum(ledger.seconds[use] for use in wasted_uses())
    return GpuTime(
        ledger.total / HOUR, 100 * wasted / ledger.total, ledger.energy_joules
    )
