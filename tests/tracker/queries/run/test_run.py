"""One run for its pages."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.builders import (
    SECOND,
    START,
    Process,
    close_message,
    make_run,
    write_series,
    write_tags,
    write_values,
)
from tracker.models import Run
from tracker.queries.run.run import (
    JOINED_WITHIN,
    SILENT_AFTER,
    has_readings,
    is_live,
    run_overview,
)
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_duration_leaves_out_pauses_and_wall_time_does_not(project):
    for stage, start, end in (("train", 10, 70), ("preprocess", 0, 8)):
        process = Process(project, "both", stage=stage, time=START + start * SECOND)
        process.open()
        process.send([close_message(time=START + end * SECOND)])

    overview = run_overview(process.run)

    assert not overview.is_live
    assert overview.duration == 68
    assert overview.wall_time == 70
    assert [(stage.name, stage.duration) for stage in overview.stages] == [
        ("preprocess", 8),
        ("train", 60),
    ]


def test_a_live_run_lasts_until_now(project):
    run = make_run(project)

    overview = run_overview(run, now=run.started_at + timedelta(seconds=5))

    assert is_live(run)
    assert overview.duration == overview.wall_time == 5
    assert overview.stages[0].duration == 5


def test_a_run_that_just_ended_may_be_joined_by_another_stage(project):
    running, ended = make_run(project, "a"), make_run(project, "b", "finished")
    end = ended.ended_at

    assert run_overview(running, now=end + timedelta(days=1)).may_go_on
    assert run_overview(ended, now=end + JOINED_WITHIN / 2).may_go_on
    assert not run_overview(ended, now=end + JOINED_WITHIN).may_go_on


def test_a_clock_that_is_ahead_makes_no_negative_duration(project):
    run = make_run(project)

    overview = run_overview(run, now=run.started_at - timedelta(hours=1))

    assert overview.duration == 0
    assert overview.wall_time == 0


def test_says_when_a_live_run_fell_silent(project):
    run = make_run(project)
    heard = run.last_seen_at

    assert run_overview(run, now=heard + SILENT_AFTER).silent_for is None
    late = heard + SILENT_AFTER + timedelta(seconds=1)
    assert run_overview(run, now=late).silent_for == timedelta(seconds=31)


def test_an_ended_run_is_not_called_silent(project):
    run = make_run(project, state="finished")

    overview = run_overview(run, now=timezone.now() + timedelta(days=1))

    assert overview.silent_for is None


def test_a_stage_tells_why_it_failed_and_who_ran_it(project):
    run = make_run(project, state="failed", failure="boom")

    (stage,) = run_overview(run).stages

    assert (stage.state, stage.failure) == ("failed", "boom")
    (process,) = stage.processes
    assert (process.rank, process.host, process.failure) == (0, "node-1", "boom")


def test_tags_are_those_of_the_run(project):
    run = make_run(project)
    write_tags(run, "b", "a")
    write_values(run, {"tags_of_mine": ["c"]})

    assert run_overview(run).tags == ("a", "b")


def test_how_busy_a_stage_was_is_a_mean_over_its_gpus_and_cores(project):
    run = make_run(project)
    write_series(run, "monitoring/train/gpu/0/utilization_percent", [20.0, 40.0])
    write_series(run, "monitoring/train/gpu/1/utilization_percent", [90.0, 90.0])
    write_series(run, "monitoring/train/job/cpu_cores", [1.0, 2.0])
    write_values(run, {"monitoring/train/facts/effective_cores": 2.0})
    # A stage whose name starts with another stage's name is a different stage.
    write_series(
        run, "monitoring/training/gpu/0/utilization_percent", [0.0], stage="t2"
    )
    compact_run(run.id)

    train = next(s for s in run_overview(run).stages if s.name == "train")

    assert train.gpu_percent == pytest.approx(60)
    assert train.cpu_percent == pytest.approx(75)


def test_unmeasured_utilization_is_unknown(project):
    (stage,) = run_overview(make_run(project)).stages

    assert stage.gpu_percent is None
    assert stage.cpu_percent is None


def test_further_ranks_and_what_others_wrote_there_is_not_read(project):
    run = make_run(project)
    write_values(
        run,
        {
            "monitoring/train/facts/host": "a",
            "monitoring/train/rank-1/facts/host": "b",
            "monitoring/train/own/values": 1,
        },
    )
    write_series(run, "monitoring/train/rank-1/gpu/0/utilization_percent", [50.0])
    write_series(run, "monitoring/train/rank-1/job/cpu_cores", [50.0])
    compact_run(run.id)

    overview = run_overview(run)

    assert list(overview.facts) == ["monitoring/train/facts/host"]
    # It is included in the mean.
    assert overview.stages[0].gpu_percent == 50


def test_a_stage_that_was_watched_from_outside_says_what_is_known_of_its_end(project):
    run = make_run(project)
    write_values(run, {"monitoring/train/watched": "left alone"})
    write_values(run, {"monitoring/infer/watched": 5}, stage="infer")
    write_values(run, {"monitoring/eval/rank-1/watched": "no"}, stage="eval")

    watched = {stage.name: stage.watched for stage in run_overview(run).stages}

    assert watched == {"train": "left alone", "infer": "", "eval": ""}


def test_readings_are_what_was_measured_over_time(project):
    run = make_run(project)
    write_values(run, {"monitoring/train/facts/host": "a"})
    write_series(run, "train/loss", [1.0])
    compact_run(run.id)

    assert not has_readings(run)

    write_series(run, "monitoring/train/job/cpu_cores", [1.0])
    compact_run(run.id)

    assert has_readings(run)


def test_costs_five_statements(project, django_assert_num_queries):
    run = make_run(project)
    for rank in range(5):
        write_series(run, "train/loss", [1.0], rank=rank)
    run = Run.objects.get(id=run.id)

    with django_assert_num_queries(5):
        run_overview(run)
