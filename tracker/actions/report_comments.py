"""Creates, changes, deletes and resolves comments on reports."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from tracker.actions.names import expect_room
from tracker.actions.people.mentions import Written, notify_of_comment
from tracker.errors import InvalidInput, NotFound
from tracker.models import Project, Report, ReportComment
from tracker.queries.projects.trash import UNDO_HOURS
from tracker.texts import is_storable

# Limited, because a report's page shows all its comments.
LONGEST_COMMENT = 2_000
MAX_COMMENTS = 500
LONGEST_QUOTE = 400
# Comments purged per pass, each in its own transaction.
PURGED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Passage:
    """The part of a report that a comment is about: a heading, paragraph, widget, …

    Its key identifies it within one text: equal words have equal keys.
    """

    key: str
    kind: str
    words: str


def add_comment(
    report: Report,
    text: str,
    *,
    user_id: int,
    version: int,
    about: Passage | None = None,
) -> ReportComment:
    """Start a thread on a version of the report, or on a passage of that version."""
    text = checked_comment(text)
    if not version:
        raise InvalidInput("the report", "has no saved version yet")
    with transaction.atomic():
        _expect_room(report)
        comment = ReportComment.objects.create(
            report=report,
            version=version,
            passage=about.key if about else "",
            passage_kind=about.kind if about else "",
            quote=about.words[:LONGEST_QUOTE] if about else "",
            text=text,
            author_id=user_id,
            written_at=timezone.now(),
        )
        _notify(comment)
    return comment


def add_reply(
    thread: ReportComment, text: str, *, user_id: int, version: int
) -> ReportComment:
    """Answer a comment; an answer to an answer joins the same thread.

    It reopens a resolved thread, so that the answer is visible.
    """
    text = checked_comment(text)
    first_id = thread.thread_id or thread.id
    with transaction.atomic():
        _expect_room(thread.report)
        first = ReportComment.objects.filter(id=first_id)
        if not first.update(resolved_at=None, resolved_by=None):
            raise NotFound("comment")
        comment = ReportComment.objects.create(
            report=thread.report,
            thread_id=first_id,
            version=version,
            text=text,
            author_id=user_id,
            written_at=timezone.now(),
        )
        _notify(comment)
    return comment


def change_comment(comment: ReportComment, text: str) -> None:
    text = checked_comment(text)
    with transaction.atomic():
        # Not save(): the comment may have been deleted concurrently.
        kept = ReportComment.objects.filter(id=comment.id, deleted_at=None)
        if not kept.update(text=text, edited_at=timezone.now()):
            raise NotFound("comment")
        comment.text = text
        _notify(comment, is_new=False)


def _notify(comment: ReportComment, *, is_new: bool = True) -> None:
    """Notify mentioned users; for a new comment also the report's and thread's authors."""
    report, also = comment.report, set()
    if is_new:
        of_thread = ReportComment.objects.filter(
            Q(id=comment.thread_id) | Q(thread__isnull=False, thread=comment.thread_id)
        )
        authors = of_thread.values_list("author_id", flat=True)
        also = {each for each in (*authors, report.created_by_id) if each}
    notify_of_comment(
        Written(
            text=comment.text,
            author_id=comment.author_id or 0,
            incident=f"report-comment:{comment.id}",
            where=report.name,
            address=f"/reports/{report.id}/#comment-{comment.id}",
        ),
        project=report.project,
        also=also,
    )


def delete_comment(
    comment: ReportComment, *, user_id: int, now: datetime | None = None
) -> None:
    """Hide a comment's text, which can be restored for a while."""
    kept = ReportComment.objects.filter(id=comment.id, deleted_at=None)
    if not kept.update(deleted_at=now or timezone.now(), deleted_by_id=user_id):
        raise NotFound("comment")


def restore_comment(comment: ReportComment) -> None:
    """Restore a comment unless its text is purged."""
    with transaction.atomic():
        _expect_room(comment.report)
        deleted = ReportComment.objects.filter(id=comment.id).exclude(text="")
        if not deleted.update(deleted_at=None, deleted_by=None):
            raise NotFound("comment")


def purge_comments(now: datetime | None = None) -> int:
    """Delete texts of comments past their restore period; return their number."""
    limit = (now or timezone.now()) - timedelta(hours=UNDO_HOURS)
    due = ReportComment.objects.filter(deleted_at__lt=limit).exclude(text="")
    some = due.order_by("deleted_at").select_related("report__project")
    return sum(_purged(comment, due) for comment in some[:PURGED_AT_ONCE])


def _purged(comment: ReportComment, due: QuerySet[ReportComment]) -> bool:
    """Delete the text of a comment that has answers, or the whole comment."""
    with transaction.atomic():
        # Locked, because answering or restoring takes the same lock.
        _locked(comment.report.project)
        row = due.filter(id=comment.id)
        if comment.answers.exists():
            return row.update(text="") > 0
        if not row.delete()[0]:
            return False
        if comment.thread_id is not None:
            first = ReportComment.objects.filter(id=comment.thread_id, answers=None)
            first.filter(deleted_at__isnull=False, text="").delete()
        return True


def resolve_thread(thread: ReportComment, *, user_id: int) -> None:
    """Mark a thread as resolved; the first user is recorded."""
    ReportComment.objects.filter(id=thread.id, resolved_at=None).update(
        resolved_at=timezone.now(), resolved_by_id=user_id
    )


def reopen_thread(thread: ReportComment) -> None:
    ReportComment.objects.filter(id=thread.id).update(
        resolved_at=None, resolved_by=None
    )


def checked_comment(text: str) -> str:
    text = text.replace("\r\n", "\n").strip()
    if not text:
        raise InvalidInput("The comment", "is empty; write something first")
    if len(text) > LONGEST_COMMENT:
        too_many = len(text) - LONGEST_COMMENT
        raise InvalidInput(
            "The comment",
            f"must be at most {LONGEST_COMMENT:,} characters long; it has"
            f" {too_many:,} too many",
        )
    if not is_storable(text):
        raise InvalidInput("The comment", "contains characters that cannot be stored")
    return text


def _expect_room(report: Report) -> None:
    own = ReportComment.objects.filter(report=report, deleted_at=None)
    expect_room(report.project, own, MAX_COMMENTS, "The comment")


def _locked(project: Project) -> None:
    Project.objects.select_for_update(no_key=True).get(id=project.id)
