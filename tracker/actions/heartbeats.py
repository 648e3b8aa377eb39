"""Records that a background process runs."""

from __future__ import annotations

from django.db.models.functions import Now

from tracker.models import Heartbeat, ProcessRole


def record_heartbeat(role: ProcessRole) -> None:
    Heartbeat.objects.bulk_create(
        [Heartbeat(role=role, beat_at=Now())],
        update_conflicts=True,
        unique_fields=["role"],
        update_fields=["beat_at"],
    )
