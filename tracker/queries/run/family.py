"""The parent of a run, and its children."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from django.db.models import Count, F

from tracker.actor import Actor
from tracker.models import Run

MAX_SHOWN = 100


class Relative(NamedTuple):
    id: UUID
    name: str
    state: str


@dataclass(frozen=True, slots=True)
class Family:
    """`children` are the first MAX_SHOWN of `count`, in order of their start."""

    parent: Relative | None
    children: tuple[Relative, ...]
    count: int


def family_of(run: Run, actor: Actor) -> Family:
    """Return the relatives that the actor may read; runs in the trash are left out."""
    shown = Run.objects.readable_by(actor).not_in_trash()
    children = shown.filter(parent=run, project=run.project_id)
    first = children.order_by(F("started_at").asc(nulls_last=True), "id")[:MAX_SHOWN]
    rows = tuple(Relative(*row) for row in first.values_list("id", "name", "state"))
    parents = shown.filter(id=run.parent_id) if run.parent_id else Run.objects.none()
    parent = parents.values_list("id", "name", "state").first()
    return Family(
        parent=Relative(*parent) if parent else None,
        children=rows,
        count=len(rows) if len(rows) < MAX_SHOWN else children.count(),
    )


def has_children(project_id: int) -> bool:
    """Return whether any run of the project is a child."""
    return Run.objects.filter(project=project_id, parent__isnull=False).exists()


def child_counts(project_id: int, run_ids: Collection[UUID]) -> dict[UUID, int]:
    """Return the numbers of children outside the trash, of runs that have any."""
    children = Run.objects.filter(project=project_id, parent__in=list(run_ids))
    counted = children.not_in_trash().values("parent").order_by()
    return dict(counted.annotate(count=Count("id")).values_list("parent", "count"))
