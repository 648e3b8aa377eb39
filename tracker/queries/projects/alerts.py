"""Alerts of a project, and the channels they are sent to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Q

from tracker.models import Alert, Channel, Project

ALERTS_SHOWN = 200


@dataclass(frozen=True, slots=True)
class AlertRow:
    id: UUID
    run_id: UUID
    run_name: str
    stage: str
    severity: str
    title: str
    summary: str
    raised_at: datetime


@dataclass(frozen=True, slots=True)
class ChannelRow:
    """`given_up_count` is the number of alerts whose delivery failed."""

    id: int
    kind: str
    address: str
    secret: str
    severity: str
    waiting_count: int
    given_up_count: int
    paused_until: datetime | None
    last_error: str


def newest_alerts(project: Project) -> list[AlertRow]:
    """Return the newest alerts of runs that are not in the trash."""
    alerts = Alert.objects.filter(project=project, run__trashed_at=None)
    return [
        AlertRow(
            id=alert.id,
            run_id=alert.run_id,
            run_name=alert.run.name,
            stage=alert.stage,
            severity=alert.severity,
            title=alert.title,
            summary=alert.summary,
            raised_at=alert.raised_at,
        )
        for alert in alerts.select_related("run").order_by("-raised_at")[:ALERTS_SHOWN]
    ]


def channels_of(project: Project) -> list[ChannelRow]:
    channels = Channel.objects.filter(project=project).annotate(
        waiting=Count("deliveries", filter=Q(deliveries__due_at__isnull=False)),
        given_up=Count(
            "deliveries",
            filter=Q(deliveries__due_at=None, deliveries__sent_at=None),
        ),
    )
    return [
        ChannelRow(
            id=channel.id,
            kind=channel.kind,
            address=channel.address,
            secret=channel.secret,
            severity=channel.severity,
            waiting_count=channel.waiting,
            given_up_count=channel.given_up,
            paused_until=channel.paused_until,
            last_error=channel.last_error,
        )
        for channel in channels.order_by("id")
    ]
