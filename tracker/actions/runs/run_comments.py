"""Creates, changes, deletes and resolves comments on runs and findings."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from tracker.actions.names import expect_room
from tracker.actions.people.follows import begin_to_follow
from tracker.actions.people.mentions import Written, notify_of_comment
from tracker.actions.report_comments import checked_comment
from tracker.errors import NotFound
from tracker.models import Finding, Run, RunComment
from tracker.queries.people.follows import followers_of
from tracker.queries.projects.trash import UNDO_HOURS

MAX_COMMENTS = 500
PURGED_AT_ONCE = 500
KEPT_ANSWERS = RunComment.objects.filter(thread=OuterRef("pk"), deleted_at=None)


def add_comment(
    run: Run, text: str, *, user_id: int, about: Finding | None = None
) -> RunComment:
    """Start a thread on a run, or on one of its findings."""
    title = about.title if about else ""
    return _add(run, text, user_id=user_id, finding=about, about=title[:300])


def add_reply(comment: RunComment, text: str, *, user_id: int) -> RunComment:
    """Answer a thread, and reopen it."""
    first_id = comment.thread_id or comment.id
    with transaction.atomic():
        first = RunComment.objects.filter(id=first_id)
        if not first.update(resolved_at=None, resolved_by=None):
            raise NotFound("comment")
        return _add(comment.run, text, user_id=user_id, thread_id=first_id)


def change_comment(comment: RunComment, text: str) -> None:
    """Change the text; notify newly mentioned users."""
    text = checked_comment(text)
    with transaction.atomic():
        kept = RunComment.objects.filter(id=comment.id, deleted_at=None)
        if not kept.update(text=text, edited_at=timezone.now()):
            raise NotFound("comment")
        comment.text = text
        notify_of_comment(
            _written(comment), project=comment.run.project, run=comment.run
        )


def delete_comment(comment: RunComment, *, user_id: int) -> None:
    """Hide a comment, which can be restored for a while."""
    kept = RunComment.objects.filter(id=comment.id, deleted_at=None)
    if not kept.update(deleted_at=timezone.now(), deleted_by_id=user_id):
        raise NotFound("comment")


def restore_comment(comment: RunComment) -> None:
    deleted = RunComment.objects.filter(id=comment.id).exclude(text="")
    if not deleted.update(deleted_at=None, deleted_by=None):
        raise NotFound("comment")


def resolve_thread(thread: RunComment, *, user_id: int) -> None:
    threads = RunComment.objects.filter(id=thread.id, resolved_at=None)
    threads.update(resolved_at=timezone.now(), resolved_by_id=user_id)


def reopen_thread(thread: RunComment) -> None:
    threads = RunComment.objects.filter(id=thread.id)
    threads.update(resolved_at=None, resolved_by=None)


def purge_run_comments(now: datetime | None = None) -> None:
    """Delete comments past their restore period; keep a placeholder if they have
    answers.
    """
    limit = (now or timezone.now()) - timedelta(hours=UNDO_HOURS)
    due = RunComment.objects.filter(deleted_at__lt=limit).exclude(text="")
    ids = list(due.order_by("deleted_at").values_list("id", flat=True)[:PURGED_AT_ONCE])
    some = RunComment.objects.filter(id__in=ids, deleted_at__lt=limit)
    with transaction.atomic():
        some.filter(Exists(KEPT_ANSWERS)).update(text="")
        some.exclude(Exists(KEPT_ANSWERS)).delete()
        # The placeholder of a deleted comment goes with its last answer.
        empty = RunComment.objects.filter(deleted_at__isnull=False, text="")
        empty.exclude(Exists(KEPT_ANSWERS)).delete()


# Any of the fields that only some comments have.
def _add(run: Run, text: str, *, user_id: int, **fields: object) -> RunComment:
    text = checked_comment(text)
    with transaction.atomic():
        own = RunComment.objects.filter(run=run, deleted_at=None)
        expect_room(run.project, own, MAX_COMMENTS, "The comment")
        comment = RunComment(
            run=run,
            text=text,
            author_id=user_id,
            written_at=timezone.now(),
            **fields,
        )
        comment.save()
        notify_of_comment(
            _written(comment), project=run.project, run=run, also=followers_of(run)
        )
        begin_to_follow(run, user_id=user_id)
    return comment


def _written(comment: RunComment) -> Written:
    return Written(
        text=comment.text,
        author_id=comment.author_id or 0,
        incident=f"run-comment:{comment.id}",
        where=comment.run.name,
        address=f"/runs/{comment.run_id}/comments#comment-{comment.id}",
    )
