from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.builders import (
    make_member,
    make_project,
    make_run,
    write_series,
    write_values,
)
from tracker.models import Project, Run, Stage
from tracker.queries.diagnoses.best_rates import best_read_rate
from tracker.queries.diagnoses.signals import read_measurements
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

MB = 1e6


@pytest.fixture
def project() -> Project:
    return make_project(make_member())


def run_on(project: Project, host: str, *rates: float, stage: str = "train") -> Run:
    run = make_run(project, f"run-{Run.objects.count()}")
    prefix = f"monitoring/{stage}"
    write_values(run, {f"{prefix}/facts/host": host}, stage=stage)
    write_series(run, f"{prefix}/job/read_bytes_per_second", rates, stage=stage)
    compact_run(run.id)
    return run


def stage_of(run: Run) -> Stage:
    return Stage.objects.select_related("run").get(run=run, name="train")


def test_the_best_of_earlier_runs_on_the_host(project):
    run_on(project, "node-1", 100 * MB, 300 * MB, 200 * MB)
    run_on(project, "node-1", 150 * MB)
    run_on(project, "node-2", 900 * MB)
    run = run_on(project, "node-1", 500 * MB)

    assert best_read_rate(stage_of(run), "node-1") == 300 * MB


def test_none_where_no_other_run_read(project):
    run = run_on(project, "node-1", 500 * MB)
    run_on(project, "node-1", 0.0)

    assert best_read_rate(stage_of(run), "node-1") is None
    assert best_read_rate(stage_of(run), "node-9") is None


def test_runs_of_other_projects_and_in_the_trash_do_not_count(project):
    other = make_project(make_member(name="other"), "secret")
    run_on(other, "node-1", 900 * MB)
    trashed = run_on(project, "node-1", 900 * MB)
    Run.objects.filter(id=trashed.id).update(trashed_at=timezone.now())
    run = run_on(project, "node-1", 500 * MB)

    assert best_read_rate(stage_of(run), "node-1") is None


def test_it_takes_three_statements_however_many_runs(project):
    run = run_on(project, "node-1", 500 * MB)
    for rate in (1.0, 2.0, 3.0):
        run_on(project, "node-1", rate * MB)

    with CaptureQueriesContext(connection) as statements:
        assert best_read_rate(stage_of(run), "node-1") == 3 * MB

    # One statement reads the stage.
    assert len(statements) == 4


def test_rules_get_it_as_a_fact(project):
    run_on(project, "node-1", 300 * MB)
    run = run_on(project, "node-1", 100 * MB)

    facts = read_measurements(stage_of(run)).facts

    assert facts["best_read_bytes_per_second"] == 300 * MB
