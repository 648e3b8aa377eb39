"""The reports of a project, their versions and drafts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models.functions import Length

from tracker.errors import NotFound
from tracker.models import Report, ReportDraft, ReportVersion
from tracker.queries.reports.comments import comment_counts


@dataclass(frozen=True, slots=True)
class ReportSummary:
    id: UUID
    name: str
    version: int  # 0 if no version was saved yet
    author: str
    changed_at: datetime
    changed_by: str
    has_draft: bool  # of the requesting user
    comment_count: int


@dataclass(frozen=True, slots=True)
class VersionSummary:
    number: int
    name: str
    saved_at: datetime
    saved_by: str
    restored: int | None
    length: int


def report_summaries(project_id: int, user_id: int) -> list[ReportSummary]:
    """Return a project's reports, the last changed first, in three queries."""
    drafts = set(
        ReportDraft.objects.filter(
            report__project_id=project_id, user_id=user_id
        ).values_list("report_id", flat=True)
    )
    comments = comment_counts(project_id)
    reports = (
        Report.objects.filter(project_id=project_id)
        .select_related("created_by", "changed_by")
        .defer("text")
        .order_by("-changed_at", "id")
    )
    return [
        ReportSummary(
            id=report.id,
            name=report.name,
            version=report.version,
            author=_name(report.created_by),
            changed_at=report.changed_at,
            changed_by=_name(report.changed_by),
            has_draft=report.id in drafts,
            comment_count=comments.get(report.id, 0),
        )
        for report in reports
    ]


def draft_of(report: Report, user_id: int) -> ReportDraft | None:
    return ReportDraft.objects.filter(report=report, user_id=user_id).first()


def version_of_report(report: Report, number: int) -> ReportVersion:
    found = (
        ReportVersion.objects.filter(report=report, number=number)
        .select_related("saved_by")
        .first()
    )
    if found is None:
        raise NotFound("version")
    return found


def report_versions(report: Report) -> list[VersionSummary]:
    """Return the stored versions, the newest first."""
    versions = ReportVersion.objects.filter(report=report).select_related("saved_by")
    versions = versions.defer("text").annotate(length=Length("text"))
    return [
        VersionSummary(
            number=version.number,
            name=version.name,
            saved_at=version.saved_at,
            saved_by=_name(version.saved_by),
            restored=version.restored,
            length=version.length,
        )
        for version in versions.order_by("-number")
    ]


# object: a user, or None if the account is deleted.
def _name(user: object) -> str:
    return getattr(user, "username", "")
