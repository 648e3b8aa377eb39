from __future__ import annotations

from datetime import timedelta

import pytest

from tests.builders import (
    SECOND,
    START,
    make_member,
    make_project,
    make_run,
    write_series,
    write_values,
)
from tracker.models import Run, Stage, State
from tracker.queries.diagnoses.earlier_gpu_use import facts_of_earlier_runs
from tracker.queries.diagnoses.signals import read_measurements
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

CARD = 80 * 2**30


@pytest.fixture
def project():
    return make_project(make_member())


def ran(project, name, *, hours_ago, percent=5.0, share=0.1, card=CARD, minutes=10):
    """An ended run with one GPU, including its summaries."""
    run = make_run(project, name, state=State.FINISHED)
    times = [START, START + minutes * 60 * SECOND]
    prefix = "monitoring/train"
    for path, value in (
        ("gpu/0/utilization_p95_percent", percent),
        ("gpu/0/memory_used_bytes", share * card),
    ):
        write_series(run, f"{prefix}/{path}", [value, value], times=times)
    write_values(run, {f"{prefix}/facts/gpu/0/memory_total_bytes": card})
    compact_run(run.id)
    started_at = run.created_at - timedelta(hours=hours_ago)
    Run.objects.filter(pk=run.pk).update(started_at=started_at, state=State.FINISHED)
    return run


def stage_of(run) -> Stage:
    return Stage.objects.select_related("run").get(run=run, name="train")


def ask(run):
    return facts_of_earlier_runs(stage_of(run), [float(CARD)])


def test_the_most_that_earlier_runs_used(project):
    ran(project, "first", hours_ago=3, percent=4.0, share=0.2)
    ran(project, "second", hours_ago=2, percent=9.0, share=0.1)
    now = ran(project, "now", hours_ago=1, percent=99.0)
    ran(project, "later", hours_ago=0, percent=50.0)

    facts = ask(now)

    assert facts["earlier_runs"] == 2.0
    assert facts["earlier_runs_gpu_p95_percent"] == pytest.approx(9.0)
    assert facts["earlier_runs_gpu_memory_share"] == pytest.approx(0.2)


def test_runs_that_cannot_be_compared_are_left_out(project):
    ran(project, "another card", hours_ago=5, card=24 * 2**30)
    ran(project, "a trial", hours_ago=4, minutes=2)
    trashed = ran(project, "in the trash", hours_ago=3)
    Run.objects.filter(pk=trashed.pk).update(trashed_at=trashed.created_at)
    running = ran(project, "still running", hours_ago=2)
    Run.objects.filter(pk=running.pk).update(state=State.RUNNING)
    now = ran(project, "now", hours_ago=1)

    assert ask(now) == {"earlier_runs": 0.0}


def test_a_gpu_that_was_not_measured_hides_its_run(project):
    before = ran(project, "before", hours_ago=2)
    write_values(before, {"monitoring/train/facts/gpu/1/memory_total_bytes": CARD})

    assert ask(ran(project, "now", hours_ago=1)) == {"earlier_runs": 0.0}


def test_without_gpus_there_are_no_facts_of_earlier_runs(project):
    run = ran(project, "now", hours_ago=1)

    assert facts_of_earlier_runs(stage_of(run), []) == {}


def test_rules_get_them_as_facts(project):
    ran(project, "before", hours_ago=2, percent=7.0)
    now = ran(project, "now", hours_ago=1)

    facts = read_measurements(stage_of(now)).facts

    assert facts["earlier_runs"] == 1.0
    assert facts["earlier_runs_gpu_p95_percent"] == pytest.approx(7.0)
