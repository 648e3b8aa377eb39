"""Annotations at points of a run's series."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tracker.models import Annotation, Run
from tracker.queries.run.attributes import storable

# Maximum number per chart.
MAX_OF_A_PATH = 200
# Maximum number for compared runs; more would overlap.
MAX_OF_RUNS = 2_000


@dataclass(frozen=True, slots=True)
class AnnotationRow:
    """A text at a point; the author is empty if the account is deleted."""

    id: int
    path: str
    step: float
    time: datetime
    text: str
    author: str
    author_id: int | None
    written_at: datetime
    edited_at: datetime | None


def annotations_of(run: Run, paths: Collection[str]) -> dict[str, list[AnnotationRow]]:
    """Return the annotations of these series in order of step, the newest if many."""
    requested = set(storable(paths))
    found: dict[str, list[AnnotationRow]] = {path: [] for path in paths}
    rows = Annotation.objects.filter(run_id=run.id).select_related("author")
    for row in rows.order_by("-id"):
        # Filtered in Python: the paths may exceed the parameter limit of a statement.
        if row.path in requested and len(found[row.path]) < MAX_OF_A_PATH:
            found[row.path].append(_row(row))
    for some in found.values():
        some.sort(key=lambda annotation: (annotation.step, annotation.id))
    return found


def annotations_of_runs(
    run_ids: Collection[UUID],
) -> dict[UUID, list[AnnotationRow]]:
    """Return the annotations of all series of these runs, the newest if there are many."""
    found: dict[UUID, list[AnnotationRow]] = {run_id: [] for run_id in run_ids}
    rows = Annotation.objects.filter(run__in=run_ids).select_related("author")
    for row in rows.order_by("-id")[:MAX_OF_RUNS]:
        found[row.run_id].append(_row(row))
    return found


def _row(annotation: Annotation) -> AnnotationRow:
    author = annotation.author
    return AnnotationRow(
        id=annotation.id,
        path=annotation.path,
        step=annotation.step,
        time=annotation.time,
        text=annotation.text,
        author=author.get_username() if author is not None else "",
        author_id=annotation.author_id,
        written_at=annotation.written_at,
        edited_at=annotation.edited_at,
    )
