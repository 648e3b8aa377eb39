from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import timezone

from tests.builders import START, make_run
from tests.tracker.queries.ledgers import add_ledger
from tests.web.sample_run import make_sample_run
from tracker.models import Attribute, Diagnosis, Kind, Run
from tracker.queries.hardware.gpu_hours import (
    Group,
    hours_by,
    most_wasted,
    total_hours,
    trend_of,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)  # a Wednesday


def diagnosed(project, name: str, *, started: datetime | None = None, **more) -> Run:
    run = make_run(project, name, "finished")
    add_ledger(run, **more)
    if started is not None:
        Run.objects.filter(id=run.id).update(started_at=started)
    return run


def test_adds_up_by_member_the_largest_first(project, stranger):
    diagnosed(project, "one", computing=100.0, idle=20.0)
    theirs = diagnosed(project, "two", computing=10.0, data_wait=500.0)
    Run.objects.filter(id=theirs.id).update(made_by=stranger.user)
    diagnosed(project, "without", gpus=0, computing=1e6)

    members = hours_by(project, Group.MEMBER)

    assert total_hours(project).seconds == pytest.approx(630)
    assert [(m.name, m.run_count) for m in members] == [("mallory", 1), ("ada", 1)]
    assert members[0].ledger.share_of["data_wait"] == pytest.approx(0.98)
    assert [run.name for run in most_wasted(project)] == ["two", "one"]


def test_adds_up_by_machine_and_gpu_type(project):
    for name, host, gpu in (("a", "gpu-a", "H100"), ("b", "gpu-b", "H100")):
        run = diagnosed(project, name, computing=60.0)
        run.spools.update(host=host)
        stage = run.stages.get().name
        Attribute.objects.create(
            run=run,
            project=project,
            path=f"monitoring/{stage}/facts/gpu/0/name",
            kind=Kind.STRING,
            text=gpu,
        )
    diagnosed(project, "c", computing=30.0)

    machines = {
        each.name: each.ledger.seconds for each in hours_by(project, Group.MACHINE)
    }
    gpus = [(each.name, each.run_count) for each in hours_by(project, Group.GPU)]

    assert machines["gpu-a"] == machines["gpu-b"] == pytest.approx(60)
    assert gpus == [("H100", 2), ("", 1)]


def test_names_the_main_finding_of_a_wasteful_run(project):
    run = make_sample_run(project, has_gpu=True)

    [found] = most_wasted(project)

    assert found.run_id == run.id
    assert found.finding


def test_leaves_out_the_trash_and_runs_before_the_period(project):
    gone = diagnosed(project, "gone", computing=5.0)
    Run.objects.filter(id=gone.id).update(trashed_at=timezone.now())
    diagnosed(project, "old", computing=7.0)
    after = datetime.fromtimestamp(START / 1e6 + 1, UTC)

    assert total_hours(project).seconds == pytest.approx(7)
    assert total_hours(project, since=after) is None


def test_adds_up_energy_and_emissions_where_they_are_known(project):
    project.carbon_intensity = 400.0
    project.save()
    diagnosed(project, "one", computing=1.0, energy=7.2e6)
    diagnosed(project, "two", computing=1.0)

    total = total_hours(project)

    assert total.kilowatt_hours == pytest.approx(2)
    assert total.carbon_kilograms == pytest.approx(0.8)


def test_emissions_are_unknown_without_measured_energy(project):
    project.carbon_intensity = 400.0
    project.save()
    diagnosed(project, "one", computing=1.0)

    assert total_hours(project).carbon_kilograms is None


def test_a_week_is_shown_by_day_with_days_without_runs(project):
    diagnosed(project, "today", started=NOW, computing=60.0)
    diagnosed(project, "monday", started=NOW - timedelta(days=2), computing=30.0)

    trend = trend_of(project, since=NOW - timedelta(days=7), now=NOW)

    seconds = [each.ledger.seconds if each.ledger else None for each in trend.periods]
    assert not trend.is_weekly
    assert trend.periods[-1].start == date(2026, 3, 18)
    assert seconds[-3:] == [pytest.approx(30), None, pytest.approx(60)]
    assert len(seconds) == 8


def test_a_quarter_is_shown_by_week_from_monday_on(project):
    diagnosed(project, "sunday", started=NOW - timedelta(days=3), computing=60.0)
    diagnosed(project, "monday", started=NOW - timedelta(days=2), computing=30.0)

    trend = trend_of(project, since=NOW - timedelta(days=90), now=NOW)

    assert trend.is_weekly
    assert [each.start for each in trend.periods[-2:]] == [
        date(2026, 3, 9),
        date(2026, 3, 16),
    ]
    assert [each.ledger.seconds for each in trend.periods[-2:]] == [60.0, 30.0]


def test_all_time_begins_with_the_first_run_and_ends_now(project):
    diagnosed(project, "first", started=NOW - timedelta(days=30), computing=60.0)

    trend = trend_of(project, now=NOW)

    assert trend.periods[0].start == date(2026, 2, 16)
    assert trend.periods[-1].start == date(2026, 3, 16)


def test_one_statement_for_each_part(project, django_assert_num_queries):
    for number in range(4):
        diagnosed(project, f"run {number}", computing=1.0)
    assert Diagnosis.objects.count() == 4

    with django_assert_num_queries(1):
        total_hours(project)
    with django_assert_num_queries(1):
        hours_by(project, Group.MACHINE)
    with django_assert_num_queries(1):
        trend_of(project, now=NOW)
