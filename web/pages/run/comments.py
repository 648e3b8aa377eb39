"""The comments tab of a run, and changes of comments.

Responses to htmx contain the whole list; other browsers are redirected to the tab.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import (
    HttpResponse,
    HttpResponseRedirect,
    JsonResponse,
)
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)
from django_htmx.http import trigger_client_event

from tracker.access.comments import (
    commentable_run,
    deletable_run_comment,
    deleted_run_comment,
    own_run_comment,
    readable_run_comment,
    settleable_run_thread,
)
from tracker.access.projects import may_edit, may_own, readable_project
from tracker.actions.runs import run_comments
from tracker.queries.people.readers import names_of_readers
from tracker.queries.run.comments import finding_of, texts_at_charts, threads_of
from web.pages.run.frame import run_frame
from web.polling import poll_answer
from web.session import PageRequest, signed_in
from web.toasts import tell


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def comments(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Show all comments of a run; posted to, begin a thread."""
    run = commentable_run(request.actor, run_id)
    parameters = request.POST if request.method == "POST" else request.GET
    finding = finding_of(run, parameters.get("finding", ""))
    if request.method == "POST":
        text = request.POST.get("text", "")
        made = run_comments.add_comment(
            run, text, user_id=request.actor.user_id, about=finding
        )
        return _changed(request, run, f"comment-{made.id}")
    if request.htmx:
        return poll_answer(request, _list(request, run))
    context = {**run_frame(request, run, "comments"), **_context(request, run)}
    return render(request, "run/comments.html", {**context, "finding": finding})


@require_POST
@signed_in
def answer(request: PageRequest, run_id: UUID, run_comment_id: int) -> HttpResponse:
    comment = readable_run_comment(request.actor, run_id, run_comment_id)
    text = request.POST.get("text", "")
    made = run_comments.add_reply(comment, text, user_id=request.actor.user_id)
    return _changed(request, comment.run, f"comment-{made.id}")


@require_POST
@signed_in
def edit(request: PageRequest, run_id: UUID, run_comment_id: int) -> HttpResponse:
    comment = own_run_comment(request.actor, run_id, run_comment_id)
    run_comments.change_comment(comment, request.POST.get("text", ""))
    return _changed(request, comment.run, f"comment-{run_comment_id}")


@require_POST
@signed_in
def delete(request: PageRequest, run_id: UUID, run_comment_id: int) -> HttpResponse:
    comment = deletable_run_comment(request.actor, run_id, run_comment_id)
    run_comments.delete_comment(comment, user_id=request.actor.user_id)
    undo = reverse("run-comment-restore", args=[run_id, run_comment_id])
    message = gettext("Comment deleted.")
    if not request.htmx:
        tell(request, message, undo=undo)
    response = _changed(request, comment.run, "comments")
    details = {"text": message, "undo": undo, "region": "run"}
    return trigger_client_event(response, "comment-deleted", details)


@require_POST
@signed_in
def restore(request: PageRequest, run_id: UUID, run_comment_id: int) -> HttpResponse:
    comment = deleted_run_comment(request.actor, run_id, run_comment_id)
    run_comments.restore_comment(comment)
    return _changed(request, comment.run, f"comment-{run_comment_id}")


@require_POST
@signed_in
def resolve(request: PageRequest, run_id: UUID, run_comment_id: int) -> HttpResponse:
    thread = settleable_run_thread(request.actor, run_id, run_comment_id)
    run_comments.resolve_thread(thread, user_id=request.actor.user_id)
    return _changed(request, thread.run, f"comment-{run_comment_id}")


@require_POST
@signed_in
def reopen(request: PageRequest, run_id: UUID, run_comment_id: int) -> HttpResponse:
    thread = settleable_run_thread(request.actor, run_id, run_comment_id)
    run_comments.reopen_thread(thread)
    return _changed(request, thread.run, f"comment-{run_comment_id}")


@require_safe
@signed_in
def readers(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Return the members whom a comment can mention, to complete a name."""
    found = readable_project(request.actor, workspace, project)
    rows = names_of_readers(found, request.GET.get("q", "").strip())
    return JsonResponse({"readers": rows})


# Any: a readable row of the runs table, which pages do not import.
def _context(request: PageRequest, run: Any) -> dict[str, Any]:
    return {
        "run": run,
        "project": run.project,
        "threads": threads_of(run),
        "at_charts": texts_at_charts(run),
        "user_id": request.actor.user_id,
        "may_edit": may_edit(request.actor, run.project),
        "may_own": may_own(request.actor, run.project),
    }


def _list(request: PageRequest, run: Any) -> str:
    return render_to_string("run/_comments.html", _context(request, run), request)


def _changed(request: PageRequest, run: Any, anchor: str) -> HttpResponse:
    if request.htmx:
        return HttpResponse(_list(request, run))
    return HttpResponseRedirect(f"{reverse('run-comments', args=[run.id])}#{anchor}")
