"""Step times of runs that only log."""

from __future__ import annotations

import numpy as np
import pytest

from tests.builders import START, make_run, write_series
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.actions.diagnoses.rule_settings import set_rule
from tracker.models import Diagnosis, Finding
from tracker.queries.diagnoses import logged_steps
from tracker.queries.diagnoses.logged_intervals import read_logged_intervals
from tracker.queries.diagnoses.signals import read_measurements

pytestmark = pytest.mark.django_db

RANDOM = np.random.default_rng(3)


def times_of(seconds):
    return START + (1e6 * np.cumsum(seconds)).astype(np.int64)


def intervals(count=400):
    return RANDOM.uniform(0.095, 0.105, count)


def write_loss(run, seconds, path="train/loss", **more):
    values = np.linspace(2.0, 1.0, len(seconds))
    write_series(run, path, values, times=times_of(seconds), **more)


def measured(run):
    return read_measurements(run.stages.get(name="train"))


def test_a_script_without_timed_steps_has_those_that_it_logs(project):
    run = make_run(project, "plain", "finished")
    seconds = intervals()
    write_loss(run, seconds)

    found = measured(run)

    assert len(found.steps) == 0
    assert len(found.logged_steps) == 399
    logged = found.logged_steps.columns["step_seconds"]
    assert np.allclose(logged, seconds[1:], atol=1e-5)
    assert found.facts["log_interval_steps"] == 1.0


def test_a_long_series_has_longer_intervals(project, monkeypatch):
    monkeypatch.setattr(logged_steps, "MAX_POINTS", 100)
    run = make_run(project, "long", "finished")
    seconds = intervals()
    write_loss(run, seconds)

    found = measured(run)

    logged = found.logged_steps.columns["step_seconds"]
    assert np.allclose(logged, seconds[1:397].reshape(99, 4).sum(axis=1), atol=1e-5)
    assert found.facts["log_interval_steps"] == 4.0


def test_a_metric_of_each_step_comes_before_a_loss_of_each_epoch(project):
    run = make_run(project, "epochs", "finished")
    write_loss(run, intervals(40))
    write_loss(run, intervals(), "train/accuracy")

    assert len(measured(run).logged_steps) == 399


def test_timed_steps_come_first(project):
    run = make_run(project, "timed", "finished")
    write_loss(run, intervals())
    write_loss(run, intervals(100), "monitoring/train/step/seconds")

    found = measured(run)

    assert len(found.steps) == 100
    assert len(found.logged_steps) == 0


@pytest.mark.parametrize("path", ["val/loss", "request/seconds", "preprocess/rows"])
def test_other_series_are_no_steps(project, path):
    run = make_run(project, "others", "finished")
    write_series(run, "preprocess/done", [1.0], stage="preprocess")
    write_loss(run, intervals(), path)

    assert len(measured(run).logged_steps) == 0


def test_points_of_several_processes_are_no_steps(project):
    run = make_run(project, "ranks", "finished")
    write_loss(run, intervals(), rank=0)
    write_loss(run, intervals(), rank=1)

    assert len(measured(run).logged_steps) == 0


def test_pauses_are_found_in_a_script_that_only_logs(project):
    run = make_run(project, "pauses", "finished")
    seconds = intervals()
    seconds[40::40] += 2.0
    write_loss(run, seconds, steps=10 * np.arange(400))

    diagnose_run(run.id)

    found = Finding.objects.get(run=run, rule="steps-are-slow-now-and-then")
    assert found.is_primary
    summary = found.body["judgement"]["finding"]["summary"]
    assert summary.startswith("9 of 389 intervals of 10 steps took 2.1 s (median)")
    assert "about every 400 steps" in summary
    cited = found.body["judgement"]["finding"]["evidence"]
    shown = {each["statistic"]: each["value"] for each in cited}
    assert shown["time of 10 steps, median of the slow ones"] == pytest.approx(
        2.1, 0.02
    )
    assert shown["time of 10 steps, median"] == pytest.approx(0.1, 0.02)


def test_a_slowdown_is_in_the_unit_of_the_intervals(project):
    run = make_run(project, "slower", "finished")
    write_loss(run, intervals() * np.linspace(1, 2, 400), steps=10 * np.arange(400))

    diagnose_run(run.id)

    found = Finding.objects.get(run=run, rule="steps-become-slower")
    summary = found.body["judgement"]["finding"]["summary"]
    assert summary.startswith("The time of 10 steps rose from 10")


def test_a_steady_script_that_only_logs_has_no_findings(project):
    run = make_run(project, "steady", "finished")
    write_loss(run, intervals())

    diagnose_run(run.id)

    assert not Finding.objects.filter(run=run, is_open=True).exists()
    [diagnosis] = Diagnosis.objects.filter(run=run)
    assert "data-wait-dominates" in diagnosis.unanswered


def test_a_chart_of_many_intervals_keeps_the_slow_ones_and_their_time(project):
    run = make_run(project, "many", "finished")
    seconds = intervals(5_000)
    seconds[200::200] += 2.0
    write_loss(run, seconds)

    found = read_logged_intervals(run, "train")

    assert found is not None
    assert len(found.every.x) <= 600
    assert (found.every.mean > 2).sum() == len(found.slow.x) == 24
    assert set(found.slow.x) <= set(found.every.x)


def test_a_chart_marks_slow_intervals_by_the_projects_limits(project):
    run = make_run(project, "often", "finished")
    seconds = intervals(1_000)
    seconds[8::8] += 2.0
    write_loss(run, seconds)

    usual = read_logged_intervals(run, "train")
    name = "steps-are-slow-now-and-then"
    set_rule(project, name, is_off=False, limits={"max outliers share": 0.2})
    run.project.refresh_from_db()
    changed = read_logged_intervals(run, "train")

    assert usual is not None
    assert changed is not None
    assert len(usual.slow.x) == 0
    assert len(changed.slow.x) > 100


def test_a_run_that_logs_too_little_has_no_intervals(project):
    run = make_run(project, "few", "finished")
    write_loss(run, intervals(20))

    assert read_logged_intervals(run, "train") is None
