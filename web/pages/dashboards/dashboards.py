"""A project's dashboards, one dashboard with its widgets, and its actions."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)
from msgspec.structs import replace

from tracker.access.objects import editable_dashboard, frozen_for, readable_dashboard
from tracker.access.projects import editable_project, may_edit, readable_project
from tracker.access.runs import runs_beside
from tracker.actions.dashboards import (
    create_dashboard,
    duplicate_dashboard,
    rename_dashboard,
)
from tracker.actor import Actor
from tracker.boards.board import MAX_RUNS, Board, RunSet, board_from
from tracker.errors import InvalidInput
from tracker.queries.reports.dashboards import DashboardSummary, dashboard_summaries
from tracker.queries.runs.saved_views import shared_view
from web.pages.compare.state import as_id
from web.pages.dashboards.example import example_board
from web.pages.dashboards.widget_drawing import BODY, Audience, frame_of
from web.pages.projects.deletions import delete_with_way_back
from web.session import PageRequest, signed_in
from web.widgets import KINDS

TO = "change dashboards"


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def dashboards(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Show the project's dashboards; posted to, make one."""
    if request.method == "POST":
        found = editable_project(request.actor, workspace, project, to=TO)
        try:
            return _create(request, found)
        except InvalidInput as refusal:
            return _list_page(request, found, error=str(refusal))
    return _list_page(request, readable_project(request.actor, workspace, project))


@require_safe
@signed_in
def dashboard(request: PageRequest, dashboard_id: UUID) -> HttpResponse:
    return _page(request, readable_dashboard(request.actor, dashboard_id))


# Any: rows of tables, which pages do not import.
def board_context(request: PageRequest, dashboard: Any) -> dict[str, Any]:
    """Return the template context of a dashboard's grid for this reader."""
    board = board_from(dashboard.content)
    audience = audience_of(request, dashboard)
    return {
        "dashboard": dashboard,
        "project": dashboard.project,
        "board": board,
        "runs_said": _run_set_label(request.actor, dashboard.project, board),
        "may_edit": may_edit(request.actor, dashboard.project),
        "frames": [
            frame_of(widget, widget.run_set or board.run_set, audience)
            for widget in board.widgets
        ],
    }


def audience_of(request: PageRequest, dashboard: Any) -> Audience:
    def address(widget_id: str, part: str) -> str:
        name = "widget-body" if part == BODY else "widget-figure"
        return reverse(name, args=[dashboard.id, widget_id])

    def picture(widget_id: str, key: str) -> str:
        return reverse("widget-picture", args=[dashboard.id, widget_id, key])

    def medium(widget_id: str, run_id: UUID, form: str) -> str:
        return reverse("widget-medium", args=[dashboard.id, widget_id, run_id, form])

    return Audience(request.actor, dashboard.project, address, picture, medium)


def _run_set_label(actor: Actor, project: Any, board: Board) -> str:
    """Hide the query or view from visitors by share link: it may name parameters."""
    frozen = frozen_for(actor)
    if frozen is not None:
        return run_set_text(RunSet(runs=tuple(frozen.run_ids)))
    if actor.grant is not None:
        order = "" if board.run_set.view else RunSet().order
        return run_set_text(
            replace(board.run_set, view=None, query="", projects=(), order=order)
        )
    if board.run_set.view is not None:
        view = shared_view(project, board.run_set.view)
        if view is None:
            return gettext("a deleted view")
        template = gettext("the first %(count)s runs of view “%(view)s”")
        return template % {"count": board.run_set.first, "view": view.name}
    return run_set_text(board.run_set)


def run_set_text(run_set: RunSet) -> str:
    """Describe a run set in a few words."""
    if run_set.runs is not None:
        count = len(run_set.runs)
        return ngettext("%(count)s run", "%(count)s runs", count) % {"count": count}
    is_newest = run_set.order == "-started"
    if run_set.query:
        text = (
            gettext("the newest %(count)s runs matching %(query)s")
            if is_newest
            else gettext("the first %(count)s runs matching %(query)s")
        )
    else:
        text = (
            gettext("the newest %(count)s runs")
            if is_newest
            else gettext("the first %(count)s runs")
        )
    text %= {"count": run_set.first, "query": run_set.query}
    if run_set.projects:
        each = gettext("%(runs)s from each of %(projects)s")
        return each % {"runs": text, "projects": ", ".join(run_set.projects)}
    return text


@require_POST
@signed_in
def rename(request: PageRequest, dashboard_id: UUID) -> HttpResponse:
    found = editable_dashboard(request.actor, dashboard_id)
    try:
        rename_dashboard(found, request.POST.get("name", ""))
    except InvalidInput as refusal:
        found.refresh_from_db()
        return _page(request, found, status=400, error=str(refusal))
    return HttpResponseRedirect(reverse("dashboard", args=[found.id]))


@require_POST
@signed_in
def duplicate(request: PageRequest, dashboard_id: UUID) -> HttpResponse:
    found = editable_dashboard(request.actor, dashboard_id)
    made = duplicate_dashboard(found, user_id=request.actor.user_id)
    return HttpResponseRedirect(reverse("dashboard", args=[made.id]))


@require_POST
@signed_in
def delete(request: PageRequest, dashboard_id: UUID) -> HttpResponse:
    found = editable_dashboard(request.actor, dashboard_id)
    project = found.project
    delete_with_way_back(request, "dashboard", found)
    return HttpResponseRedirect(
        reverse("dashboards", args=[project.workspace.slug, project.slug])
    )


def _page(
    request: PageRequest, dashboard: Any, *, status: int = 200, error: str = ""
) -> HttpResponse:
    context = {
        **board_context(request, dashboard),
        "tab": "dashboards",
        "error": error,
    }
    return render(request, "dashboards/dashboard.html", context, status=status)


def _create(request: PageRequest, project: Any) -> HttpResponse:
    is_example = "example" in request.POST
    board = example_board(project) if is_example else Board()
    ids = _requested_runs(request.POST.get("runs", ""))
    if ids:
        known = tuple(run.id for run in runs_beside(request.actor, project, ids))
        board = Board(run_set=RunSet(runs=known), widgets=board.widgets)
    name = request.POST.get("name", "")
    made = create_dashboard(project, name, board, user_id=request.actor.user_id)
    return HttpResponseRedirect(reverse("dashboard", args=[made.id]))


def _list_page(request: PageRequest, project: Any, *, error: str = "") -> HttpResponse:
    typed = request.POST if request.method == "POST" else request.GET
    runs = runs_beside(request.actor, project, _requested_runs(typed.get("runs", "")))
    context = {
        "project": project,
        "tab": "dashboards",
        "may_edit": may_edit(request.actor, project),
        "dashboards": [_card(each) for each in dashboard_summaries(project.id)],
        "error": error,
        "name": typed.get("name", ""),
        "is_new": bool(error) or bool(runs) or "new" in request.GET,
        "runs": runs,
    }
    status = 400 if error else 200
    return render(request, "dashboards/dashboards.html", context, status=status)


def _card(summary: DashboardSummary) -> dict[str, Any]:
    shown = []
    for kind, title in summary.titles:
        known = KINDS.get(kind)
        icon = known.icon if known else "circle-help"
        shown.append((icon, title or (known.label if known else kind)))
    return {
        "id": summary.id,
        "name": summary.name,
        "widget_count": summary.widget_count,
        "changed_at": summary.changed_at,
        "changed_by": summary.changed_by,
        "shown": shown,
        "more": summary.widget_count - len(shown),
    }


def _requested_runs(text: str) -> list[UUID]:
    ids = [as_id(part.strip()) for part in text.split(",")[:MAX_RUNS]]
    return [run_id for run_id in ids if run_id is not None]
