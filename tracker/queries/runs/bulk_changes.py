"""The progress of bulk changes of runs."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from tracker.models import BulkChange


@dataclass(frozen=True, slots=True)
class Changed:
    """The runs that a bulk change has changed so far, and whether it is complete."""

    run_ids: list[str]
    is_over: bool


def changed_by(project_id: int, name: UUID) -> Changed:
    """Return the progress of a bulk change; empty if it is unknown."""
    rows = BulkChange.objects.filter(project_id=project_id, name=name).order_by("id")
    found = list(rows.values_list("run_ids", "is_last"))
    return Changed(
        [run_id for run_ids, _ in found for run_id in run_ids],
        any(is_last for _, is_last in found),
    )
