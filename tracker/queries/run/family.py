"""The parent of a run, its children, and the run that it is forked from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from django.db.models import F

from tracker.actor import Actor
from tracker.models import Fork, Run

MAX_SHOWN = 100


class Relative(NamedTuple):
    id: UUID
    name: str
    state: str


@dataclass(frozen=True, slots=True)
class Children:
    """`runs` are the first MAX_SHOWN of `count`, in order of their start."""

    runs: tuple[Relative, ...]
    count: int


@dataclass(frozen=True, slots=True)
class ForkPoint:
    """The last step that a run has from another one.

    `run` is None if that one is deleted or in the trash, or the actor may not read it.
    """

    step: float
    run: Relative | None
    # Whether the other run's series are not copied yet.
    is_pending: bool


def parent_of(run: Run, actor: Actor) -> Relative | None:
    """Return the parent, unless it is in the trash or the actor may not read it."""
    return _shown(run.parent_id, actor)


def fork_point_of(run: Run, actor: Actor) -> ForkPoint | None:
    """Return where the run was forked; None if it is no fork."""
    fork = Fork.objects.filter(run=run).first()
    if fork is None:
        return None
    return ForkPoint(fork.step, _shown(fork.source_id, actor), not fork.is_copied)


def _shown(run_id: UUID | None, actor: Actor) -> Relative | None:
    if run_id is None:
        return None
    found = Run.objects.readable_by(actor).not_in_trash().filter(id=run_id)
    row = found.values_list("id", "name", "state").first()
    return Relative(*row) if row else None


def children_of(run: Run, actor: Actor) -> Children:
    """Return the children outside the trash that the actor may read."""
    shown = Run.objects.readable_by(actor).not_in_trash()
    children = shown.filter(parent=run, project=run.project_id)
    first = children.order_by(F("started_at").asc(nulls_last=True), "id")[:MAX_SHOWN]
    rows = tuple(Relative(*row) for row in first.values_list("id", "name", "state"))
    return Children(rows, len(rows) if len(rows) < MAX_SHOWN else children.count())
