"""A project's reports, one of them as it reads, and its versions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import (
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
    QueryDict,
)
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from tracker.access.objects import editable_report, readable_report
from tracker.access.projects import (
    editable_project,
    may_comment,
    may_edit,
    readable_project,
)
from tracker.actions.reports import create_report, restore_version
from tracker.errors import Changed, InvalidInput, NotFound
from tracker.queries.reports.reports import (
    draft_of,
    report_summaries,
    report_versions,
    version_of_report,
)
from web.pages.dashboards.widget_drawing import (
    BODY,
    Audience,
    body_response,
    figure_answer,
)
from web.pages.dashboards.widget_media import medium_answer
from web.pages.projects.deletions import delete_with_way_back
from web.pages.reports.discussion import (
    EARLIER,
    WHOLE,
    DiscussedReport,
    discussed_html,
    region_html,
)
from web.pages.reports.own_pictures import picture_answer
from web.pages.reports.text import block_in, report_html
from web.session import PageRequest, signed_in

TO = "change reports"
VERSION_DIGITS = 9
DRAFT = "draft"


@dataclass(frozen=True, slots=True)
class Written:
    """The text to show: the newest version, an older one, or a user's draft."""

    name: str
    text: str
    number: int
    saved_at: datetime | None
    saved_by: str
    query: str = ""

    @property
    def is_old(self) -> bool:
        return self.query.startswith("version=")

    @property
    def is_draft(self) -> bool:
        return self.query.startswith(DRAFT)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def reports(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Show the project's reports; posted to, begin one."""
    error = ""
    if request.method == "POST":
        found = editable_project(request.actor, workspace, project, to=TO)
        try:
            made = create_report(
                found,
                request.POST.get("name", ""),
                user_id=request.actor.user_id,
            )
            return HttpResponseRedirect(reverse("report-edit", args=[made.id]))
        except InvalidInput as refusal:
            error = str(refusal)
    else:
        found = readable_project(request.actor, workspace, project)
    context = {
        "project": found,
        "tab": "reports",
        "may_edit": may_edit(request.actor, found),
        "reports": report_summaries(found.id, request.actor.user_id),
        "error": error,
        "name": request.POST.get("name", ""),
        "is_new": bool(error) or "new" in request.GET,
    }
    return render(
        request, "reports/reports.html", context, status=400 if error else 200
    )


@require_safe
@signed_in
def report(request: PageRequest, report_id: UUID) -> HttpResponse:
    found = readable_report(request.actor, report_id)
    written = written_in(request, found)
    edits = may_edit(request.actor, found.project)
    audience = audience_of(request, found, written)
    context = {
        "tab": "reports",
        "project": found.project,
        "report": found,
        "written": written,
        "may_edit": edits,
        "draft": draft_of(found, request.actor.user_id) if edits else None,
    }
    if may_comment(request.actor) and written.number and not written.is_draft:
        context |= _discussion(request, found, written, audience)
    else:
        context["html"] = report_html(written.text, audience)
    return render(request, "reports/report.html", context)


def _discussion(
    request: PageRequest, report: Any, written: Written, audience: Audience
) -> dict[str, Any]:
    """Return the discussion of a report, and its text with the threads next to it."""
    discussed = DiscussedReport(request.actor, report, written.text, written.number)
    is_for_paper = request.GET.get("comments") == "paper"
    opened = request.GET.get("comment", "")
    is_of_whole = opened == WHOLE
    return {
        "discussed": discussed,
        "is_for_paper": is_for_paper,
        "html": discussed_html(
            request, discussed, audience, opened=opened, are_all_open=is_for_paper
        ),
        "whole_html": region_html(
            request,
            discussed,
            WHOLE,
            is_asked=is_of_whole,
            are_all_open=is_for_paper,
        ),
        "earlier_html": region_html(
            request, discussed, EARLIER, are_all_open=is_for_paper
        ),
    }


def newest(report: Any) -> Written:
    """Return the newest published version."""
    return Written(
        name=report.name,
        text=report.text,
        number=report.version,
        saved_at=report.changed_at,
        saved_by=report.changed_by.username if report.changed_by else "",
    )


@require_safe
@signed_in
def body(request: PageRequest, report_id: UUID, key: str) -> HttpResponse:
    """Send the content of a widget of the text selected by the address."""
    found = readable_report(request.actor, report_id)
    written = written_in(request, found)
    block = block_in(written.text, key)
    if block is None:
        return render(request, "widgets/gone.html", status=404)
    audience = audience_of(request, found, written)
    return body_response(request, block.widget, block.run_set, audience)


@require_safe
@signed_in
def figure(request: PageRequest, report_id: UUID, key: str) -> HttpResponse:
    """Send the figure in a widget of the text that the address means."""
    found = readable_report(request.actor, report_id)
    written = written_in(request, found)
    block = block_in(written.text, key)
    if block is None:
        raise NotFound("widget")
    audience = audience_of(request, found, written)
    return figure_answer(request, block.widget, block.run_set, audience)


@require_safe
@signed_in
def medium(
    request: PageRequest, report_id: UUID, key: str, run_id: UUID, form: str
) -> HttpResponseBase:
    """Send a file of a run in a media widget of the text."""
    found = readable_report(request.actor, report_id)
    written = written_in(request, found)
    block = block_in(written.text, key)
    if block is None:
        raise NotFound("widget")
    audience = audience_of(request, found, written)
    return medium_answer(
        request, block.widget, block.run_set, audience, run_id=run_id, form=form
    )


@require_safe
@signed_in
def picture(request: PageRequest, report_id: UUID, key: str) -> HttpResponse:
    """Send a picture of a run that is in the text, to readers of the text."""
    found = readable_report(request.actor, report_id)
    return picture_answer(
        request.actor, found.project, written_in(request, found).text, key
    )


def written_in(request: PageRequest, report: Any) -> Written:
    """Return the version that the address names; drafts are visible to their author.

    A share link opens the newest version, or the frozen one.
    """
    if request.actor.grant is not None:
        return newest(report)
    if DRAFT in request.GET:
        draft = draft_of(report, request.actor.user_id)
        if draft is None:
            raise NotFound("draft of yours")
        return draft_written(draft)
    number = _number(request.GET)
    if number is None or number == report.version:
        return newest(report)
    version = version_of_report(report, number)
    return Written(
        name=version.name,
        text=version.text,
        number=version.number,
        saved_at=version.saved_at,
        saved_by=version.saved_by.username if version.saved_by else "",
        query=urlencode({"version": number}),
    )


def draft_written(draft: Any) -> Written:
    return Written(
        draft.name, draft.text, draft.based_on, draft.saved_at, "you", f"{DRAFT}=1"
    )


def audience_of(request: PageRequest, report: Any, written: Written) -> Audience:
    query = f"?{written.query}" if written.query else ""

    def address(key: str, part: str) -> str:
        name = "report-widget-body" if part == BODY else "report-widget-figure"
        return reverse(name, args=[report.id, key]) + query

    def picture(_widget_id: str, key: str) -> str:
        return reverse("report-picture", args=[report.id, key]) + query

    def medium(key: str, run_id: UUID, form: str) -> str:
        # Only visitors by share link, who see one version, use it.
        return reverse("report-widget-medium", args=[report.id, key, run_id, form])

    return Audience(request.actor, report.project, address, picture, medium)


@require_safe
@signed_in
def versions(request: PageRequest, report_id: UUID) -> HttpResponse:
    found = readable_report(request.actor, report_id)
    return _versions_page(request, found)


@require_POST
@signed_in
def restore(request: PageRequest, report_id: UUID, number: int) -> HttpResponse:
    found = editable_report(request.actor, report_id)
    try:
        restore_version(found, number, user_id=request.actor.user_id)
    except Changed as refusal:
        found.refresh_from_db()
        return _versions_page(request, found, error=str(refusal), status=409)
    return HttpResponseRedirect(reverse("report", args=[found.id]))


@require_POST
@signed_in
def delete(request: PageRequest, report_id: UUID) -> HttpResponse:
    found = editable_report(request.actor, report_id)
    project = found.project
    delete_with_way_back(request, "report", found)
    return HttpResponseRedirect(
        reverse("reports", args=[project.workspace.slug, project.slug])
    )


def _versions_page(
    request: PageRequest, report: Any, *, error: str = "", status: int = 200
) -> HttpResponse:
    context = {
        "project": report.project,
        "tab": "reports",
        "report": report,
        "versions": report_versions(report),
        "may_edit": may_edit(request.actor, report.project),
        "error": error,
    }
    return render(request, "reports/versions.html", context, status=status)


def _number(query: QueryDict) -> int | None:
    text = query.get("version", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= VERSION_DIGITS):
        raise InvalidInput("version", "must be a whole number")
    return int(text)
