"""What is known of a few runs beside their attributes, by its name in queries.

In the units that columns show: seconds, percent, hours and kilowatt-hours. What nobody
knows is None. Each source is read once for all runs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias
from uuid import UUID

from tracker.models import Run
from tracker.queries.column_keys import NUMBERS_OF_RUN, with_gpu_time
from tracker.queries.diagnoses import main_findings
from tracker.queries.gpu_time import NOT_MEASURED, GpuTime, gpu_times
from tracker.queries.hardware_means import HardwareMeans, hardware_means
from tracker.queries.ledgers import JOULES_OF_A_KILOWATT_HOUR
from tracker.queries.run_columns import each_of, run_seconds

MADE_BY = "made_by"
TEXTS = ("finding", MADE_BY)
FIELDS = (*NUMBERS_OF_RUN, *TEXTS)
OF_HARDWARE = ("gpu", "cpu")
NOTHING = HardwareMeans()

FieldValue: TypeAlias = float | str | None


def field_values(
    runs: Sequence[Run], fields: Collection[str]
) -> dict[str, list[FieldValue]]:
    """Return for each of these fields what each run has there, in the runs' order."""
    ids = [run.id for run in runs]
    held = gpu_times(ids) if with_gpu_time(fields) else {}
    is_watched = not set(OF_HARDWARE).isdisjoint(fields)
    means = hardware_means(ids) if is_watched else {}
    findings = main_findings(ids) if "finding" in fields else {}
    makers = _makers(ids) if MADE_BY in fields else {}

    known: dict[str, Callable[[Run], FieldValue]] = {
        "duration": run_seconds,
        "gpu": lambda run: means.get(run.id, NOTHING).gpu_percent,
        "cpu": lambda run: means.get(run.id, NOTHING).cpu_percent,
        "gpu_idle": lambda run: held.get(run.id, NOT_MEASURED).idle_percent,
        "gpu_hours": lambda run: held.get(run.id, NOT_MEASURED).hours,
        "energy": lambda run: _kilowatt_hours(held.get(run.id, NOT_MEASURED)),
        "finding": lambda run: findings[run.id].title if run.id in findings else None,
        MADE_BY: lambda run: makers.get(run.id),
    }
    return {field: [known[field](run) for run in runs] for field in fields}


def _kilowatt_hours(time: GpuTime) -> float | None:
    joules = time.energy_joules
    return None if joules is None else joules / JOULES_OF_A_KILOWATT_HOUR


def _makers(run_ids: Collection[UUID]) -> dict[UUID, str]:
    made = Run.objects.filter(id__in=each_of(run_ids), made_by__isnull=False)
    return dict(made.values_list("id", "made_by__username"))
