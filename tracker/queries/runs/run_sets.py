"""The runs of a dashboard widget."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils import timezone

from tracker.boards.board import MAX_RUNS, RunSet
from tracker.errors import InvalidInput
from tracker.models import Project, Run, SavedView, State
from tracker.queries.run.run import may_go_on, may_resume
from tracker.queries.runs.columns import each_of
from tracker.queries.runs.filter.filters import Found, RunFilter, read_query
from tracker.queries.runs.order import RunOrder
from tracker.queries.runs.pages import Stretch, places_of_page
from tracker.queries.runs.planner import planner
from tracker.queries.runs.requested import read_runs
from tracker.queries.runs.saved_views import shared_view


@dataclass(frozen=True, slots=True)
class ShownRuns:
    """The runs in order, each with its project loaded.

    `problem` is the reason if the query is invalid.
    """

    runs: tuple[Run, ...]
    missing_count: int = 0  # given runs that are in the trash or deleted
    is_live: bool = False  # the result may change soon
    may_be_joined: bool = False  # later runs may be added
    problem: str = ""
    view: str = ""  # the name of the view that selects the runs
    is_view_gone: bool = False  # deleted, or no longer shared
    gone: tuple[str, ...] = ()  # projects that the workspace does not have


def runs_in(project: Project, run_set: RunSet, reach: QuerySet[Project]) -> ShownRuns:
    """Find the runs of a set, in the accessible projects of the workspace."""
    view, projects = None, [project]
    gone: tuple[str, ...] = ()
    if run_set.view is not None:
        view = shared_view(project, run_set.view)
        if view is None:
            return ShownRuns((), is_view_gone=True)
    if run_set.runs is not None:
        runs = _in_order(reach, run_set.runs)
        projects = []
        missing_count = len(run_set.runs) - len(runs)
    else:
        try:
            wanted, order = _asked(run_set, view)
        except InvalidInput as error:
            return ShownRuns((), problem=str(error))
        if run_set.projects and view is None:
            projects, gone = _projects(reach, run_set.projects)
        runs, missing_count = _found(projects, reach, wanted, order, run_set.first), 0
    return ShownRuns(
        tuple(runs),
        missing_count,
        is_live=_is_live(projects, runs),
        may_be_joined=bool(projects) or any(may_resume(run) for run in runs),
        view="" if view is None else view.name,
        gone=gone,
    )


def every_match(
    project: Project, run_set: RunSet, reach: QuerySet[Project]
) -> list[Found]:
    """Return all runs that match a query or a view, by project, without a limit."""
    view = None if run_set.view is None else shared_view(project, run_set.view)
    if run_set.view is not None and view is None:
        return []
    wanted, _ = _asked(run_set, view)
    projects = [project]
    if run_set.projects and view is None:
        projects, _ = _projects(reach, run_set.projects)
    reached = reach.filter(id__in=[each.id for each in projects])
    return [
        Found(project_id, wanted) for project_id in reached.values_list("id", flat=True)
    ]


def check_run_set(run_set: RunSet) -> None:
    """Raise InvalidInput if the query or the order is invalid."""
    read_query(run_set.query)
    order_of(run_set)


def order_of(run_set: RunSet) -> RunOrder:
    text = run_set.order
    return RunOrder(text.removeprefix("-"), is_descending=text.startswith("-"))


def _asked(run_set: RunSet, view: SavedView | None) -> tuple[RunFilter, RunOrder]:
    if view is not None:
        return read_runs(QueryDict(view.state))
    return RunFilter(query=read_query(run_set.query)), order_of(run_set)


def _projects(
    reach: QuerySet[Project], slugs: tuple[str, ...]
) -> tuple[list[Project], tuple[str, ...]]:
    """Return the existing projects of the workspace, and the unknown names."""
    by_slug = {each.slug: each for each in reach.filter(slug__in=slugs)}
    wanted = tuple(dict.fromkeys(slugs))
    known = [by_slug[slug] for slug in wanted if slug in by_slug]
    return known, tuple(slug for slug in wanted if slug not in by_slug)


def _found(
    projects: Sequence[Project],
    reach: QuerySet[Project],
    wanted: RunFilter,
    order: RunOrder,
    first: int,
) -> list[Run]:
    """Return the first runs of each project, one project after the other."""
    page = Stretch(order, timezone.now(), None, 0, first)
    ids: list[UUID] = []
    for project in projects:
        with planner() as plan:
            places = places_of_page(Found(project.id, wanted), page, plan)
        ids += [place.run_id for place in places]
    return _in_order(reach, ids[:MAX_RUNS])


def _in_order(reach: QuerySet[Project], run_ids: Collection[UUID]) -> list[Run]:
    runs = Run.objects.filter(id__in=each_of(run_ids)).not_in_trash()
    runs = runs.filter(project__in=reach)
    by_id = {run.id: run for run in runs.select_related("project")}
    return [by_id[run_id] for run_id in dict.fromkeys(run_ids) if run_id in by_id]


def _is_live(projects: Sequence[Project], runs: Collection[Run]) -> bool:
    """Return whether the result may change soon.

    A query or a view can match runs that start later.
    """
    if any(may_go_on(run) for run in runs):
        return True
    if not projects:
        return False
    running = Run.objects.filter(project__in=projects, state=State.RUNNING)
    return running.not_in_trash().exists()
