"""How long runs held GPUs, for how much of it in vain, and what energy that took.

The figures are those of the ledgers that the diagnosis keeps of each stage. What was
not measured is None. A page of runs is looked up; to sort by them, one pass over the
project's diagnoses yields those of all.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Case, FloatField, Sum, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import NullIf
from django.db.models.lookups import GreaterThan

from tracker.diagnosis.uses import Ledger, Use, added_up
from tracker.models import Diagnosis
from tracker.queries.hardware_order import Sorted
from tracker.queries.ledgers import (
    HOUR,
    IDLE_USES,
    energy_kept,
    ledger_from,
    number_kept,
    seconds_kept,
)
from tracker.queries.run_columns import each_of
from tracker.queries.run_filter import Found


@dataclass(frozen=True, slots=True)
class GpuTime:
    """`idle_percent` is of the time held; None where nobody knows what that was used for."""

    hours: float | None = None
    idle_percent: float | None = None
    energy_joules: float | None = None


NOT_MEASURED = GpuTime()
KNOWN_USES = tuple(use for use in Use if use is not Use.UNKNOWN)


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
    idle = 100 * _summed(IDLE_USES) / NullIf(_summed(Use), Value(0.0))
    is_known = GreaterThan(_summed(KNOWN_USES), Value(0.0))
    return _held(found, Case(When(is_known, then=idle)))


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
    is_known = any(ledger.seconds[use] > 0 for use in KNOWN_USES)
    idle = sum(ledger.seconds[use] for use in IDLE_USES)
    return GpuTime(
        hours=ledger.total / HOUR,
        idle_percent=100 * idle / ledger.total if is_known else None,
        energy_joules=ledger.energy_joules,
    )
