"""What is gathered of each run, by the key of its column.

By it runs are found, sorted and put together, and a page shows it: all of them read the
same column of one table, which tracker.actions.gathering keeps.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from tracker.models import Gathered
from tracker.queries.runs.columns import each_of

# Percent, hours, and joules.
NUMBERS = ("gpu", "cpu", "gpu_idle", "gpu_hours", "energy")
FIELDS = (*NUMBERS, "finding")
# Columns that runs are sorted by; a run without the first comes last.
ORDERS: Mapping[str, tuple[str, ...]] = {
    **{name: (name,) for name in NUMBERS},
    "finding": ("severity", "created_at"),
    "stages": ("stages", "created_at"),
    "tags": ("tags_beginning",),
}


@dataclass(frozen=True, slots=True)
class GatheredNumbers:
    """None where nothing was measured, or nobody knows."""

    gpu: float | None = None
    cpu: float | None = None
    gpu_idle: float | None = None
    gpu_hours: float | None = None
    energy: float | None = None


NOTHING_GATHERED = GatheredNumbers()


def gathered_numbers(run_ids: Collection[UUID]) -> dict[UUID, GatheredNumbers]:
    """Return what is known of these runs, in one statement."""
    rows = Gathered.objects.filter(run_id__in=each_of(run_ids))
    return {
        run_id: GatheredNumbers(*numbers)
        for run_id, *numbers in rows.values_list("run_id", *NUMBERS)
    }
