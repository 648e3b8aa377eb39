"""Mails due notifications: a single one by itself, several as a digest."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from tracker.actions.people.mail import queue_mail
from tracker.models import Notification, User

USERS_AT_ONCE = 50
# Notifications listed in a digest; the rest are counted.
MAX_LISTED = 30


def mail_notifications(now: datetime | None = None) -> None:
    """Queue one mail for each user with due notifications."""
    now = now or timezone.now()
    due = Notification.objects.filter(mail_due_at__lte=now).order_by()
    user_ids = due.values_list("user_id", flat=True).distinct()[:USERS_AT_ONCE]
    for user in User.objects.filter(id__in=list(user_ids)):
        _mail(user, now)


def _mail(user: User, now: datetime) -> None:
    with transaction.atomic():
        # Two concurrent workers would both queue the mail.
        User.objects.select_for_update(no_key=True).get(id=user.id)
        due = Notification.objects.filter(user=user, mail_due_at__lte=now)
        rows = list(due.select_related("project", "run").order_by("-id"))
        due.filter(id__in=[row.id for row in rows]).update(mail_due_at=None)
        unread = [row for row in rows if row.read_at is None and _is_seen(row)]
        if not unread or not user.email or not user.is_active:
            return
        context = {
            "notifications": unread[:MAX_LISTED],
            "more_count": max(0, len(unread) - MAX_LISTED),
            "count": len(unread),
            "first": unread[0],
            "inbox_url": f"{settings.PUBLIC_URL}/inbox",
            "settings_url": f"{settings.PUBLIC_URL}/account/notifications",
        }
        template = "notification" if len(unread) == 1 else "notifications"
        queue_mail(user.email, template, context)


def _is_seen(row: Notification) -> bool:
    return row.run is None or row.run.trashed_at is None
