"""Runs from before durations were stored have them after `migrate`."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps

from tests.builders import START, Process, make_run
from tests.web.sample_run import make_sample_run
from tracker.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

migration = import_module("migrations.0039_fill_active_time")


def test_every_run_has_the_time_that_would_have_been_stored(project, monkeypatch):
    monkeypatch.setattr(migration, "RUNS_AT_ONCE", 2)
    make_sample_run(project)
    make_run(project, "running")
    make_run(project, "failed", "failed")
    Process(project, "twice", time=START).open()
    rows = Run.objects.order_by("id").values_list("active_seconds", "active_since")
    stored = list(rows)
    Run.objects.update(active_seconds=None, active_since=None)

    migration.fill(apps, None)
    migration.fill(apps, None)

    assert list(rows) == stored
