"""Makes runs children of other runs of their project."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db.models import Q

from tracker.models import Project, Run, State

# Nested deeper, a run gets no parent.
MAX_DEPTH = 20


def set_parent(run: Run, parent: str, user_id: int, *, started_at: datetime) -> None:
    """Make a run a child, unless it is one; create a parent of that name if needed.

    The process of the parent may be delivered later than that of the child. Parents in
    the trash, ids of other projects and cycles are ignored.
    """
    if run.parent_id is not None:
        return
    found = _find_or_make(run.project, parent, user_id, started_at)
    if found is None or found.trashed_at is not None or _descends(found, run):
        return
    Run.objects.filter(id=run.id, parent=None).update(parent=found)
    run.parent = found


def _find_or_make(
    project: Project, parent: str, user_id: int, started_at: datetime
) -> Run | None:
    runs = Run.objects.filter(project=project)
    run_id = _id_of(parent)
    if run_id is not None:
        return runs.filter(Q(id=run_id) | Q(name=parent)).first()
    launched = runs.launched_as(parent).last()
    if launched is not None:
        return launched
    made = Run(
        project=project,
        name=parent,
        made_by_id=user_id,
        state=State.FINISHED,
        started_at=started_at,
        ended_at=started_at,
    )
    Run.objects.bulk_create([made], ignore_conflicts=True)
    return runs.get(name=parent)


def _descends(run: Run, ancestor: Run) -> bool:
    """Return whether a run is the ancestor or below it, or too deep to have children."""
    current: Run | None = run
    for _ in range(MAX_DEPTH):
        if current is None:
            return False
        if current.id == ancestor.id:
            return True
        current = current.parent
    return True


def _id_of(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
