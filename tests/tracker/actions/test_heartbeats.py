from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tracker.actions.heartbeats import record_heartbeat
from tracker.models import Heartbeat, ProcessRole

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_each_heartbeat_replaces_the_last_one_of_its_role():
    long_ago = timezone.now() - timedelta(hours=1)
    Heartbeat.objects.create(role=ProcessRole.WORKER, beat_at=long_ago)

    record_heartbeat(ProcessRole.WORKER)
    record_heartbeat(ProcessRole.SCHEDULER)

    beats = dict(Heartbeat.objects.values_list("role", "beat_at"))
    assert set(beats) == set(ProcessRole)
    assert min(beats.values()) > long_ago + timedelta(minutes=59)
