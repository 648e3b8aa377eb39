"""Posts due notifications to users' webhooks.

It works like alert channels: one worker per receiver, a pause after each failure, and
the same message id for each attempt.
"""

from __future__ import annotations

import logging
import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from tracker.actions.alerts import (
    AT_ONCE,
    ERROR_LENGTH,
    FIRST_PAUSE_SECONDS,
    LEASE,
    LONGEST_PAUSE_SECONDS,
    MAX_ATTEMPTS,
    is_free,
)
from tracker.alerts import webhook
from tracker.alerts.message import Message
from tracker.alerts.services import SERVICES
from tracker.alerts.webhook import NotDelivered
from tracker.errors import InvalidInput
from tracker.models import Notification, NotificationSettings

logger = logging.getLogger(__name__)

# The namespace of message ids, by which receivers recognize a notification.
NUMBERS = uuid.UUID("0b7c3f0e-63a5-4d53-9d0b-2f0a9c0b7a51")


def users_to_post() -> list[int]:
    """Return the users with due notifications whose webhook no worker holds."""
    now = timezone.now()
    due = Notification.objects.filter(webhook_due_at__lte=now).values("user_id")
    free = NotificationSettings.objects.filter(is_free(now), user__in=due)
    return list(free.values_list("user_id", flat=True))


def post_to(user_id: int) -> None:
    """Post due notifications unless another worker does; stop at the first failure."""
    now = timezone.now()
    leased_until = now + LEASE
    own = NotificationSettings.objects.filter(user_id=user_id)
    if not own.filter(is_free(now)).update(leased_until=leased_until):
        return
    receiver = own.get()
    try:
        for notification in _due(user_id, now):
            if timezone.now() > now + LEASE / 2 or not _post(receiver, notification):
                break
    finally:
        own.filter(leased_until=leased_until).update(leased_until=None)


def try_webhook(user_id: int) -> None:
    """Post a test message; raise NotDelivered unless it is accepted."""
    receiver = NotificationSettings.objects.filter(user_id=user_id).first()
    if receiver is None or not receiver.webhook_service:
        raise InvalidInput("webhook", "must be saved before it can be tested")
    _deliver(
        receiver,
        Message(
            id=uuid.uuid4(),
            title="Test notification",
            summary="Your notifications will be sent here.",
            severity="notice",
            project="Seamark",
            run="",
            stage="",
            raised_at=timezone.now(),
            url=f"{settings.PUBLIC_URL}/inbox",
        ),
    )


def _due(user_id: int, now: datetime) -> list[Notification]:
    due = Notification.objects.filter(user_id=user_id, webhook_due_at__lte=now)
    return list(due.select_related("project", "run").order_by("id")[:AT_ONCE])


def _post(receiver: NotificationSettings, notification: Notification) -> bool:
    own = NotificationSettings.objects.filter(user_id=receiver.user_id)
    row = Notification.objects.filter(id=notification.id)
    try:
        if receiver.webhook_service:
            _deliver(receiver, _message(notification))
    except NotDelivered as error:
        _note_failure(receiver, notification, str(error))
        return False
    except Exception as error:
        # One receiver must not delay the others.
        logger.exception("notification %s could not be posted", notification.id)
        _note_failure(receiver, notification, f"{type(error).__name__}: {error}")
        return False
    with transaction.atomic():
        row.update(webhook_due_at=None, webhook_attempts=F("webhook_attempts") + 1)
        own.update(failures=0, paused_until=None, last_error="")
    return True


def _note_failure(
    receiver: NotificationSettings, notification: Notification, why: str
) -> None:
    why = why.replace("\0", "").encode(errors="replace").decode()[:ERROR_LENGTH]
    seconds = FIRST_PAUSE_SECONDS * 2.0 ** min(receiver.failures, 20)
    pause = timedelta(seconds=min(seconds, LONGEST_PAUSE_SECONDS))
    is_given_up = notification.webhook_attempts + 1 >= MAX_ATTEMPTS
    with transaction.atomic():
        Notification.objects.filter(id=notification.id).update(
            webhook_attempts=F("webhook_attempts") + 1,
            webhook_due_at=None if is_given_up else notification.webhook_due_at,
        )
        NotificationSettings.objects.filter(user_id=receiver.user_id).update(
            failures=F("failures") + 1,
            paused_until=timezone.now() + pause,
            last_error=why,
        )


def _deliver(receiver: NotificationSettings, message: Message) -> None:
    webhook.post(
        receiver.webhook_address,
        receiver.webhook_secret,
        message,
        settings.WEBHOOK_HOSTS,
        body=SERVICES[receiver.webhook_service].body(message),
    )


def _message(notification: Notification) -> Message:
    return Message(
        id=uuid.uuid5(NUMBERS, str(notification.id)),
        title=notification.title,
        summary=notification.summary,
        severity=notification.severity,
        project=notification.project.name,
        run=notification.run.name if notification.run else "",
        stage="",
        raised_at=notification.created_at,
        url=f"{settings.PUBLIC_URL}{notification.address}",
    )
