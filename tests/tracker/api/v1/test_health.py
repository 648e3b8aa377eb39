from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from tests.builders import points_message, write
from tracker.api.v1 import health
from tracker.models import JournalEntry

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_alive_without_a_database(client, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert client.get("/livez").json() == {"status": "alive"}


def test_ready_when_the_database_is_current(client):
    response = client.get("/readyz")

    assert response.status_code == 200
    assert response.json() == {"status": "ready", "background_work": "on time"}


def test_says_when_nobody_does_the_background_work(client, run):
    write(run, [points_message("x", [1.0])])
    assert client.get("/readyz").json()["background_work"] == "on time"
    JournalEntry.objects.update(received_at=timezone.now() - timedelta(minutes=5))

    response = client.get("/readyz")

    assert response.status_code == 200
    assert response.json()["background_work"] == "behind"


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
    assert response.json()["reason"] == "the database does not answer"
