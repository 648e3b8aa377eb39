"""Panels: widgets that a user adds to the charts of runs.

They are part of the chart arrangement. A page asks for each with its settings in the
address, so that a link or a saved view shows the same panels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import reswap, retarget, trigger_client_event

from tracker.access.projects import comparable_project, may_edit, readable_project
from tracker.access.runs import comparable_runs
from tracker.actor import Actor
from tracker.boards.board import Place, RunSet, Widget, new_id
from tracker.boards.shared_panels import PANEL_PARTS
from tracker.errors import InvalidInput, NotFound
from tracker.server.statuses import status_of
from web.pages.charts.arrangement import panel_json, read_panel
from web.pages.compare.state import read_state
from web.pages.dashboards.widget_drawing import (
    BODY,
    Audience,
    FrameView,
    body_response,
    figure_answer,
    frame_of,
)
from web.pages.dashboards.widget_form import read_panel as read_form
from web.pages.dashboards.widget_form import widget_form
from web.pages.dashboards.widget_kind import Kind
from web.session import PageRequest, signed_in
from web.widgets import KINDS

# Share links show no other kinds: those may name values, or find runs of their own.
SHARED_KINDS = frozenset(PANEL_PARTS)
REFUSAL = "#panel-refusal"


@dataclass(frozen=True, slots=True)
class PanelView:
    """A panel before its content is loaded; `json` is its part of the arrangement."""

    frame: FrameView
    json: str

    @property
    def key(self) -> str:
        return f"{self.frame.widget.id}-{self.frame.drawing}"


# Any: a row of the projects table, which pages do not import; what templates get.
def panels_context(
    request: PageRequest, project: Any, panels: Sequence[Widget], query: str
) -> dict[str, Any]:
    """Return the panels of a page about the runs of the query."""
    if request.actor.grant is not None:
        panels = [panel for panel in panels if panel.kind in SHARED_KINDS]
        if not panels:
            return {"panels": None}
    asked = QueryDict(query)
    return {
        "panels": [_view(request, project, panel, asked) for panel in panels],
        "panel_runs": asked.get("runs", ""),
        "panel_colours": asked.get("colours", ""),
    }


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def panel_form(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Offer the kinds of panels, or the settings of one; posted to, return the panel."""
    found = readable_project(request.actor, workspace, project)
    given = request.GET.get("panel", "")
    panel = read_panel(given) if given else None
    kind = KINDS.get(panel.kind if panel else request.GET.get("kind", ""))
    if kind is None:
        context = {"project": found, "kinds": KINDS.values()}
        return render(request, "components/panel_kinds.html", context)
    place = Place(width=kind.width, height=kind.height)
    widget = panel or Widget(id=new_id(), kind=kind.name, place=place)
    if request.method != "POST":
        return _form(request, found, kind, widget, is_new=panel is None)
    try:
        made = read_form(request.actor, request.POST, found, kind, widget)
        view = _view(request, found, made, request.POST)
    except InvalidInput as refusal:
        context = {"message": str(refusal), "is_dialog": True}
        response = render(
            request, "dashboards/_refusal.html", context, status=status_of(refusal)
        )
        return reswap(retarget(response, REFUSAL), "innerHTML")
    context = {
        "panel": view,
        "project": found,
        "may_edit": may_edit(request.actor, found),
    }
    response = render(request, "components/panel.html", context)
    return trigger_client_event(response, "dialog-done")


@require_safe
@signed_in
def panel_body(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Send the content of a panel."""
    found = comparable_project(request.actor, workspace, project)
    panel = _shown_panel(request)
    audience = _audience(request, found, panel, request.GET)
    run_set = _run_set(request.actor, found, request.GET)
    return body_response(request, panel, run_set, audience)


@require_safe
@signed_in
def panel_figure(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Send the figure of a panel."""
    found = comparable_project(request.actor, workspace, project)
    panel = _shown_panel(request)
    audience = _audience(request, found, panel, request.GET)
    run_set = _run_set(request.actor, found, request.GET)
    return figure_answer(request, panel, run_set, audience)


def _shown_panel(request: PageRequest) -> Widget:
    """Return the panel of the address; a visitor by share link writes any address."""
    panel = read_panel(request.GET.get("panel", ""))
    if request.actor.grant is not None and panel.kind not in SHARED_KINDS:
        raise NotFound("panel")
    return panel


def _form(
    request: PageRequest, project: Any, kind: Kind, widget: Widget, *, is_new: bool
) -> HttpResponse:
    asked = {"kind": kind.name} if is_new else {"panel": panel_json(widget)}
    address = _address(project, "panel-form")
    context = {
        "project": project,
        "form": widget_form(request.actor, project, kind, widget, None),
        "is_new": is_new,
        "is_report": False,
        "action": f"{address}?{urlencode(asked)}",
        "target": "#panel-list" if is_new else f"#widget-{widget.id}",
    }
    return render(request, "components/panel_form.html", context)


def _view(
    request: PageRequest, project: Any, panel: Widget, asked: QueryDict
) -> PanelView:
    audience = _audience(request, project, panel, asked)
    run_set = _run_set(request.actor, project, asked)
    return PanelView(frame_of(panel, run_set, audience), panel_json(panel))


def _run_set(actor: Actor, project: Any, asked: QueryDict) -> RunSet:
    runs = read_state(asked).runs
    if actor.grant is not None:
        # Widgets show all runs that the creator of the link can read.
        runs = tuple(run.id for run in comparable_runs(actor, project, list(runs)))
    return RunSet(runs=runs)


def _audience(
    request: PageRequest, project: Any, panel: Widget, asked: QueryDict
) -> Audience:
    state = read_state(asked)
    names = ("runs", "colours")
    query = [(name, str(asked[name])) for name in names if asked.get(name)]
    address = partial(_part_address, project, [*query, ("panel", panel_json(panel))])
    slots: dict[UUID, int] = state.slot_of
    return Audience(request.actor, project, address, lambda *_: "", slots=slots)


def _part_address(
    project: Any, query: list[tuple[str, str]], _widget_id: str, part: str
) -> str:
    name = "panel-body" if part == BODY else "panel-figure"
    return f"{_address(project, name)}?{urlencode(query, safe=',')}"


def _address(project: Any, name: str) -> str:
    return reverse(name, args=[project.workspace.slug, project.slug])
