"""Reads and changes a user's notification settings."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo, available_timezones

from django.conf import settings
from django.db.models import QuerySet

from tracker.actions.people.mail import can_mail
from tracker.alerts.peers import check_url
from tracker.alerts.services import SERVICES
from tracker.errors import InvalidInput
from tracker.models import (
    MailSchedule,
    NotificationKind,
    NotificationSettings,
    User,
)

DIGEST_HOUR = time(8)
# The kinds mailed by default, if there is a mail server.
USUAL_KINDS = (
    NotificationKind.FAILURE,
    NotificationKind.RULE,
    NotificationKind.MENTION,
)


@dataclass(frozen=True, slots=True)
class Wishes:
    """The settings of a user that affect delivery."""

    user_id: int
    settings: NotificationSettings
    has_mail: bool

    def mail_due_at(self, kind: str, now: datetime) -> datetime | None:
        if not self.has_mail or kind not in self.settings.mail_kinds:
            return None
        if self.settings.mail_schedule == MailSchedule.NOW:
            return now
        return next_digest(now, self.settings.time_zone)

    def wants_webhook(self, kind: str) -> bool:
        return bool(
            self.settings.webhook_service and kind in self.settings.webhook_kinds
        )


@dataclass(frozen=True, slots=True)
class SettingsRequest:
    """The form of the settings page."""

    mail_kinds: Collection[str]
    webhook_kinds: Collection[str]
    mail_schedule: str
    time_zone: str
    webhook_service: str
    webhook_address: str


def usual_settings(user_id: int) -> NotificationSettings:
    """Return the unsaved default settings."""
    kinds = [kind.value for kind in USUAL_KINDS]
    return NotificationSettings(user_id=user_id, mail_kinds=kinds, webhook_kinds=kinds)


def settings_of(user_id: int) -> NotificationSettings:
    known = NotificationSettings.objects.filter(user_id=user_id).first()
    return known or usual_settings(user_id)


def settings_of_users(users: QuerySet[User]) -> list[Wishes]:
    """Return the settings of each of the users, in two queries."""
    mails = dict(users.values_list("id", "email"))
    known = NotificationSettings.objects.in_bulk(mails)
    has_server = can_mail()
    return [
        Wishes(
            user_id=user_id,
            settings=known.get(user_id) or usual_settings(user_id),
            has_mail=bool(has_server and email),
        )
        for user_id, email in mails.items()
    ]


def change_settings(user_id: int, fields: SettingsRequest) -> NotificationSettings:
    """Store the settings; a changed webhook loses its old failures."""
    row = settings_of(user_id)
    if fields.mail_schedule not in MailSchedule.values:
        raise InvalidInput("schedule", "is not a known schedule")
    if fields.time_zone and fields.time_zone not in available_timezones():
        raise InvalidInput("time zone", "must be a name such as Europe/Berlin")
    _change_webhook(row, fields.webhook_service, fields.webhook_address.strip())
    row.mail_kinds = _known_kinds(fields.mail_kinds)
    row.webhook_kinds = _known_kinds(fields.webhook_kinds)
    row.mail_schedule, row.time_zone = fields.mail_schedule, fields.time_zone
    row.save()
    return row


def next_digest(now: datetime, time_zone: str) -> datetime:
    """Return the next 08:00 of the time zone."""
    zone = ZoneInfo(time_zone or "UTC")
    local = now.astimezone(zone)
    at_eight = datetime.combine(local.date(), DIGEST_HOUR, zone)
    if at_eight <= local:
        at_eight = datetime.combine(local.date() + timedelta(days=1), DIGEST_HOUR, zone)
    return at_eight


def _known_kinds(kinds: Iterable[str]) -> list[str]:
    return [kind for kind in NotificationKind.values if kind in set(kinds)]


def _change_webhook(row: NotificationSettings, service: str, address: str) -> None:
    if not service:
        address = ""
    elif service not in SERVICES:
        raise InvalidInput("service", "is not a known service")
    else:
        check_url(address, settings.WEBHOOK_HOSTS)
    if (row.webhook_service, row.webhook_address) == (service, address):
        return
    row.webhook_service, row.webhook_address = service, address
    row.webhook_secret = secrets.token_urlsafe(32) if service else ""
    row.failures, row.paused_until, row.last_error = 0, None, ""
