"""Maintains the run summary: values of many rows, stored for filters and sorting.

Each change of those rows updates the summary at the end of the same transaction, so
that lock order prevents deadlocks. All functions are idempotent.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import UUID

from django.db import transaction
from django.db.models import Count

from tracker.diagnosis.engine.causes import SEVERITIES
from tracker.diagnosis.engine.finding import Severity
from tracker.models import Attribute, Run, RunSummary, Stage
from tracker.models.run_summary import SORTED_CHARACTERS
from tracker.queries.diagnoses.diagnoses import main_findings
from tracker.queries.hardware.gpu_time import gpu_times
from tracker.queries.hardware.means import hardware_means
from tracker.queries.run.namespaces import TAGS_PATH
from tracker.queries.runs.columns import each_of

RUNS_AT_ONCE = 500
ROWS_IN_UPDATE = 50
TOLERANCE = 1e-12

# Any: column values.
Values: TypeAlias = tuple[Any, ...]
ByRun: TypeAlias = Mapping[UUID, Values]


@dataclass(frozen=True, slots=True)
class Source:
    """The summary columns from one kind of row; `read` omits runs without a value."""

    columns: tuple[str, ...]
    read: Callable[[Collection[UUID]], ByRun]


def gather(run_ids: Sequence[UUID], *sources: Source) -> None:
    """Update changed summary columns of the runs, in the transaction of the change."""
    differing = list(_differing(_locked(run_ids), sources))
    columns = {column for _, changed in differing for column in changed}
    rows = [row for row, _ in differing]
    if len(rows) == 1:
        rows[0].save(update_fields=columns)
    elif rows:
        RunSummary.objects.bulk_update(rows, sorted(columns), batch_size=ROWS_IN_UPDATE)


def gather_everything(run_ids: Sequence[UUID]) -> None:
    """Update all summary columns of many runs, in batches."""
    for start in range(0, len(run_ids), RUNS_AT_ONCE):
        with transaction.atomic():
            gather(run_ids[start : start + RUNS_AT_ONCE], *EVERY_SOURCE)


def is_summary_current(run_id: UUID) -> bool:
    """Return whether the run's summary matches its rows; a missing one matches no
    values.
    """
    rows = list(RunSummary.objects.filter(run_id=run_id)) or [RunSummary(run_id=run_id)]
    return not list(_differing(rows, EVERY_SOURCE))


def _locked(run_ids: Sequence[UUID]) -> list[RunSummary]:
    """Return the locked summary rows of the runs, so that no change goes unseen."""
    rows = RunSummary.objects.select_for_update(no_key=True).order_by("run_id")
    own = rows.filter(run_id__in=each_of(run_ids))
    found = list(own)
    if len(found) < len(run_ids):
        known = {row.run_id for row in found}
        missing = Run.objects.filter(id__in=[i for i in run_ids if i not in known])
        RunSummary.objects.bulk_create(
            [
                RunSummary(run_id=run_id, project_id=project_id, created_at=created_at)
                for run_id, project_id, created_at in missing.order_by(
                    "id"
                ).values_list("id", "project_id", "created_at")
            ],
            ignore_conflicts=True,
        )
        found = list(own.all())  # reads the new rows, too
    return found


def _differing(
    rows: Sequence[RunSummary], sources: Sequence[Source]
) -> Iterator[tuple[RunSummary, list[str]]]:
    """Yield the rows with outdated values, corrected, and the changed columns."""
    run_ids = [row.run_id for row in rows]
    found = [(source.columns, source.read(run_ids)) for source in sources]
    for row in rows:
        changed = []
        for columns, by_run in found:
            nothing = (None,) * len(columns)
            values = by_run.get(row.run_id, nothing)
            for column, value in zip(columns, values, strict=True):
                if not _is_same(getattr(row, column), value):
                    setattr(row, column, value)
                    changed.append(column)
        if changed:
            yield row, changed


# Any: column values.
def _is_same(one: Any, other: Any) -> bool:
    # Sums of the same numbers in another order differ by rounding.
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=TOLERANCE)
    return bool(one == other)


def _of_hardware(run_ids: Collection[UUID]) -> ByRun:
    means = hardware_means(run_ids)
    return {run: (mean.gpu_percent, mean.cpu_percent) for run, mean in means.items()}


def _of_ledgers(run_ids: Collection[UUID]) -> ByRun:
    return {
        run: (gpu_time.idle_percent, gpu_time.hours, gpu_time.energy_joules)
        for run, gpu_time in gpu_times(run_ids).items()
    }


def _of_findings(run_ids: Collection[UUID]) -> ByRun:
    return {
        run: (SEVERITIES.index(Severity(found.severity)), found.title)
        for run, found in main_findings(run_ids).items()
    }


def _of_stages(run_ids: Collection[UUID]) -> ByRun:
    rows = Stage.objects.filter(run_id__in=each_of(run_ids)).order_by()
    counted = rows.values("run_id").annotate(count=Count("id"))
    return {run: (count,) for run, count in counted.values_list("run_id", "count")}


def _of_tags(run_ids: Collection[UUID]) -> ByRun:
    rows = Attribute.objects.filter(
        run_id__in=each_of(run_ids), path=TAGS_PATH, items__isnull=False
    )
    return {
        run: (items, beginning_of(items or ()))
        for run, items in rows.values_list("run_id", "items")
    }


def beginning_of(tags: Sequence[str]) -> str:
    """Return the sort key of a set of tags."""
    return json.dumps(list(tags), ensure_ascii=False)[:SORTED_CHARACTERS]


HARDWARE = Source(("gpu", "cpu"), _of_hardware)
LEDGERS = Source(("gpu_idle", "gpu_hours", "energy"), _of_ledgers)
FINDINGS = Source(("severity", "finding"), _of_findings)
STAGES = Source(("stages",), _of_stages)
TAGS = Source(("tags", "tags_beginning"), _of_tags)
EVERY_SOURCE = (HARDWARE, LEDGERS, FINDINGS, STAGES, TAGS)
