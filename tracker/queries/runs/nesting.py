"""Parents, children and sources of forks in the runs table.

A child of a run in the trash counts as a run without a parent, a fork of one as no fork.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from django.db.models import Count, F

from tracker.models import Fork, Run
from tracker.queries.run_query.tree import ChildOf, Known, Negation, RunField, Tree
from tracker.queries.runs.columns import each_of

TOP_LEVEL: Tree = Negation(Known(RunField("parent")))


class ForkSource(NamedTuple):
    """The run that another one continues after a step."""

    id: UUID
    name: str
    step: float


def level_below(parent: UUID | None) -> Tree:
    """Return the condition on the children of a run; None: on runs without a parent."""
    return TOP_LEVEL if parent is None else ChildOf(parent)


def has_children(project_id: int) -> bool:
    """Return whether a run of the project is shown as a child of another."""
    children = Run.objects.filter(project_id=project_id, parent__isnull=False)
    return children.not_in_trash().filter(parent__trashed_at=None).exists()


def child_counts(project_id: int, run_ids: Sequence[UUID]) -> dict[UUID, int]:
    """Return the number of children outside the trash, for the runs that have any."""
    children = Run.objects.filter(project_id=project_id, parent__in=each_of(run_ids))
    counted = children.not_in_trash().values("parent").annotate(count=Count("id"))
    return {
        parent: count
        for parent, count in counted.values_list("parent", "count")
        if parent
    }


def parent_names(run_ids: Sequence[UUID]) -> dict[UUID, str]:
    """Return the names of the parents outside the trash, by the ids of their children."""
    children = Run.objects.filter(id__in=each_of(run_ids), parent__isnull=False)
    shown = children.filter(parent__trashed_at=None)
    return dict(shown.values_list("id", "parent__name"))


def fork_sources(run_ids: Sequence[UUID]) -> dict[UUID, ForkSource]:
    """Return the sources of forks in the same project and outside the trash."""
    forks = Fork.objects.filter(run__in=each_of(run_ids), source__trashed_at=None)
    shown = forks.filter(source__project=F("run__project"))
    rows = shown.values_list("run", "source", "source__name", "step")
    return {run: ForkSource(source, name, step) for run, source, name, step in rows}
