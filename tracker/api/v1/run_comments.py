"""Comments on runs and their findings, in threads."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.http import HttpResponse
from ninja import Field, Router, Schema

from tracker.access.comments import (
    commentable_run,
    deletable_run_comment,
    own_run_comment,
    readable_run_comment,
    settleable_run_thread,
)
from tracker.access.runs import readable_run
from tracker.actions.runs.run_comments import (
    add_comment,
    add_reply,
    change_comment,
    delete_comment,
    reopen_thread,
    resolve_thread,
)
from tracker.api.answers import json_response
from tracker.api.auth import ApiRequest, ReaderAuth, WriterAuth
from tracker.api.v1.people.members import Json
from tracker.errors import InvalidInput, NotFound
from tracker.queries.run.comments import Comment, finding_of_rule, threads_of

router = Router(tags=["comments"], auth=ReaderAuth())


class CommentOut(Schema):
    id: int
    text: str = Field(description="Empty once the comment is deleted.")
    author: str | None = Field(description="Username; null: the account is deleted.")
    written_at: datetime
    edited_at: datetime | None
    is_deleted: bool


class ThreadOut(CommentOut):
    about: str = Field(description="The title of a finding; empty: the run.")
    is_resolved: bool
    resolved_by: str | None
    answers: list[CommentOut]


class CommentsOut(Schema):
    threads: list[ThreadOut]


class CommentIn(Schema):
    text: str = Field(description="Markdown; `@username` notifies a member.")
    answer_to: int | None = Field(None, description="The id of a comment.")
    rule: str | None = Field(None, description="The rule of a finding of the run.")


class CommentChangeIn(Schema):
    """Only the author changes the text; resolving is about a whole thread."""

    text: str | None = None
    is_resolved: bool | None = None


@router.get("/runs/{uuid:run_id}/comments", response=CommentsOut)
def read_comments(request: ApiRequest, run_id: UUID) -> HttpResponse:
    """All threads of a run, in the order of creation."""
    return _response(readable_run(request.auth, run_id))


@router.post("/runs/{uuid:run_id}/comments", response=CommentsOut, auth=WriterAuth())
def write_comment(request: ApiRequest, run_id: UUID, body: CommentIn) -> HttpResponse:
    """Comment on a run or a finding, or answer a comment."""
    run = commentable_run(request.auth, run_id)
    user_id = request.auth.user_id
    if body.answer_to is not None:
        comment = readable_run_comment(request.auth, run_id, body.answer_to)
        add_reply(comment, body.text, user_id=user_id)
        return _response(run)
    finding = None
    if body.rule is not None:
        finding = finding_of_rule(run, body.rule)
        if finding is None:
            raise NotFound("finding")
    add_comment(run, body.text, user_id=user_id, about=finding)
    return _response(run)


@router.patch(
    "/runs/{uuid:run_id}/comments/{int:run_comment_id}",
    response=CommentsOut,
    auth=WriterAuth(),
)
def write_change(
    request: ApiRequest, run_id: UUID, run_comment_id: int, body: CommentChangeIn
) -> HttpResponse:
    """Change one's own text, or resolve or reopen a thread."""
    run = commentable_run(request.auth, run_id)
    if body.text is None and body.is_resolved is None:
        raise InvalidInput("The body", "must have text or is_resolved")
    with transaction.atomic():
        if body.text is not None:
            own = own_run_comment(request.auth, run_id, run_comment_id)
            change_comment(own, body.text)
        if body.is_resolved is not None:
            thread = settleable_run_thread(request.auth, run_id, run_comment_id)
            if body.is_resolved:
                resolve_thread(thread, user_id=request.auth.user_id)
            else:
                reopen_thread(thread)
    return _response(run)


@router.delete(
    "/runs/{uuid:run_id}/comments/{int:run_comment_id}",
    response=CommentsOut,
    auth=WriterAuth(),
)
def delete(request: ApiRequest, run_id: UUID, run_comment_id: int) -> HttpResponse:
    """Delete one's own comment; owners and admins delete any."""
    comment = deletable_run_comment(request.auth, run_id, run_comment_id)
    delete_comment(comment, user_id=request.auth.user_id)
    return _response(comment.run)


# Any: a row of the runs table, which endpoints do not import.
def _response(run: Any) -> HttpResponse:
    threads: list[Json] = [
        {
            **_comment(thread.first),
            "about": thread.about,
            "is_resolved": thread.resolved_at is not None,
            "resolved_by": thread.resolved_by and thread.resolved_by.username,
            "answers": [_comment(each) for each in thread.answers],
        }
        for thread in threads_of(run)
    ]
    return json_response({"threads": threads})


def _comment(comment: Comment) -> Json:
    return {
        "id": comment.id,
        "text": comment.text,
        "author": comment.author and comment.author.username,
        "written_at": comment.written_at,
        "edited_at": comment.edited_at,
        "is_deleted": comment.is_deleted,
    }
