"""The runs before and after a run, and the run it is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet, Subquery, TextField, UUIDField

from tracker.models import Run, Rung, State


@dataclass(frozen=True, slots=True)
class Neighbor:
    id: UUID
    name: str


@dataclass(frozen=True, slots=True)
class Neighbors:
    """Neighboring runs; None if there is none.

    `compared` is the last finished run before it, because failed runs are a poor reference.
    On a ladder it is the previous run of the ladder, whenever that started; a baseline has
    none.
    """

    before: Neighbor | None = None
    after: Neighbor | None = None
    compared: Neighbor | None = None
    ladder: str = ""  # the name of the ladder that determines `compared`


def neighbors_of(run: Run) -> Neighbors:
    """Return the runs of the project that started just before and after this one.

    One statement, which uses the index of runs by start time.
    """
    if run.started_at is None:
        return Neighbors()
    before, after = _started_before(run), _started_after(run)
    columns = (
        *_id_and_name(before),
        *_id_and_name(after),
        *_id_and_name(before.filter(state=State.FINISHED)),
        *_id_and_name(_lower_rungs(run), "run__"),
        Subquery(_newest_rung(run).values("ladder__name")[:1]),
    )
    row = Run.objects.filter(id=run.id).values_list(*columns).first()
    if row is None:
        return Neighbors()
    ladder = row[8] or ""
    compared = 6 if ladder else 4
    return Neighbors(
        before=_neighbor(*row[0:2]),
        after=_neighbor(*row[2:4]),
        compared=_neighbor(*row[compared : compared + 2]),
        ladder=ladder,
    )


# Any: a queryset of a model with an id and a name.
def _id_and_name(rows: Any, of: str = "") -> list[Subquery]:
    # The output field converts the id from the database's format.
    run_id, name = (rows.values(f"{of}{column}")[:1] for column in ("id", "name"))
    return [
        Subquery(run_id, output_field=UUIDField()),
        Subquery(name, output_field=TextField()),
    ]


def _neighbor(run_id: UUID | None, name: str | None) -> Neighbor | None:
    return None if run_id is None else Neighbor(run_id, name or "")


def _shown(run: Run) -> QuerySet[Run]:
    return Run.objects.not_in_trash().filter(project_id=run.project_id)


# An index supports only the first condition.
def _started_before(run: Run) -> QuerySet[Run]:
    earlier = Q(started_at__lt=run.started_at) | Q(id__lt=run.id)
    rows = _shown(run).filter(earlier, started_at__lte=run.started_at)
    return rows.order_by("-started_at", "-id")


def _started_after(run: Run) -> QuerySet[Run]:
    later = Q(started_at__gt=run.started_at) | Q(id__gt=run.id)
    rows = _shown(run).filter(later, started_at__gte=run.started_at)
    return rows.order_by("started_at", "id")


def _newest_rung(run: Run) -> QuerySet[Rung]:
    """Return the run's positions on ladders, on the newest ladder first."""
    rungs = Rung.objects.shown().filter(run_id=run.id)
    return rungs.order_by("-ladder__created_at", "-ladder_id")


def _lower_rungs(run: Run) -> QuerySet[Rung]:
    own = _newest_rung(run)
    return (
        Rung.objects.shown()
        .filter(
            ladder_id=Subquery(own.values("ladder_id")[:1]),
            position__lt=Subquery(own.values("position")[:1]),
            run__state=State.FINISHED,
        )
        .order_by("-position")
    )
