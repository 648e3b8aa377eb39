"""Adds notifications to inboxes, and marks them read."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from tracker.actions.people.mail import can_mail, queue_mail
from tracker.actions.people.notification_settings import settings_of_users
from tracker.errors import InvalidInput
from tracker.models import Notification, NotificationKind, Project, Run, User
from tracker.queries.people.readers import readers_of

# Older notifications are deleted, read or not.
KEPT = timedelta(days=180)
DELETED_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class News:
    """The message; `incident` identifies it, `address` is a path of the app."""

    kind: NotificationKind
    incident: str
    title: str
    summary: str
    address: str
    severity: str = "notice"


def notify(
    user_ids: Collection[int],
    notice: News,
    *,
    project: Project,
    run: Run | None = None,
    now: datetime | None = None,
) -> None:
    """Notify the users who may read the project, each once per incident.

    Call it in the transaction of the change.
    """
    if not user_ids:
        return
    now = now or timezone.now()
    readers = readers_of(project).filter(id__in=user_ids)
    known = Notification.objects.filter(user__in=user_ids, incident=notice.incident)
    settings = settings_of_users(readers.exclude(id__in=known.values("user")))
    Notification.objects.bulk_create(
        [
            Notification(
                user_id=each.user_id,
                kind=notice.kind,
                incident=notice.incident,
                severity=notice.severity,
                title=notice.title[:300],
                summary=notice.summary,
                project=project,
                run=run,
                address=notice.address,
                created_at=now,
                mail_due_at=each.mail_due_at(notice.kind, now),
                webhook_due_at=now if each.wants_webhook(notice.kind) else None,
            )
            for each in settings
        ],
        ignore_conflicts=True,
    )


def mark_read(user_id: int, notification_id: int) -> None:
    unread = Notification.objects.filter(user_id=user_id, read_at=None)
    unread.filter(id=notification_id).update(read_at=timezone.now())


def mark_unread(user_id: int, notification_id: int) -> None:
    own = Notification.objects.filter(user_id=user_id, id=notification_id)
    own.update(read_at=None)


def mark_all_read(user_id: int) -> None:
    unread = Notification.objects.filter(user_id=user_id, read_at=None)
    unread.update(read_at=timezone.now())


def delete_old_notifications(now: datetime | None = None) -> None:
    before = (now or timezone.now()) - KEPT
    old = Notification.objects.filter(created_at__lt=before).order_by("id")
    ids = list(old.values_list("id", flat=True)[:DELETED_AT_ONCE])
    Notification.objects.filter(id__in=ids).delete()


def send_test_mail(user_id: int) -> str:
    """Queue a test message to the user; return the address."""
    user = User.objects.get(id=user_id)
    if not can_mail():
        raise InvalidInput("email", "needs a mail server: set SEAMARK_SMTP_URL")
    if not user.email:
        raise InvalidInput("email", "is not set for your account")
    queue_mail(user.email, "notification_test", {"name": user.display_name})
    return user.email
