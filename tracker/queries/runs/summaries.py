"""Columns of the run summary, by column key.

Filters, orders, groups and pages all read the same columns of one table, which
tracker.actions.runs.run_summaries maintains.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from tracker.models import RunSummary
from tracker.queries.runs.columns import each_of

# Percent, hours, and joules.
NUMBERS = ("gpu", "cpu", "gpu_idle", "gpu_hours", "energy")
FIELDS = (*NUMBERS, "finding")
# Sort columns; a run without a value in the first one comes last.
ORDERS: Mapping[str, tuple[str, ...]] = {
    **{name: (name,) for name in NUMBERS},
    "finding": ("severity", "created_at"),
    "stages": ("stages", "created_at"),
    "tags": ("tags_beginning",),
}


@dataclass(frozen=True, slots=True)
class SummaryNumbers:
    """Numbers of the run summary; None if not measured or unknown."""

    gpu: float | None = None
    cpu: float | None = None
    gpu_idle: float | None = None
    gpu_hours: float | None = None
    energy: float | None = None


NO_NUMBERS = SummaryNumbers()


def summary_numbers(run_ids: Collection[UUID]) -> dict[UUID, SummaryNumbers]:
    """Return the summaries of these runs, in one statement."""
    rows = RunSummary.objects.filter(run_id__in=each_of(run_ids))
    return {
        run_id: SummaryNumbers(*numbers)
        for run_id, *numbers in rows.values_list("run_id", *NUMBERS)
    }
