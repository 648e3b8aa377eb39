"""The comments on a run, in threads, and annotations at its charts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Q

from tracker.models import Annotation, Finding, Run, RunComment, User
from tracker.texts import is_storable

MAX_ANNOTATIONS = 200


@dataclass(frozen=True, slots=True)
class Comment:
    """The author is None once the account is deleted."""

    id: int
    text: str
    author: User | None
    author_id: int | None
    written_at: datetime
    edited_at: datetime | None
    is_deleted: bool


@dataclass(frozen=True, slots=True)
class Thread:
    """A comment with its replies, in chronological order."""

    first: Comment
    answers: tuple[Comment, ...]
    about: str  # the title of a finding; "" for the run
    anchor: str  # the rule of that finding, if the overview still shows it
    resolved_at: datetime | None
    resolved_by: User | None


@dataclass(frozen=True, slots=True)
class AtChart:
    """A text at a point of a chart."""

    id: int
    path: str
    step: float
    text: str
    author: User | None
    written_at: datetime


def threads_of(run: Run) -> list[Thread]:
    """Return all threads on a run in chronological order, in one query."""
    kept = Q(deleted_at=None) | Q(thread=None)
    rows = RunComment.objects.filter(kept, run=run).order_by("id")
    answers: dict[int, list[Comment]] = {}
    firsts = []
    for row in rows.select_related("author", "resolved_by", "finding"):
        if row.thread_id is None:
            firsts.append(row)
        else:
            answers.setdefault(row.thread_id, []).append(_comment(row))
    return [
        Thread(
            first=_comment(row),
            answers=tuple(answers.get(row.id, ())),
            about=row.about,
            anchor=row.finding.rule if row.finding else "",
            resolved_at=row.resolved_at,
            resolved_by=row.resolved_by,
        )
        for row in firsts
        if row.deleted_at is None or row.id in answers
    ]


def texts_at_charts(run: Run) -> list[AtChart]:
    """Return the newest annotations of the run, the newest first."""
    rows = Annotation.objects.filter(run=run).select_related("author")
    return [
        AtChart(
            id=row.id,
            path=row.path,
            step=row.step,
            text=row.text,
            author=row.author,
            written_at=row.written_at,
        )
        for row in rows.order_by("-id")[:MAX_ANNOTATIONS]
    ]


def comment_count(run_id: UUID) -> int:
    return RunComment.objects.filter(run_id=run_id, deleted_at=None).count()


def counts_of_findings(run_id: UUID) -> dict[int, int]:
    """Return the number of threads per finding of a run; findings without are absent."""
    threads = RunComment.objects.filter(
        run_id=run_id, thread=None, finding__isnull=False, deleted_at=None
    )
    counted = threads.order_by().values_list("finding_id").annotate(Count("id"))
    return {finding_id: count for finding_id, count in counted if finding_id}


def finding_of(run: Run, finding_id: str) -> Finding | None:
    if not finding_id.isdecimal() or len(finding_id) > len(str(2**62)):
        return None
    return Finding.objects.filter(run=run, id=int(finding_id)).first()


def finding_of_rule(run: Run, rule: str) -> Finding | None:
    """Return the newest finding of a rule, such as `loss-is-not-finite`."""
    findings = Finding.objects.filter(run=run, rule=rule)
    return findings.order_by("-id").first() if is_storable(rule) else None


def _comment(row: RunComment) -> Comment:
    return Comment(
        id=row.id,
        text=row.text if row.deleted_at is None else "",
        author=row.author,
        author_id=row.author_id,
        written_at=row.written_at,
        edited_at=row.edited_at,
        is_deleted=row.deleted_at is not None,
    )
