"""Adds, tests and removes the alert channels of a project."""

from __future__ import annotations

import secrets
import uuid
from datetime import timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from tracker.actions.alerts import deliver
from tracker.actions.names import expect_room
from tracker.actions.people.audit import Action
from tracker.actions.people.audit_context import AuditContext
from tracker.alerts.message import Message
from tracker.alerts.peers import check_url
from tracker.diagnosis.engine.finding import Severity
from tracker.errors import InvalidInput, NotFound
from tracker.models import Channel, ChannelKind, Delivery, Project

MAX_CHANNELS = 20


def add_channel(
    project: Project,
    kind: str,
    address: str,
    severity: str,
    audit: AuditContext | None = None,
) -> Channel:
    """Return the channel; update it if it already exists."""
    if severity not in {str(known) for known in Severity}:
        raise InvalidInput("severity", "must be one of the choices")
    if kind not in ChannelKind.values:
        raise InvalidInput("kind", "must be one of the choices")
    if kind == ChannelKind.EMAIL:
        _check_mail(address)
    else:
        check_url(address, settings.WEBHOOK_HOSTS)

    with transaction.atomic():
        # An existing channel does not count towards the limit.
        others = Channel.objects.filter(project=project)
        if others.filter(kind=kind, address=address).exists():
            others = others.none()
        expect_room(project, others, MAX_CHANNELS, "channel")
        channel, _ = Channel.objects.update_or_create(
            project=project,
            kind=kind,
            address=address,
            defaults={"severity": severity},
            create_defaults={
                "severity": severity,
                "secret": secrets.token_urlsafe(32),
            },
        )
        _note(Action.CHANNEL_ADDED, channel, audit, severity=severity)
    return channel


def _check_mail(address: str) -> None:
    if not settings.SMTP_URL:
        raise InvalidInput("address", "needs a mail server: set SEAMARK_SMTP_URL")
    try:
        validate_email(address)
    except ValidationError:
        raise InvalidInput("address", "must be an e-mail address") from None


def remove_channel(
    project: Project, channel_id: int, audit: AuditContext | None = None
) -> None:
    channel = Channel.objects.filter(project=project, id=channel_id).first()
    if channel is not None:
        with transaction.atomic():
            _note(Action.CHANNEL_REMOVED, channel, audit)
            channel.delete()


def _note(
    action: Action, channel: Channel, audit: AuditContext | None, **details: object
) -> None:
    """Record the change in the audit log; webhook URLs are secrets, so only their host."""
    if audit is None:
        return
    project, address = channel.project, channel.address
    is_mail = channel.kind == ChannelKind.EMAIL
    audit.note(
        action,
        address if is_mail else urlsplit(address).hostname or "",
        project.workspace,
        project=project.name,
        kind=channel.kind,
        **details,
    )


def try_channel(project: Project, channel_id: int) -> None:
    """Send a test message; raise NotDelivered if it is not accepted."""
    channel = Channel.objects.filter(project=project, id=channel_id).first()
    if channel is None:
        raise NotFound("channel")
    workspace = project.workspace.slug
    deliver(
        channel,
        Message(
            id=uuid.uuid4(),
            title="Test message",
            summary="Alerts of this project will be sent here.",
            severity=str(Severity.NOTICE),
            project=project.name,
            run="trial",
            stage="trial",
            raised_at=timezone.now(),
            url=f"{settings.PUBLIC_URL}/w/{workspace}/{project.slug}/alerts",
        ),
    )


def send_again(project: Project, channel_id: int) -> None:
    """Retry messages that were given up, now."""
    now = timezone.now()
    given_up = Delivery.objects.filter(
        channel__project=project, channel_id=channel_id, due_at=None, sent_at=None
    )
    given_up.filter(alert__raised_at__gt=now - timedelta(days=30)).update(
        due_at=now, attempts=0
    )
    Channel.objects.filter(project=project, id=channel_id).update(
        paused_until=None, failures=0
    )
