"""The runs that a widget is about, as they are now."""

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
from tracker.queries.runs.filters import Found, RunFilter, read_query
from tracker.queries.runs.order import RunOrder
from tracker.queries.runs.pages import Stretch, places_of_page
from tracker.queries.runs.planner import planner
from tracker.queries.runs.requested import read_runs
from tracker.queries.runs.saved_views import shared_view


@dataclass(frozen=True, slots=True)
class ShownRuns:
    """The runs in their order, each with its project at hand.

    `problem` says why there are none to look for.
    """

    runs: tuple[Run, ...]
    missing_count: int = 0  # named, and in the trash or deleted
    is_live: bool = False  # another look, soon, may show something else
    may_be_joined: bool = False  # by runs that begin later: nothing runs yet, perhaps
    problem: str = ""
    view: str = ""  # what the view is called that says which runs
    is_view_gone: bool = False  # deleted, or no longer for everybody
    gone: tuple[str, ...] = ()  # projects that the workspace has not


def runs_in(project: Project, run_set: RunSet, reach: QuerySet[Project]) -> ShownRuns:
    """Find the runs of a set, in those projects of the workspace that are in reach."""
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


def check_run_set(run_set: RunSet) -> None:
    """Raise InvalidInput if the query or the order cannot be understood."""
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
    """Return those projects of the workspace, and what stands for none."""
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
    """Return the first of each project, one project after the other."""
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
    """Tell whether another look may show something else.

    What a query or a view finds in the projects may be joined by a run that is not in
    it yet.
    """
    if any(may_go_on(run) for run in runs):
        return True
    if not projects:
        return False
    running = Run.objects.filter(project__in=projects, state=State.RUNNING)
    return running.not_in_trash().exists()
