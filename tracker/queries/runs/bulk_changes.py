"""Reads what was done to many runs at somebody's request."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from tracker.models import BulkChange


@dataclass(frozen=True, slots=True)
class Changed:
    """Which runs a bulk change has changed so far, and whether no more will follow."""

    run_ids: list[str]
    is_over: bool


def changed_by(project_id: int, name: UUID) -> Changed:
    """Return what a bulk change has done; of one that nobody has heard of, nothing."""
    rows = BulkChange.objects.filter(project_id=project_id, name=name).order_by("id")
    found = list(rows.values_list("run_ids", "is_last"))
    return Changed(
        [run_id for run_ids, _ in found for run_id in run_ids],
        any(is_last for _, is_last in found),
    )
