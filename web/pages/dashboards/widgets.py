"""The widgets of a dashboard: their contents and their dialogs."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)
from django_htmx.http import reswap, retarget, trigger_client_event

from tracker.access.objects import editable_dashboard, readable_dashboard
from tracker.actions.dashboards import (
    add_widget,
    change_widget,
    place_widget,
    put_back_widget,
    remove_widget,
    set_run_set,
)
from tracker.boards.board import Place, Widget, board_from, new_id
from tracker.errors import Changed, InvalidInput, NotFound, TooLarge, TrackerError
from tracker.server.statuses import status_of
from web.pages.dashboards.dashboards import audience_of, board_context
from web.pages.dashboards.widget_drawing import body_response, figure_answer
from web.pages.dashboards.widget_form import read_place, read_widget, widget_form
from web.pages.dashboards.widget_kind import Kind
from web.pages.dashboards.widget_media import medium_answer
from web.pages.reports.own_pictures import picture_answer
from web.pages.runs.run_set_form import form_of, read_run_set
from web.session import PageRequest, signed_in
from web.widgets import KINDS

IN_DIALOG, ON_BOARD = "#dialog-refusal", "#board-refusal"
Refused = (Changed, InvalidInput, NotFound, TooLarge)
VERSION_DIGITS = 9


@require_safe
@signed_in
def body(request: PageRequest, dashboard_id: UUID, widget_id: str) -> HttpResponse:
    """Send the content of a widget."""
    found = readable_dashboard(request.actor, dashboard_id)
    board = board_from(found.content)
    widget = board.widget(widget_id)
    if widget is None:
        return render(request, "widgets/gone.html", status=404)
    run_set = widget.run_set or board.run_set
    audience = audience_of(request, found)
    return body_response(request, widget, run_set, audience)


@require_safe
@signed_in
def figure(request: PageRequest, dashboard_id: UUID, widget_id: str) -> HttpResponse:
    """Send the figure in a widget."""
    found = readable_dashboard(request.actor, dashboard_id)
    board = board_from(found.content)
    widget = _widget(board.widget(widget_id))
    run_set = widget.run_set or board.run_set
    audience = audience_of(request, found)
    return figure_answer(request, widget, run_set, audience)


@require_safe
@signed_in
def picture(
    request: PageRequest, dashboard_id: UUID, widget_id: str, key: str
) -> HttpResponse:
    """Send a picture of a run that a text on the dashboard holds."""
    found = readable_dashboard(request.actor, dashboard_id)
    widget = _widget(board_from(found.content).widget(widget_id))
    return picture_answer(
        request.actor, found.project, str(widget.settings.get("text", "")), key
    )


@require_safe
@signed_in
def medium(
    request: PageRequest, dashboard_id: UUID, widget_id: str, run_id: UUID, form: str
) -> HttpResponseBase:
    """Send a file of a run in a media widget."""
    found = readable_dashboard(request.actor, dashboard_id)
    board = board_from(found.content)
    widget = _widget(board.widget(widget_id))
    run_set = widget.run_set or board.run_set
    audience = audience_of(request, found)
    return medium_answer(request, widget, run_set, audience, run_id=run_id, form=form)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def runs(request: PageRequest, dashboard_id: UUID) -> HttpResponse:
    """Set the runs of a dashboard."""
    found = editable_dashboard(request.actor, dashboard_id)
    if request.method != "POST":
        run_set = board_from(found.content).run_set
        context = {
            "dashboard": found,
            "project": found.project,
            "runs": form_of(request.actor, found.project, run_set),
        }
        return render(request, "dashboards/_runs_dialog.html", context)
    try:
        chosen = read_run_set(request.actor, request.POST, found.project)
        if chosen is None:
            raise InvalidInput("runs", "must not be empty")
        set_run_set(found, chosen, **_by(request))
    except Refused as refusal:
        return _refused(request, found, refusal, IN_DIALOG)
    return _done(request, found)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new(request: PageRequest, dashboard_id: UUID) -> HttpResponse:
    """Offer the kinds of widgets, then the form of the kind that was chosen."""
    found = editable_dashboard(request.actor, dashboard_id)
    kind = KINDS.get(request.GET.get("kind", ""))
    if kind is None:
        context = {"dashboard": found, "kinds": KINDS.values()}
        return render(request, "dashboards/_kinds_dialog.html", context)
    place = Place(width=kind.width, height=kind.height)
    widget = Widget(id=new_id(), kind=kind.name, place=place)
    if request.method != "POST":
        return _dialog(request, found, kind, widget, is_new=True)
    try:
        described = read_widget(
            request.actor, request.POST, found.project, kind, widget
        )
        add_widget(found, described, **_by(request))
    except Refused as refusal:
        return _refused(request, found, refusal, IN_DIALOG)
    return _done(request, found)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def edit(request: PageRequest, dashboard_id: UUID, widget_id: str) -> HttpResponse:
    found = editable_dashboard(request.actor, dashboard_id)
    widget = _widget(board_from(found.content).widget(widget_id))
    kind = KINDS.get(widget.kind)
    if kind is None:
        raise NotFound("kind of widget")
    if request.method != "POST":
        return _dialog(request, found, kind, widget, is_new=False)
    try:
        described = read_widget(
            request.actor, request.POST, found.project, kind, widget
        )
        change_widget(found, described, **_by(request))
    except Refused as refusal:
        return _refused(request, found, refusal, IN_DIALOG)
    return _done(request, found)


@require_POST
@signed_in
def remove(request: PageRequest, dashboard_id: UUID, widget_id: str) -> HttpResponse:
    found = editable_dashboard(request.actor, dashboard_id)
    widget = board_from(found.content).widget(widget_id)
    try:
        remove_widget(found, widget_id, **_by(request))
    except Refused as refusal:
        return _refused(request, found, refusal, ON_BOARD)
    return _done(request, found, removed=widget)


@require_POST
@signed_in
def put_back(request: PageRequest, dashboard_id: UUID, widget_id: str) -> HttpResponse:
    found = editable_dashboard(request.actor, dashboard_id)
    try:
        put_back_widget(found, widget_id, **_by(request))
    except Refused as refusal:
        return _refused(request, found, refusal, ON_BOARD)
    return _done(request, found)


@require_POST
@signed_in
def place(request: PageRequest, dashboard_id: UUID, widget_id: str) -> HttpResponse:
    """Move or resize a widget."""
    found = editable_dashboard(request.actor, dashboard_id)
    try:
        position = read_place(request.POST)
        place_widget(found, widget_id, position, **_by(request))
    except Refused as refusal:
        return _refused(request, found, refusal, ON_BOARD)
    return _done(request, found)


def _widget(found: Widget | None) -> Widget:
    if found is None:
        raise NotFound("widget")
    return found


def _by(request: PageRequest) -> dict[str, int]:
    """Return the user, and the version of the dashboard that they edited."""
    text = request.POST.get("version", "")
    if not (text.isascii() and text.isdigit() and len(text) <= VERSION_DIGITS):
        raise InvalidInput("version", "must be a whole number")
    return {"version": int(text), "user_id": request.actor.user_id}


# Any: rows of tables, which pages do not import.
def _dialog(
    request: PageRequest, dashboard: Any, kind: Kind, widget: Widget, *, is_new: bool
) -> HttpResponse:
    name, arguments = ("widget-new", [dashboard.id])
    if not is_new:
        name, arguments = "widget-edit", [dashboard.id, widget.id]
    query = f"?kind={kind.name}" if is_new else ""
    context = {
        "dashboard": dashboard,
        "project": dashboard.project,
        "form": widget_form(
            request.actor, dashboard.project, kind, widget, widget.run_set
        ),
        "is_new": is_new,
        "is_report": False,
        "action": reverse(name, args=arguments) + query,
    }
    return render(request, "dashboards/_widget_dialog.html", context)


def _done(
    request: PageRequest, dashboard: Any, *, removed: Widget | None = None
) -> HttpResponse:
    if not request.htmx:
        return HttpResponseRedirect(reverse("dashboard", args=[dashboard.id]))
    context = {**board_context(request, dashboard), "removed": removed}
    response = render(request, "dashboards/_board.html", context)
    return trigger_client_event(response, "dialog-done")


def _refused(
    request: PageRequest, dashboard: Any, refusal: TrackerError, where: str
) -> HttpResponse:
    """Return the error next to the input, which is kept."""
    if not request.htmx:
        raise refusal
    context = {
        "dashboard": dashboard,
        "message": str(refusal),
        "newer": refusal.version if isinstance(refusal, Changed) else 0,
        "is_dialog": where == IN_DIALOG,
    }
    response = render(
        request, "dashboards/_refusal.html", context, status=status_of(refusal)
    )
    return reswap(retarget(response, where), "innerHTML")
