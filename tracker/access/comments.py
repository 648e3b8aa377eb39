"""Checked access to comments on reports and runs."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from tracker.access.objects import readable_report
from tracker.access.projects import may_comment, may_edit, may_own, refusal
from tracker.access.runs import readable_run
from tracker.actor import Actor
from tracker.errors import NotAllowed, NotFound
from tracker.models import Report, ReportComment, Run, RunComment

# Answers that keep a deleted comment visible as a placeholder.
KEPT_ANSWERS = ReportComment.objects.filter(thread=OuterRef("pk"), deleted_at=None)


def commentable_report(actor: Actor, report_id: UUID) -> Report:
    """Return a report that the actor, as a member, may comment on."""
    report = readable_report(actor, report_id)
    if not may_comment(actor):
        raise NotAllowed("comment on reports")
    return report


def readable_comment(actor: Actor, report_id: UUID, comment_id: int) -> ReportComment:
    """Return a comment, or the placeholder of a deleted one that has answers."""
    report = commentable_report(actor, report_id)
    comments = ReportComment.objects.filter(report=report).select_related("thread")
    shown = Q(deleted_at=None) | Q(Exists(KEPT_ANSWERS))
    found = comments.filter(shown, id=comment_id).first()
    if found is None:
        raise NotFound("comment")
    found.report = report
    return found


def own_comment(actor: Actor, report_id: UUID, comment_id: int) -> ReportComment:
    found = readable_comment(actor, report_id, comment_id)
    if found.deleted_at is not None:
        raise NotFound("comment")
    if found.author_id != actor.user_id:
        raise NotAllowed("change the comments of other members")
    return found


def deletable_comment(actor: Actor, report_id: UUID, comment_id: int) -> ReportComment:
    """Return a comment by the actor; project owners may delete any."""
    found = readable_comment(actor, report_id, comment_id)
    if found.deleted_at is not None:
        raise NotFound("comment")
    if found.author_id != actor.user_id and not may_own(actor, found.report.project):
        raise refusal(found.report.project, "delete the comments of other members")
    return found


def deleted_comment(actor: Actor, report_id: UUID, comment_id: int) -> ReportComment:
    """Return a comment that the actor deleted; project owners may restore any."""
    report = commentable_report(actor, report_id)
    deleted = ReportComment.objects.filter(report=report, deleted_at__isnull=False)
    # A comment without text is purged and remains only as a placeholder for its
    # answers.
    found = deleted.exclude(text="").filter(id=comment_id).first()
    if found is None:
        raise NotFound("comment")
    if found.deleted_by_id != actor.user_id and not may_own(actor, report.project):
        raise refusal(report.project, "restore comments that other members deleted")
    found.report = report
    return found


def settleable_thread(actor: Actor, report_id: UUID, comment_id: int) -> ReportComment:
    """Return a thread that the actor may resolve: their own, or on a report they edit."""
    found = readable_comment(actor, report_id, comment_id)
    if found.thread_id is not None:
        raise NotFound("thread")
    if found.author_id != actor.user_id and not may_edit(actor, found.report.project):
        raise refusal(found.report.project, "resolve threads of other members")
    return found


def commentable_run(actor: Actor, run_id: UUID) -> Run:
    """Return a run that the actor, as a member, may comment on."""
    run = readable_run(actor, run_id)
    if not may_comment(actor):
        raise NotAllowed("comment on runs")
    return run


def readable_run_comment(actor: Actor, run_id: UUID, comment_id: int) -> RunComment:
    """Return a comment on a run, or the placeholder of a deleted one that has answers."""
    run = commentable_run(actor, run_id)
    answers = RunComment.objects.filter(thread=OuterRef("pk"), deleted_at=None)
    shown = Q(deleted_at=None) | Q(Exists(answers))
    found = RunComment.objects.filter(shown, run=run, id=comment_id).first()
    if found is None:
        raise NotFound("comment")
    found.run = run
    return found


def own_run_comment(actor: Actor, run_id: UUID, comment_id: int) -> RunComment:
    found = readable_run_comment(actor, run_id, comment_id)
    if found.deleted_at is not None:
        raise NotFound("comment")
    if found.author_id != actor.user_id:
        raise NotAllowed("change the comments of other members")
    return found


def deletable_run_comment(actor: Actor, run_id: UUID, comment_id: int) -> RunComment:
    """Return a comment by the actor; project owners may delete any."""
    found = readable_run_comment(actor, run_id, comment_id)
    if found.deleted_at is not None:
        raise NotFound("comment")
    if found.author_id != actor.user_id and not may_own(actor, found.run.project):
        raise refusal(found.run.project, "delete the comments of other members")
    return found


def deleted_run_comment(actor: Actor, run_id: UUID, comment_id: int) -> RunComment:
    """Return a comment that the actor deleted; project owners may restore any."""
    run = commentable_run(actor, run_id)
    deleted = RunComment.objects.filter(run=run, deleted_at__isnull=False)
    found = deleted.exclude(text="").filter(id=comment_id).first()
    if found is None:
        raise NotFound("comment")
    if found.deleted_by_id != actor.user_id and not may_own(actor, run.project):
        raise refusal(run.project, "restore the comments of other members")
    found.run = run
    return found


def settleable_run_thread(actor: Actor, run_id: UUID, comment_id: int) -> RunComment:
    """Return a thread that the actor may resolve: their own, or on a run they edit."""
    found = readable_run_comment(actor, run_id, comment_id)
    if found.thread_id is not None:
        raise NotFound("thread")
    if found.author_id != actor.user_id and not may_edit(actor, found.run.project):
        raise refusal(found.run.project, "resolve the threads of other members")
    return found
