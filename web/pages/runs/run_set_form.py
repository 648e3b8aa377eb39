"""The part of a form that selects runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import QueryDict

from tracker.access.projects import projects_in_reach
from tracker.access.runs import runs_beside
from tracker.actor import Actor
from tracker.boards.board import MAX_PROJECTS, MAX_RUNS, RunSet, checked
from tracker.errors import InvalidInput
from tracker.queries.compare.comparison import run_named
from tracker.queries.runs.run_sets import check_run_set
from tracker.queries.runs.saved_views import shared_view, shared_views
from web.pages.compare.state import as_id
from web.texts import gettext_lazy

# Between a project's slug, which holds none, and the name of its run.
OF_PROJECT = " / "
INHERITED, FOUND, LISTED, OF_VIEW = "inherited", "query", "list", "view"
ORDERS = (
    ("-started", gettext_lazy("Newest first")),
    ("started", gettext_lazy("Oldest first")),
    ("name", gettext_lazy("By name")),
    ("-duration", gettext_lazy("Longest first")),
    ("duration", gettext_lazy("Shortest first")),
    ("path:", gettext_lazy("Lowest last value of")),
    ("-path:", gettext_lazy("Highest last value of")),
    ("min:", gettext_lazy("Lowest minimum of")),
    ("-max:", gettext_lazy("Highest maximum of")),
)


@dataclass(frozen=True, slots=True)
class RunSetForm:
    """The form values of a run set."""

    source: str
    query: str
    order: str
    order_path: str
    first: int
    runs: tuple[tuple[str, str, bool], ...]  # id, name, whether it is in the trash
    views: tuple[tuple[str, str], ...]  # id and name of those that everybody sees
    view: str
    # Projects of the workspace: slug, name, is selected; the name of a deleted one is
    # "".
    projects: tuple[tuple[str, str, bool], ...] = ()

    orders = ORDERS

    @property
    def is_view_gone(self) -> bool:
        return bool(self.view) and self.view not in dict(self.views)


def form_of(actor: Actor, project: Any, run_set: RunSet | None) -> RunSetForm:
    shown = run_set or RunSet()
    order, colon, path = shown.order.partition(":")
    source = FOUND if shown.runs is None else LISTED
    source = OF_VIEW if shown.view is not None else source
    runs = runs_beside(actor, project, list(shown.runs or ()), with_trash=True)
    return RunSetForm(
        source=INHERITED if run_set is None else source,
        query=shown.query,
        order=order + colon,
        order_path=path,
        first=shown.first,
        runs=tuple(
            (str(run.id), name_beside(project, run), run.trashed_at is not None)
            for run in runs
        ),
        views=_views(project),
        view="" if shown.view is None else str(shown.view),
        projects=_projects(actor, project, shown),
    )


def read_run_set(actor: Actor, posted: QueryDict, project: Any) -> RunSet | None:
    """Return the runs that are meant; None: those of the whole dashboard."""
    source = posted.get("runs_of", FOUND)
    if source == INHERITED:
        return None
    if source == LISTED:
        texts = [text.strip() for text in posted.getlist("run") if text.strip()]
        if not 1 <= len(texts) <= MAX_RUNS:
            raise InvalidInput("runs", f"must be 1 to {MAX_RUNS} runs")
        ids = [run_id_of(actor, project, text) for text in texts]
        return RunSet(runs=tuple(dict.fromkeys(ids)))
    if source == OF_VIEW:
        return _of_view(posted, project)
    order = posted.get("order", "") or RunSet().order
    if order.endswith(":"):
        order += posted.get("order_path", "").strip()
        if order.endswith(":"):
            raise InvalidInput("Metric", "must not be empty for this order")
    run_set = _checked(
        {
            "query": posted.get("query", "").strip(),
            "projects": _read_projects(posted, project),
            "order": order,
            "first": posted.get("first", "").strip() or RunSet().first,
        }
    )
    check_run_set(run_set)
    return run_set


def _of_view(posted: QueryDict, project: Any) -> RunSet:
    view_id = as_id(posted.get("view", ""))
    if view_id is None or shared_view(project, view_id) is None:
        raise InvalidInput("The view", "must be a shared view of this project")
    first = posted.get("first_of_view", "").strip() or RunSet().first
    return _checked({"view": view_id, "first": first})


def _checked(plain: dict[str, Any]) -> RunSet:
    try:
        return checked(plain, RunSet, typed=True)
    except InvalidInput as error:
        if error.field == "first":
            wanted = f"must be a whole number from 1 to {MAX_RUNS}"
            raise InvalidInput("Limit", wanted) from error
        raise


def _projects(
    actor: Actor, project: Any, shown: RunSet
) -> tuple[tuple[str, str, bool], ...]:
    """Return the projects to choose from; none if there is no choice."""
    asked = shown.projects or (project.slug,)
    found = list(projects_in_reach(actor, project).order_by("name", "id"))
    known = {each.slug for each in found}
    gone = [(slug, "", True) for slug in asked if slug not in known]
    if len(found) + len(gone) == 1:
        return ()
    # Selected projects come first, visible without scrolling.
    found.sort(key=lambda each: each.slug not in asked)
    return (*gone, *((each.slug, each.name, each.slug in asked) for each in found))


def _read_projects(posted: QueryDict, project: Any) -> list[str]:
    """Return the selected projects; the form's own project alone is the default."""
    wanted = list(dict.fromkeys(posted.getlist("project")))
    if len(wanted) > MAX_PROJECTS:
        raise InvalidInput("projects", f"must be at most {MAX_PROJECTS}")
    return [] if wanted == [project.slug] else wanted


def _views(project: Any) -> tuple[tuple[str, str], ...]:
    """Return the views to choose from; equal names are followed by their owners."""
    views = shared_views(project)
    names = Counter(view.name for view in views)
    return tuple(
        (
            str(view.id),
            f"{view.name} ({view.owner.username})"
            if names[view.name] > 1 and view.owner
            else view.name,
        )
        for view in views
    )


def name_beside(project: Any, run: Any) -> str:
    """Return the form's label of a run, which `run_id_of` parses."""
    is_own = run.project_id == project.id
    return run.name if is_own else f"{run.project.slug}{OF_PROJECT}{run.name}"


def run_id_of(actor: Actor, project: Any, text: str) -> UUID:
    """Return the run of a label or an ID; a run's name may look like an ID.

    By ID it may be in the trash, so that a restored run is still selected.
    """
    run_id = as_id(text)
    if run_id is not None and runs_beside(actor, project, [run_id], with_trash=True):
        return run_id
    named = run_named(project.id, text) or _named_beside(actor, project, text)
    if named is None:
        raise InvalidInput(
            f"“{text[:80]}”",
            "is not a run of this project, or “project / run” of another project",
        )
    return named


def _named_beside(actor: Actor, project: Any, text: str) -> UUID | None:
    slug, slash, name = text.partition(OF_PROJECT)
    if not slash or "\0" in slug:
        return None
    projects = {each.slug: each.id for each in projects_in_reach(actor, project)}
    return run_named(projects[slug], name) if slug in projects else None
