"""Writing a report: the editor, the draft it keeps, and the dialog for its widgets."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import reswap, retarget, trigger_client_event

from tracker.access.objects import editable_report
from tracker.actions.reports import (
    TEXT_LENGTH,
    discard_draft,
    save_draft,
    save_version,
)
from tracker.boards.board import Place, RunSet, Widget, new_id
from tracker.errors import Changed, InvalidInput, NotFound
from tracker.queries.reports.reports import draft_of
from tracker.server.statuses import status_of
from web.pages.dashboards.widget_form import read_widget, widget_form
from web.pages.dashboards.widget_kind import Kind
from web.pages.reports.blocks import read_block, written
from web.pages.reports.reports import audience_of, draft_written, newest
from web.pages.reports.text import report_html, source_of
from web.session import PageRequest, signed_in
from web.widgets import KINDS

NUMBER_DIGITS = 9
# Widgets with a button of their own; the others are in a menu.
USUAL_KINDS = ("chart", "media", "table")


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def edit(request: PageRequest, report_id: UUID) -> HttpResponse:
    """Show the editor; posted to, save a version for everybody."""
    report = editable_report(request.actor, report_id)
    user_id = request.actor.user_id
    if request.method != "POST":
        return _editor(request, report, _to_begin_with(report, user_id))
    typed = _typed(request)
    try:
        save_version(report, **typed, user_id=user_id)
    except (Changed, InvalidInput) as refusal:
        report.refresh_from_db()
        newer = refusal.version if isinstance(refusal, Changed) else 0
        return _editor(
            request,
            report,
            typed,
            status=status_of(refusal),
            error=str(refusal),
            newer=newer,
        )
    return HttpResponseRedirect(reverse("report", args=[report.id]))


@require_POST
@signed_in
def draft(request: PageRequest, report_id: UUID) -> HttpResponse:
    """Save the draft, and return its preview."""
    report = editable_report(request.actor, report_id)
    try:
        saved = save_draft(report, **_typed(request), user_id=request.actor.user_id)
    except InvalidInput as refusal:
        context = {"error": str(refusal)}
        return render(
            request, "reports/_preview.html", context, status=status_of(refusal)
        )
    return _preview(request, report, saved)


@require_POST
@signed_in
def discard(request: PageRequest, report_id: UUID) -> HttpResponse:
    report = editable_report(request.actor, report_id)
    discard_draft(report, user_id=request.actor.user_id)
    return HttpResponseRedirect(reverse("report", args=[report.id]))


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def widget(request: PageRequest, report_id: UUID) -> HttpResponse:
    """Show the form of a widget; on POST, answer the text to insert.

    `kind` creates a widget, `block` is the key of a widget in the draft.
    """
    report = editable_report(request.actor, report_id)
    key = request.GET.get("block", "")
    source, described, run_set, kind = _requested(request, report, key)
    if request.method != "POST":
        context = {
            "project": report.project,
            "report": report,
            "form": widget_form(
                request.actor, report.project, kind, described, run_set
            ),
            "is_new": not key,
            "height": described.place.height,
            "action": request.get_full_path(),
        }
        return render(request, "reports/_widget_dialog.html", context)
    try:
        made = read_widget(request.actor, request.POST, report.project, kind, described)
    except (InvalidInput, NotFound) as refusal:
        context = {"message": str(refusal)}
        response = render(
            request, "reports/_refusal.html", context, status=status_of(refusal)
        )
        return reswap(retarget(response, "#dialog-refusal"), "innerHTML")
    block = written(made, made.run_set or RunSet(), kind)
    context = {"old": source, "new": block}
    response = render(request, "reports/_block.html", context)
    return trigger_client_event(response, "dialog-done")


def _requested(
    request: PageRequest, report: Any, key: str
) -> tuple[str, Widget, RunSet, Kind]:
    """Return the widget to edit, or a new one of the requested kind."""
    if key:
        draft = draft_of(report, request.actor.user_id)
        text = draft.text if draft else report.text
        source = source_of(text, key)
        if source is None:
            raise NotFound("widget in your draft")
        block = read_block(source, KINDS)
        return source, block.widget, block.run_set, KINDS[block.widget.kind]
    kind = KINDS.get(request.GET.get("kind", "chart"))
    if kind is None or not kind.is_for_reports:
        raise NotFound("kind of widget")
    place = Place(width=12, height=kind.height)
    return "", Widget(id=new_id(), kind=kind.name, place=place), RunSet(), kind


def _typed(request: PageRequest) -> dict[str, Any]:
    # After a warning about a newer version, the user may overwrite it.
    number = request.POST.get("over") or request.POST.get("based_on", "")
    if not (number.isascii() and number.isdigit() and len(number) <= NUMBER_DIGITS):
        raise InvalidInput("based_on", "must be the number of a version")
    return {
        "name": request.POST.get("name", ""),
        "text": request.POST.get("text", ""),
        "based_on": int(number),
    }


def _to_begin_with(report: Any, user_id: int) -> dict[str, Any]:
    draft = draft_of(report, user_id)
    if draft is not None:
        return {"name": draft.name, "text": draft.text, "based_on": draft.based_on}
    return {"name": report.name, "text": report.text, "based_on": report.version}


# Any: rows of tables, which pages do not import.
def _editor(
    request: PageRequest,
    report: Any,
    typed: dict[str, Any],
    *,
    status: int = 200,
    error: str = "",
    newer: int = 0,
) -> HttpResponse:
    context = {
        "project": report.project,
        "tab": "reports",
        "report": report,
        **typed,
        "kinds": [kind for kind in KINDS.values() if kind.is_for_reports],
        "usual": USUAL_KINDS,
        "most": TEXT_LENGTH,
        "error": error,
        "newer": newer,
    }
    return render(request, "reports/edit.html", context, status=status)


def _preview(request: PageRequest, report: Any, draft: Any) -> HttpResponse:
    shown = newest(report) if draft is None else draft_written(draft)
    audience = audience_of(request, report, shown)
    edit_url = reverse("report-widget", args=[report.id])
    context = {
        "written": shown,
        "has_draft": draft is not None,
        "html": report_html(shown.text, audience, edit_url=edit_url),
        "is_behind": shown.number != report.version,
        "report": report,
    }
    return render(request, "reports/_preview.html", context)
