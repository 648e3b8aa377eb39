"""Raises each alert once, and sends it until it is delivered or given up.

If a worker is killed while it sends, its lease expires and the message is sent again
with the same id, by which receivers recognize it.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from tracker.actions.people.notifications import News, notify
from tracker.alerts import mail, webhook
from tracker.alerts.message import Message
from tracker.alerts.services import SERVICES
from tracker.alerts.services.plain import PLAIN
from tracker.alerts.webhook import NotDelivered
from tracker.diagnosis.engine.causes import SEVERITIES
from tracker.diagnosis.engine.finding import Severity
from tracker.diagnosis.engine.judgement import LIKELY_FROM, Judgement
from tracker.models import (
    Alert,
    Channel,
    ChannelKind,
    Delivery,
    NotificationKind,
    Stage,
    State,
)
from tracker.queries.people.follows import followers_of

logger = logging.getLogger(__name__)

# Findings about stages that ended earlier, as when old runs are diagnosed again, raise
# no alert.
NEWS = timedelta(hours=1)

LEASE = timedelta(seconds=60)
# Maximum messages that a worker sends to one channel per turn.
AT_ONCE = 20
# Above this rate, messages to a channel are delayed.
MAX_PER_HOUR = 100
HOUR = timedelta(hours=1)

FIRST_PAUSE_SECONDS = 10.0
LONGEST_PAUSE_SECONDS = 3600.0
# About eight hours of retries.
MAX_ATTEMPTS = 16

ERROR_LENGTH = 500

BROKEN = {
    State.FAILED: "Stage failed",
    State.CRASHED: "Stage crashed or its machine went offline",
}
# Rules whose finding explains a failure.
CAUSES_OF_FAILURE = ("memory-ran-out", "gpu-reports-errors")
# Rules whose finding counts as a failure while the stage is still running.
HANGS = ("training-stands-still",)


def raise_alerts(stage: Stage, judgements: Iterable[Judgement], now: datetime) -> None:
    """Raise alerts for new findings of the stage; call within a transaction."""
    if stage.ended_at is not None and stage.ended_at < now - NEWS:
        return
    worth = [judgement for judgement in judgements if _is_worth_an_alert(judgement)]
    if stage.state in BROKEN:
        cause = next((each for each in worth if each.rule in CAUSES_OF_FAILURE), None)
        worth = [each for each in worth if each is not cause]
        found = [_of_failure(stage, cause), *(_of_finding(stage, j) for j in worth)]
    else:
        found = [_of_finding(stage, judgement) for judgement in worth]
    if not found:
        return

    subjects = {alert.subject for alert in found}
    known = Alert.objects.filter(
        run_id=stage.run_id, stage=stage.name, subject__in=subjects
    )
    old = set(known.values_list("subject", flat=True))
    new = [alert for alert in found if alert.subject not in old]
    if not new:
        return
    followers = followers_of(stage.run)
    for alert in new:
        alert.project, alert.run = stage.run.project, stage.run
        _store(alert, followers, now)


def raise_alert(alert: Alert, *, also: Collection[int] = ()) -> None:
    """Raise one alert for the channels, the followers and the users in `also`.

    The alert has its project and run loaded and a new subject; call within a
    transaction.
    """
    _store(alert, followers_of(alert.run) | set(also), timezone.now())


def _store(alert: Alert, user_ids: Collection[int], now: datetime) -> None:
    alert.raised_at = now
    alert.save(force_insert=True)
    Delivery.objects.bulk_create(
        Delivery(run_id=alert.run_id, alert=alert, channel=channel, due_at=now)
        for channel in Channel.objects.filter(project_id=alert.project_id)
        if _weight(alert.severity) >= _weight(channel.severity)
    )
    notify(user_ids, news_of(alert), project=alert.project, run=alert.run, now=now)


def news_of(alert: Alert) -> News:
    return News(
        kind=_kind_of(alert.subject),
        incident=f"alert:{alert.id}",
        title=alert.title,
        summary=alert.summary,
        address=f"/runs/{alert.run_id}/",
        severity=alert.severity,
    )


def _kind_of(subject: str) -> NotificationKind:
    if subject.startswith("rule:"):
        return NotificationKind.RULE
    if subject.startswith("state ") or subject.partition(" ")[0] in HANGS:
        return NotificationKind.FAILURE
    return NotificationKind.FINDING


def _is_worth_an_alert(judgement: Judgement) -> bool:
    """Return whether to alert: no symptoms, no merely possible findings, no notices."""
    return (
        not judgement.explained_by
        and not judgement.comes_after
        and judgement.confidence >= LIKELY_FROM
        and judgement.finding.severity is not Severity.NOTICE
    )


def _of_finding(stage: Stage, judgement: Judgement) -> Alert:
    return Alert(
        project_id=stage.run.project_id,
        run_id=stage.run_id,
        stage=stage.name,
        subject=f"{judgement.rule} {judgement.scope}".strip(),
        severity=str(judgement.finding.severity),
        title=judgement.title[:300],
        summary=judgement.finding.summary,
    )


def _of_failure(stage: Stage, cause: Judgement | None) -> Alert:
    """Return one alert per failure: its cause, if a rule found one, else the state."""
    alert = _of_state(stage)
    if cause is not None:
        alert.title, alert.summary = cause.title[:300], cause.finding.summary
    return alert


def _of_state(stage: Stage) -> Alert:
    return Alert(
        project_id=stage.run.project_id,
        run_id=stage.run_id,
        stage=stage.name,
        subject=f"state {stage.state}",
        severity=str(Severity.CRITICAL),
        title=BROKEN[State(stage.state)],
        summary=f"{stage.name} of {stage.run.name} ended as {stage.state}.",
    )


def _weight(severity: str) -> int:
    return SEVERITIES.index(Severity(severity))


def channels_to_send() -> list[int]:
    """Return the channels with due messages that no worker holds."""
    now = timezone.now()
    due = Delivery.objects.filter(due_at__lte=now).values("channel_id")
    free = Channel.objects.filter(is_free(now), id__in=due)
    return list(free.values_list("id", flat=True))


def is_free(now: datetime) -> Q:
    """Match receivers without a lease or a pause."""
    return Q(Q(leased_until=None) | Q(leased_until__lt=now)) & Q(
        Q(paused_until=None) | Q(paused_until__lte=now)
    )


def send_to(channel_id: int) -> None:
    """Send due messages unless another worker does; stop at the first failure."""
    now = timezone.now()
    leased_until = now + LEASE
    taken = Channel.objects.filter(is_free(now), id=channel_id).update(
        leased_until=leased_until
    )
    channel = Channel.objects.select_related("project").filter(id=channel_id).first()
    if not taken or channel is None:
        return
    try:
        for delivery in _due(channel, now):
            if timezone.now() > now + LEASE / 2 or not _send(channel, delivery):
                break
    finally:
        Channel.objects.filter(id=channel_id, leased_until=leased_until).update(
            leased_until=None
        )


def _due(channel: Channel, now: datetime) -> list[Delivery]:
    deliveries = Delivery.objects.filter(channel=channel)
    sent = deliveries.filter(sent_at__gt=now - HOUR).count()
    # After an expired lease, two workers together may exceed the limit.
    allowed = max(0, min(AT_ONCE, MAX_PER_HOUR - sent))
    due = deliveries.filter(due_at__lte=now).select_related("alert__run")
    return list(due.order_by("due_at", "id")[:allowed])


def _send(channel: Channel, delivery: Delivery) -> bool:
    """Return whether the message was delivered; record the error for the settings page."""
    try:
        deliver(channel, message_of(delivery.alert, channel))
    except NotDelivered as error:
        _note_failure(channel, delivery, str(error))
        return False
    except Exception as error:
        # One receiver must not delay the others.
        logger.exception("alert %s could not be sent", delivery.alert_id)
        _note_failure(channel, delivery, f"{type(error).__name__}: {error}")
        return False

    with transaction.atomic():
        Delivery.objects.filter(id=delivery.id).update(
            sent_at=timezone.now(),
            due_at=None,
            last_error="",
            attempts=F("attempts") + 1,
        )
        Channel.objects.filter(id=channel.id).update(
            failures=0, paused_until=None, last_error=""
        )
    return True


def _note_failure(channel: Channel, delivery: Delivery, why: str) -> None:
    why = why.replace("\0", "").encode(errors="replace").decode()[:ERROR_LENGTH]
    seconds = FIRST_PAUSE_SECONDS * 2.0 ** min(channel.failures, 20)
    pause = timedelta(seconds=min(seconds, LONGEST_PAUSE_SECONDS))
    is_given_up = delivery.attempts + 1 >= MAX_ATTEMPTS
    with transaction.atomic():
        Delivery.objects.filter(id=delivery.id).update(
            attempts=F("attempts") + 1,
            last_error=why,
            due_at=None if is_given_up else delivery.due_at,
        )
        Channel.objects.filter(id=channel.id).update(
            failures=F("failures") + 1,
            paused_until=timezone.now() + pause,
            last_error=why,
        )


def deliver(channel: Channel, message: Message) -> None:
    """Send one message; raise NotDelivered unless it was accepted."""
    if channel.kind != ChannelKind.EMAIL:
        service = SERVICES.get(channel.kind, PLAIN)
        webhook.post(
            channel.address,
            channel.secret,
            message,
            settings.WEBHOOK_HOSTS,
            body=service.body(message),
        )
        return
    if not settings.SMTP_URL:
        raise NotDelivered("No mail server is set (SEAMARK_SMTP_URL).")
    host = urlsplit(settings.PUBLIC_URL).hostname or "localhost"
    mail.send(
        channel.address,
        message,
        smtp_url=settings.SMTP_URL,
        sender=settings.MAIL_FROM or f"seamark@{host}",
        host=host,
    )


def message_of(alert: Alert, channel: Channel) -> Message:
    return Message(
        id=alert.id,
        title=alert.title,
        summary=alert.summary,
        severity=alert.severity,
        project=channel.project.name,
        run=alert.run.name,
        stage=alert.stage,
        raised_at=alert.raised_at,
        url=f"{settings.PUBLIC_URL}/runs/{alert.run_id}/",
    )
