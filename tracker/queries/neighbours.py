"""Which runs stand before and after one, in the order in which they started."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet, Subquery

from tracker.models import Run, State


@dataclass(frozen=True, slots=True)
class Neighbour:
    id: UUID
    name: str


@dataclass(frozen=True, slots=True)
class Neighbours:
    """None: there is none.

    `compared` is the last run before it that finished: beside one that failed, little
    can be said.
    """

    before: Neighbour | None = None
    after: Neighbour | None = None
    compared: Neighbour | None = None


def neighbours_of(run: Run) -> Neighbours:
    """Return the runs of the project that started just before this one and after it.

    One statement, which looks into the index of runs by their start.
    """
    if run.started_at is None:
        return Neighbours()
    before, after = _started_before(run), _started_after(run)
    wanted = (before, after, before.filter(state=State.FINISHED))
    columns = [
        Subquery(runs.values(name)[:1]) for runs in wanted for name in ("id", "name")
    ]
    row = Run.objects.filter(id=run.id).values_list(*columns).first()
    if row is None:
        return Neighbours()
    return Neighbours(*(_neighbour(row[place], row[place + 1]) for place in (0, 2, 4)))


def _neighbour(run_id: UUID | None, name: str | None) -> Neighbour | None:
    return None if run_id is None else Neighbour(run_id, name or "")


def _shown(run: Run) -> QuerySet[Run]:
    return Run.objects.not_in_trash().filter(project_id=run.project_id)


# The first condition alone is what the index can look up.
def _started_before(run: Run) -> QuerySet[Run]:
    earlier = Q(started_at__lt=run.started_at) | Q(id__lt=run.id)
    rows = _shown(run).filter(earlier, started_at__lte=run.started_at)
    return rows.order_by("-started_at", "-id")


def _started_after(run: Run) -> QuerySet[Run]:
    later = Q(started_at__gt=run.started_at) | Q(id__gt=run.id)
    rows = _shown(run).filter(later, started_at__gte=run.started_at)
    return rows.order_by("started_at", "id")
