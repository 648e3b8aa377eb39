"""Comments on a report, in threads."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Q

from tracker.models import Report, ReportComment


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment; the author is empty if the account is deleted."""

    id: int
    text: str
    author: str
    author_id: int | None
    version: int
    written_at: datetime
    edited_at: datetime | None
    is_deleted: bool


@dataclass(frozen=True, slots=True)
class Thread:
    """A comment with its replies, in chronological order."""

    first: Comment
    answers: tuple[Comment, ...]
    passage: str  # "" if it is about the whole report
    passage_kind: str
    quote: str
    resolved_at: datetime | None
    resolved_by: str

    @property
    def count(self) -> int:
        return len(self.answers) + (not self.first.is_deleted)


def threads_of(report: Report) -> list[Thread]:
    """Return all threads on a report in chronological order, in one query."""
    # Deleted replies are hidden; a deleted first comment remains while it has replies.
    kept = Q(deleted_at=None) | Q(thread=None)
    rows = list(
        ReportComment.objects.filter(kept, report=report)
        .select_related("author", "resolved_by")
        .order_by("id")
    )
    answers: dict[int, list[Comment]] = {}
    for row in rows:
        if row.thread_id is not None:
            answers.setdefault(row.thread_id, []).append(_comment(row))
    return [
        Thread(
            first=_comment(row),
            answers=tuple(answers.get(row.id, ())),
            passage=row.passage,
            passage_kind=row.passage_kind,
            quote=row.quote,
            resolved_at=row.resolved_at,
            resolved_by=_name(row.resolved_by),
        )
        for row in rows
        if row.thread_id is None and (row.deleted_at is None or row.id in answers)
    ]


def comment_counts(project_id: int) -> dict[UUID, int]:
    """Return the number of comments per report of a project; reports without are absent."""
    kept = ReportComment.objects.filter(report__project_id=project_id, deleted_at=None)
    counted = kept.order_by().values_list("report_id").annotate(Count("id"))
    return dict(counted)


def _comment(row: ReportComment) -> Comment:
    return Comment(
        id=row.id,
        text=row.text if row.deleted_at is None else "",
        author=_name(row.author),
        author_id=row.author_id,
        version=row.version,
        written_at=row.written_at,
        edited_at=row.edited_at,
        is_deleted=row.deleted_at is not None,
    )


# object: a user, or None if the account is deleted.
def _name(user: object) -> str:
    return getattr(user, "username", "")
