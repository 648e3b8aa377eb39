"""The inbox: a user's notifications about runs and projects that they may read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from tracker.actor import Actor
from tracker.models import Notification, NotificationKind, Project

PAGE_SIZE = 50
# The bell shows no higher number.
MAX_COUNTED = 100
CURSOR = re.compile(r"(unread|read)-([0-9]{1,18})")
KINDS = tuple(NotificationKind.values)


@dataclass(frozen=True, slots=True)
class NotificationRow:
    id: int
    kind: str
    severity: str
    title: str
    summary: str
    project_name: str
    run_id: UUID | None
    run_name: str
    address: str
    created_at: datetime
    is_read: bool


@dataclass(frozen=True, slots=True)
class InboxPage:
    rows: list[NotificationRow]
    cursor: str  # where the next page begins; "": this is the last


def inbox_page(actor: Actor, *, kind: str = "", cursor: str = "") -> InboxPage:
    """Return unread notifications first, each part from the newest to the oldest."""
    found = _readable(actor)
    if kind in KINDS:
        found = found.filter(kind=kind)
    found = found.select_related("project", "run")
    is_among_read, before = _place(cursor)
    limit = PAGE_SIZE + 1
    rows: list[Notification] = []
    if not is_among_read:
        rows += _before(found.filter(read_at=None), before)[:limit]
    if len(rows) < limit:
        read = found.filter(read_at__isnull=False)
        rows += _before(read, before if is_among_read else None)[: limit - len(rows)]
    shown = rows[:PAGE_SIZE]
    has_more = len(rows) > len(shown)
    return InboxPage(
        rows=[_row(row) for row in shown],
        cursor=_cursor_after(shown[-1]) if has_more else "",
    )


def unread_count(actor: Actor) -> int:
    """Return how many are unread, at most MAX_COUNTED."""
    unread = _readable(actor).filter(read_at=None)
    return len(unread.order_by().values_list("id")[:MAX_COUNTED])


def address_of(actor: Actor, notification_id: int) -> str | None:
    """Return the page that a notification is about; None if there is no such one."""
    found = _readable(actor).filter(id=notification_id)
    return found.values_list("address", flat=True).first()


def _readable(actor: Actor) -> QuerySet[Notification]:
    projects = Project.objects.readable_by(actor).values("id")
    seen = Q(run=None) | Q(run__trashed_at=None, run__purging_at=None)
    return Notification.objects.filter(
        seen, user_id=actor.user_id, project__in=projects
    )


def _before(rows: QuerySet[Notification], before: int | None) -> QuerySet[Notification]:
    if before is not None:
        rows = rows.filter(id__lt=before)
    return rows.order_by("-id")


def _place(cursor: str) -> tuple[bool, int | None]:
    found = CURSOR.fullmatch(cursor)
    return (found[1] == "read", int(found[2])) if found else (False, None)


def _cursor_after(row: Notification) -> str:
    return f"{'unread' if row.read_at is None else 'read'}-{row.id}"


def _row(row: Notification) -> NotificationRow:
    return NotificationRow(
        id=row.id,
        kind=row.kind,
        severity=row.severity,
        title=row.title,
        summary=row.summary,
        project_name=row.project.name,
        run_id=row.run_id,
        run_name=row.run.name if row.run else "",
        address=row.address,
        created_at=row.created_at,
        is_read=row.read_at is not None,
    )
