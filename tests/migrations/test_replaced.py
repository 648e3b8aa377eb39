"""Databases created before the migrations were squashed."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from tracker.queries.health import has_current_schema, unknown_migrations

pytestmark = [pytest.mark.django_db, pytest.mark.database]
NEW = ("0001_schema", "0002_storage")


@pytest.fixture
def old_database():
    """Record the old migrations instead of those that replace them."""
    recorder = MigrationRecorder(connection)
    disk = MigrationLoader(None).disk_migrations
    for name in NEW:
        for _, replaced in disk["tracker", name].replaces:
            recorder.record_applied("tracker", replaced)
        recorder.record_unapplied("tracker", name)


@pytest.mark.usefixtures("old_database")
def test_a_database_with_all_old_migrations_is_current():
    assert has_current_schema()
    assert unknown_migrations() == []
