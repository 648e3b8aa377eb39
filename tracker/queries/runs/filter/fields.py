"""Fields of runs that are not attributes, by their names in queries.

In the units of the columns: seconds, percent, hours and kilowatt-hours. Unknown values are None.
Each source is read once for all runs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias
from uuid import UUID

from tracker.models import Run
from tracker.queries.diagnoses.diagnoses import main_findings
from tracker.queries.diagnoses.time_breakdowns import JOULES_OF_A_KILOWATT_HOUR
from tracker.queries.runs.column_keys import NUMBERS_OF_RUN
from tracker.queries.runs.columns import each_of, run_seconds, run_wall_seconds
from tracker.queries.runs.summaries import (
    NO_NUMBERS,
    NUMBERS,
    SummaryNumbers,
    summary_numbers,
)

MADE_BY = "made_by"
TEXTS = ("finding", MADE_BY)
FIELDS = (*NUMBERS_OF_RUN, *TEXTS)

FieldValue: TypeAlias = float | str | None


def field_values(
    runs: Sequence[Run], fields: Collection[str]
) -> dict[str, list[FieldValue]]:
    """Return the values of each field, in the order of the runs."""
    ids = [run.id for run in runs]
    is_summary = not set(NUMBERS).isdisjoint(fields)
    numbers = summary_numbers(ids) if is_summary else {}
    findings = main_findings(ids) if "finding" in fields else {}
    makers = _makers(ids) if MADE_BY in fields else {}

    def of(run: Run) -> SummaryNumbers:
        return numbers.get(run.id, NO_NUMBERS)

    known: dict[str, Callable[[Run], FieldValue]] = {
        "duration": run_seconds,
        "wall_time": run_wall_seconds,
        "gpu": lambda run: of(run).gpu,
        "cpu": lambda run: of(run).cpu,
        "gpu_idle": lambda run: of(run).gpu_idle,
        "gpu_hours": lambda run: of(run).gpu_hours,
        "energy": lambda run: _kilowatt_hours(of(run).energy),
        "finding": lambda run: findings[run.id].title if run.id in findings else None,
        MADE_BY: lambda run: makers.get(run.id),
    }
    return {field: [known[field](run) for run in runs] for field in fields}


def _kilowatt_hours(joules: float | None) -> float | None:
    return None if joules is None else joules / JOULES_OF_A_KILOWATT_HOUR


def _makers(run_ids: Collection[UUID]) -> dict[UUID, str]:
    made = Run.objects.filter(id__in=each_of(run_ids), made_by__isnull=False)
    return dict(made.values_list("id", "made_by__username"))
