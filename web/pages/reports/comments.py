"""Comment threads of reports.

A response to htmx replaces all comments at one place, and the counters elsewhere. The
address names the version that the reader sees.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import trigger_client_event

from tracker.access.comments import (
    commentable_report,
    deletable_comment,
    deleted_comment,
    own_comment,
    readable_comment,
    settleable_thread,
)
from tracker.actions.report_comments import (
    add_comment,
    add_reply,
    change_comment,
    delete_comment,
    reopen_thread,
    resolve_thread,
    restore_comment,
)
from tracker.errors import NotFound
from web.pages.reports.discussion import WHOLE, DiscussedReport, region_html
from web.pages.reports.reports import DRAFT, written_in
from web.session import PageRequest, signed_in
from web.toasts import tell


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def comments(request: PageRequest, report_id: UUID) -> HttpResponse:
    """Show the threads of a passage or of the whole report; on POST, start one."""
    discussed = _discussed(request, commentable_report(request.actor, report_id))
    key = request.GET.get("passage", "")
    passage = discussed.passage(key) if key else None
    region = key or WHOLE
    if request.method != "POST":
        shown = region_html(request, discussed, region, is_open=True, is_asked=True)
        return HttpResponse(shown)
    made = add_comment(
        discussed.report,
        request.POST.get("text", ""),
        user_id=request.actor.user_id,
        version=discussed.version,
        about=passage,
    )
    return _changed(request, discussed, region, f"comment-{made.id}")


# Any: a row of a table, which pages do not import.
def _discussed(request: PageRequest, report: Any) -> DiscussedReport:
    if DRAFT in request.GET:
        raise NotFound("version")
    written = written_in(request, report)
    return DiscussedReport(request.actor, report, written.text, written.number)


@require_POST
@signed_in
def answer(request: PageRequest, report_id: UUID, comment_id: int) -> HttpResponse:
    comment = readable_comment(request.actor, report_id, comment_id)
    discussed, region = _place(request, comment)
    made = add_reply(
        comment,
        request.POST.get("text", ""),
        user_id=request.actor.user_id,
        version=discussed.version,
    )
    return _changed(request, discussed, region, f"comment-{made.id}")


@require_POST
@signed_in
def edit(request: PageRequest, report_id: UUID, comment_id: int) -> HttpResponse:
    comment = own_comment(request.actor, report_id, comment_id)
    discussed, region = _place(request, comment)
    change_comment(comment, request.POST.get("text", ""))
    return _changed(request, discussed, region, f"comment-{comment_id}")


@require_POST
@signed_in
def delete(request: PageRequest, report_id: UUID, comment_id: int) -> HttpResponse:
    comment = deletable_comment(request.actor, report_id, comment_id)
    discussed, region = _place(request, comment)
    delete_comment(comment, user_id=request.actor.user_id)
    undo = reverse("comment-restore", args=[discussed.report.id, comment_id])
    undo = f"{undo}?version={discussed.version}"
    message = gettext("Comment deleted.")
    if not request.htmx:
        tell(request, message, undo=undo)
    response = _changed(request, discussed, region, "comments")
    details = {"text": message, "undo": undo, "region": region}
    return trigger_client_event(response, "comment-deleted", details)


@require_POST
@signed_in
def restore(request: PageRequest, report_id: UUID, comment_id: int) -> HttpResponse:
    """Bring a deleted comment back; only for a while can it be."""
    comment = deleted_comment(request.actor, report_id, comment_id)
    restore_comment(comment)
    discussed, region = _place(request, comment)
    return _changed(request, discussed, region, f"comment-{comment_id}")


@require_POST
@signed_in
def resolve(request: PageRequest, report_id: UUID, comment_id: int) -> HttpResponse:
    thread = settleable_thread(request.actor, report_id, comment_id)
    discussed, region = _place(request, thread)
    resolve_thread(thread, user_id=request.actor.user_id)
    return _changed(request, discussed, region, f"comment-{comment_id}")


@require_POST
@signed_in
def reopen(request: PageRequest, report_id: UUID, comment_id: int) -> HttpResponse:
    thread = settleable_thread(request.actor, report_id, comment_id)
    discussed, region = _place(request, thread)
    reopen_thread(thread)
    return _changed(request, discussed, region, f"comment-{comment_id}")


def _place(request: PageRequest, comment: Any) -> tuple[DiscussedReport, str]:
    """Return where a comment stands; deleting it may take it from there."""
    discussed = _discussed(request, comment.report)
    return discussed, discussed.region_of(comment.thread_id or comment.id)


def _changed(
    request: PageRequest, before: DiscussedReport, region: str, anchor: str
) -> HttpResponse:
    report = before.report
    if not request.htmx:
        query = "" if before.version == report.version else f"?version={before.version}"
        address = reverse("report", args=[report.id])
        return HttpResponseRedirect(f"{address}{query}#{anchor}")
    now = DiscussedReport(request.actor, report, before.text, before.version)
    context = {
        "report": report,
        "discussed": now,
        "region_html": region_html(request, now, region, is_open=True),
        "is_apart": True,
    }
    return render(request, "reports/_changed_comments.html", context)
