"""Writes reports: drafts, of which everybody has their own, and versions for all."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from tracker.actions.dashboards import checked_name
from tracker.actions.shares import end_links
from tracker.boards.board import TITLE_LENGTH, is_storable
from tracker.errors import Changed, InvalidInput, NotFound
from tracker.models import Project, Report, ReportDraft, ReportVersion

TEXT_LENGTH = 100_000
MOST_REPORTS = 500
# Older ones are forgotten.
MOST_VERSIONS = 200


def create_report(
    project: Project, name: str, *, user_id: int, text: str = ""
) -> Report:
    """Begin a report: its text is a draft until it is saved as a version."""
    name, text = checked_name(name), checked_text(text)
    with transaction.atomic():
        # Two at once would both see room for one more.
        Project.objects.select_for_update(no_key=True).get(id=project.id)
        if Report.objects.filter(project=project).count() >= MOST_REPORTS:
            raise InvalidInput("reports", f"may be at most {MOST_REPORTS}")
        report = Report.objects.create(
            project=project, name=name, created_by_id=user_id, changed_by_id=user_id
        )
        save_draft(report, name, text, user_id=user_id, based_on=0)
    return report


def save_draft(
    report: Report, name: str, text: str, *, user_id: int, based_on: int
) -> ReportDraft | None:
    """Keep what somebody has typed so far; nobody else sees it.

    What is just as the newest version says is no draft.
    """
    name, text = name.strip()[:TITLE_LENGTH], checked_text(text)
    if not is_storable(name):
        raise InvalidInput("name", "holds characters that no text may hold")
    saved = (report.version, report.name, report.text)
    if report.version and (based_on, name, text) == saved:
        discard_draft(report, user_id=user_id)
        return None
    draft, _ = ReportDraft.objects.update_or_create(
        report=report,
        user_id=user_id,
        defaults={"name": name, "text": text, "based_on": based_on},
    )
    return draft


def discard_draft(report: Report, *, user_id: int) -> None:
    ReportDraft.objects.filter(report=report, user_id=user_id).delete()


def save_version(
    report: Report, name: str, text: str, *, user_id: int, based_on: int
) -> ReportVersion:
    """Show this to everybody, unless there is a version that its writer has not seen."""
    name, text = checked_name(name), checked_text(text)
    return _add_version(report, name, text, user_id=user_id, based_on=based_on)


def restore_version(report: Report, number: int, *, user_id: int) -> ReportVersion:
    """Make what an earlier version said the newest one; nothing in between is lost."""
    earlier = ReportVersion.objects.filter(report=report, number=number).first()
    if earlier is None:
        raise NotFound("version")
    return _add_version(
        report,
        earlier.name,
        earlier.text,
        user_id=user_id,
        based_on=report.version,
        restored=number,
    )


def delete_report(report: Report) -> None:
    """Delete a report, all its versions and links to it; the runs it shows stay."""
    with transaction.atomic():
        end_links("report", [report.id], timezone.now())
        report.delete()


def checked_text(text: str) -> str:
    text = text.replace("\r\n", "\n")
    if len(text) > TEXT_LENGTH:
        raise InvalidInput("text", f"must be at most {TEXT_LENGTH} characters long")
    if not is_storable(text):
        raise InvalidInput("text", "holds characters that no text may hold")
    return text


def _add_version(
    report: Report,
    name: str,
    text: str,
    *,
    user_id: int,
    based_on: int,
    restored: int | None = None,
) -> ReportVersion:
    number, now = based_on + 1, timezone.now()
    with transaction.atomic():
        changed = Report.objects.filter(id=report.id, version=based_on).update(
            version=number, name=name, text=text, changed_at=now, changed_by_id=user_id
        )
        if not changed:  # somebody was faster
            raise _changed(report.id)
        version = ReportVersion.objects.create(
            report=report,
            number=number,
            name=name,
            text=text,
            saved_by_id=user_id,
            restored=restored,
        )
        if restored is None:
            discard_draft(report, user_id=user_id)
        ReportVersion.objects.filter(
            report=report, number__lte=number - MOST_VERSIONS
        ).delete()
    report.refresh_from_db()
    return version


def _changed(report_id: UUID) -> Changed:
    report = Report.objects.select_related("changed_by").filter(id=report_id).first()
    who = report.changed_by.username if report and report.changed_by else ""
    return Changed("report", who, version=report.version if report else 0)
