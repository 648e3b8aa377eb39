import time
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from tests.builders import points_message, write
from tracker.actions.heartbeats import record_heartbeat
from tracker.api.v1 import health
from tracker.models import Heartbeat, JournalEntry, ProcessRole

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.postgresql]


@pytest.fixture
def long_running(monkeypatch):
    """A web server whose background processes have had time to start."""
    monkeypatch.setattr(health, "_started_at", time.monotonic() - 3600)


def test_alive_without_a_database(client, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert client.get("/livez").json() == {"status": "alive"}


def test_ready_when_the_database_is_current(client, long_running):
    for role in ProcessRole:
        record_heartbeat(role)

    response = client.get("/readyz")

    assert response.status_code == 200
    assert response.json() == {
        "status": "ready",
        "background_work": "on time",
        "missing": [],
    }


def test_names_a_worker_that_never_reported(client, long_running):
    record_heartbeat(ProcessRole.SCHEDULER)

    response = client.get("/readyz")

    assert response.status_code == 200
    assert response.json()["status"] == "degraded"
    assert response.json()["missing"] == ["worker"]


def test_names_a_scheduler_within_a_minute_of_its_last_heartbeat(client, long_running):
    record_heartbeat(ProcessRole.WORKER)
    record_heartbeat(ProcessRole.SCHEDULER)
    assert client.get("/readyz").json()["missing"] == []
    Heartbeat.objects.filter(role=ProcessRole.SCHEDULER).update(
        beat_at=timezone.now() - timedelta(seconds=59)
    )

    assert client.get("/readyz").json()["missing"] == ["scheduler"]


def test_names_no_process_that_may_still_be_starting(client, monkeypatch):
    monkeypatch.setattr(health, "_started_at", time.monotonic())

    assert client.get("/readyz").json()["missing"] == []


def test_reports_background_work_that_is_behind(client, run):
    write(run, [points_message("x", [1.0])])
    assert client.get("/readyz").json()["background_work"] == "on time"
    JournalEntry.objects.update(received_at=timezone.now() - timedelta(minutes=5))

    response = client.get("/readyz")

    assert response.status_code == 200
    assert response.json()["background_work"] == "behind"
    assert response.json()["status"] == "degraded"


def test_not_ready_when_migrations_are_missing(client, monkeypatch):
    monkeypatch.setattr(health, "has_current_schema", lambda: False)

    assert client.get("/readyz").status_code == 503


def test_not_ready_on_a_database_that_newer_code_has_migrated(client):
    MigrationRecorder(connection).record_applied("tracker", "9999_newer")

    response = client.get("/readyz")

    assert response.status_code == 503
    assert response.json()["reason"] == "the database is newer than this version"


def test_not_ready_without_the_database(client, monkeypatch):
    def away():
        raise OperationalError

    monkeypatch.setattr(health, "has_current_schema", away)

    response = client.get("/readyz")

    assert response.status_code == 503
    assert response.json()["reason"] == "the database is not reachable"
