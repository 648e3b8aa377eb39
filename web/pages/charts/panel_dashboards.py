"""Copies a panel, or a chart of a page, to a dashboard with the runs of the page."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods
from django_htmx.http import reswap, retarget
from msgspec.structs import replace

from tracker.access.objects import editable_dashboard
from tracker.access.projects import editable_project
from tracker.access.runs import runs_beside
from tracker.actions.dashboards import add_widget, create_dashboard
from tracker.boards.board import MAX_RUNS, Board, RunSet, Widget, new_id
from tracker.errors import Changed, InvalidInput, NotFound, TooLarge
from tracker.queries.reports.dashboards import dashboard_summaries
from tracker.server.statuses import status_of
from web.pages.charts.arrangement import panel_json, read_panel
from web.pages.charts.panels import REFUSAL
from web.pages.compare.state import as_id, read_state
from web.pages.dashboards.widget_kind import settings_of
from web.session import PageRequest, signed_in
from web.widgets import KINDS

TO = "change dashboards"
Refused = (Changed, InvalidInput, NotFound, TooLarge)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def panel_dashboard(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Offer the project's dashboards; posted to, add the panel to one."""
    found = editable_project(request.actor, workspace, project, to=TO)
    asked = request.POST if request.method == "POST" else request.GET
    panel = read_panel(asked.get("panel", ""))
    if panel.kind not in KINDS:
        raise NotFound("kind of panel")
    wanted = list(read_state(asked).runs)[:MAX_RUNS]
    runs = tuple(run.id for run in runs_beside(request.actor, found, wanted))
    context = {"project": found, "panel": panel}
    if request.method != "POST":
        context |= {
            "panel_json": panel_json(panel),
            "panel_runs": asked.get("runs", ""),
            "run_count": len(runs),
            "has_runs": KINDS[panel.kind].has_runs,
            "dashboards": dashboard_summaries(found.id),
        }
        return render(request, "components/panel_dashboards.html", context)
    try:
        context["dashboard"] = _added(request, found, panel, runs)
    except Refused as refusal:
        context = {"message": str(refusal), "is_dialog": True}
        response = render(
            request, "dashboards/_refusal.html", context, status=status_of(refusal)
        )
        return reswap(retarget(response, REFUSAL), "innerHTML")
    return render(request, "components/panel_added.html", context)


# Any: rows of the projects and dashboards tables, which pages do not import.
def _added(
    request: PageRequest, project: Any, panel: Widget, runs: tuple[UUID, ...]
) -> Any:
    """Add the panel to the chosen dashboard, or to a new one with this name."""
    kind, user_id = KINDS[panel.kind], request.actor.user_id
    settings = settings_of(kind, dict(panel.settings))
    widget = replace(panel, id=new_id(), settings=settings)
    run_set = RunSet(runs=runs) if runs else RunSet()
    chosen = as_id(request.POST.get("dashboard", ""))
    if chosen is None:
        name = request.POST.get("name", "").strip()
        board = Board(run_set=run_set, widgets=(widget,))
        return create_dashboard(project, name, board, user_id=user_id)
    dashboard = editable_dashboard(request.actor, chosen)
    if kind.has_runs and "own_runs" in request.POST and runs:
        widget = replace(widget, run_set=run_set)
    add_widget(dashboard, widget, version=dashboard.version, user_id=user_id)
    return dashboard
