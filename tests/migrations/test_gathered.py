"""Runs from before there were rows of what is gathered have them after `migrate`."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from tests.builders import make_run, write_series, write_tags, write_values
from tests.tracker.queries.findings import add_finding
from tests.tracker.queries.ledgers import add_ledger
from tests.web.sample_run import make_sample_run
from tracker.actions.gathering import is_gathered
from tracker.models import Diagnosis, Gathered
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

migration = import_module("migrations.0030_gather_runs")
breakdowns = import_module("migrations.0035_time_breakdown")


def gather() -> None:
    migration.gather(apps, connection.schema_editor())
    breakdowns.rename(apps, connection.schema_editor())


def test_every_run_has_what_would_have_been_gathered(project, monkeypatch):
    monkeypatch.setattr(migration, "RUNS_AT_ONCE", 2)
    runs = [make_run(project, "bare"), make_sample_run(project)]
    busy = make_run(project, "busy")
    write_values(busy, {"monitoring/train/facts/effective_cores": 4.0})
    write_tags(busy, "b", "ä")
    write_series(busy, "monitoring/train/gpu/0/utilization_percent", [20.0, 70.0])
    write_series(busy, "monitoring/train/rank-1/gpu/1/utilization_percent", [90.0])
    write_series(busy, "monitoring/train/job/cpu_cores", [1.0, 2.0])
    write_series(busy, "monitoring/train/rank-1/job/cpu_cores", [4.0])
    compact_run(busy.id)
    add_ledger(busy, gpus=2, useful=100.0, idle=50.0, unknown=1.0, energy=9.0)
    for title, severity in (("small", "notice"), ("large", "critical")):
        add_finding(busy, title, severity=severity)
    runs += [busy, make_run(project, "more"), make_run(project, "most")]
    Gathered.objects.all().delete()

    gather()

    assert Gathered.objects.count() == len(runs)
    assert [run.name for run in runs if not is_gathered(run.id)] == []


def test_stored_time_that_was_called_useful_is_not_attributed(project, monkeypatch):
    monkeypatch.setattr(breakdowns, "ROWS_AT_ONCE", 1)
    old = {"gpus": 2, "energy_joules": 9.0, "useful": 80.0, "initialisation": 20.0}
    for name in ("first", "second"):
        run = make_run(project, name)
        add_ledger(run, computing=1.0)
        Diagnosis.objects.filter(run=run).update(ledger=old)

    breakdowns.rename(apps, connection.schema_editor())
    breakdowns.rename(apps, connection.schema_editor())

    new = {"gpus": 2, "energy_joules": 9.0, "unattributed": 80.0}
    new["initialization"] = 20.0
    assert list(Diagnosis.objects.values_list("ledger", flat=True)) == [new, new]
    assert list(Gathered.objects.values_list("gpu_idle", flat=True)) == [None, None]


def test_it_goes_on_where_it_was_interrupted(project):
    first, second = make_run(project, "first"), make_run(project, "second")
    Gathered.objects.filter(run=second).delete()
    Gathered.objects.filter(run=first).update(stages=7)

    gather()
    gather()

    rows = Gathered.objects.order_by("created_at")
    assert list(rows.values_list("run_id", "stages")) == [
        *((first.id, 7), (second.id, 1))
    ]
