"""Edits reports: a private draft per user, and shared versions."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from tracker.actions.changed import changed_meanwhile
from tracker.actions.names import checked_name, expect_room
from tracker.boards.board import TITLE_LENGTH
from tracker.errors import InvalidInput, NotFound
from tracker.models import Project, Report, ReportDraft, ReportVersion
from tracker.texts import is_storable

TEXT_LENGTH = 100_000
MAX_REPORTS = 500
# Older versions are deleted.
MAX_VERSIONS = 200


def create_report(
    project: Project, name: str, *, user_id: int, text: str = ""
) -> Report:
    """Create a report: its text is a draft until it is saved as a version."""
    name, text = checked_name(name, TITLE_LENGTH), checked_text(text)
    with transaction.atomic():
        own = Report.objects.filter(project=project)
        expect_room(project, own, MAX_REPORTS, "report")
        report = Report.objects.create(
            project=project, name=name, created_by_id=user_id, changed_by_id=user_id
        )
        save_draft(report, name, text, user_id=user_id, based_on=0)
    return report


def save_draft(
    report: Report, name: str, text: str, *, user_id: int, based_on: int
) -> ReportDraft | None:
    """Store a user's unsaved text, visible only to them.

    A text equal to the newest version deletes the draft.
    """
    name, text = name.strip()[:TITLE_LENGTH], checked_text(text)
    if not is_storable(name):
        raise InvalidInput("name", "contains characters that cannot be stored")
    # Whichever version it is based on: this request may arrive after a save.
    if report.version and (name, text) == (report.name, report.text):
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
    """Publish a new version, unless there is one that the author has not seen."""
    name, text = checked_name(name, TITLE_LENGTH), checked_text(text)
    return _add_version(report, name, text, user_id=user_id, based_on=based_on)


def restore_version(report: Report, number: int, *, user_id: int) -> ReportVersion:
    """Publish an earlier version again; versions in between are kept."""
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


def checked_text(text: str) -> str:
    text = text.replace("\r\n", "\n")
    if len(text) > TEXT_LENGTH:
        raise InvalidInput("text", f"must be at most {TEXT_LENGTH} characters long")
    if not is_storable(text):
        raise InvalidInput("text", "contains characters that cannot be stored")
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
        row = Report.objects.filter(id=report.id)
        changed = row.filter(version=based_on).update(
            version=number, name=name, text=text, changed_at=now, changed_by_id=user_id
        )
        if not changed:  # a newer version exists
            raise changed_meanwhile(row, "report")
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
            report=report, number__lte=number - MAX_VERSIONS
        ).delete()
    report.refresh_from_db()
    return version
