"""The values on the overview page, of any number of values."""

from __future__ import annotations

from math import nan

import pytest

from tests.builders import make_project, make_run, write_series, write_values
from tracker.queries.run.key_values import MAX_METRICS, MAX_PARAMS, key_values
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def run(member):
    return make_run(make_project(member))


def test_metrics_are_series_and_numbers_logged_once(run):
    write_series(run, "train/loss", [2.0, 1.0])
    write_series(run, "monitoring/train/step/seconds", [1.0])
    write_series(run, "params/lr", [1.0])
    write_values(
        run,
        {
            "infer/accuracy": 0.97,
            "score": nan,
            "images": 360,
            "note": "x",
            "done": True,
        },
    )
    compact_run(run.id)

    found = key_values(run)

    assert [row.path for row in found.metrics] == [
        "infer/accuracy",
        "train/loss",
        "score",
    ]
    assert [row.value for row in found.metrics][:2] == [0.97, 1.0]
    assert found.metric_count == 3


def test_numbers_of_a_nested_config_are_parameters_and_no_metrics(run):
    write_values(run, {"config/optim/lr": 0.1, "config/data/size": 50_000.0})
    write_values(run, {"test/accuracy": 0.97})

    found = key_values(run)

    assert [row.path for row in found.metrics] == ["test/accuracy"]
    assert [row.path for row in found.params] == ["config/data/size", "config/optim/lr"]


def test_identifiers_and_pinned_parameters_have_no_change(run):
    before = make_run(run.project, "before")
    for number, each in enumerate([before, run], start=1):
        write_values(each, {"config/size": number * 1e6, "job_id": number * 1e6})

    found = key_values(run, pinned=["config/size", "job_id"], before=before.id)

    assert [(row.before, row.change) for row in found.metrics] == [(1e6, None)] * 2


def test_a_series_of_which_nothing_is_known_yet_is_no_metric(run):
    write_series(run, "train/loss", [2.0])

    assert key_values(run).metrics == []


def test_the_main_metrics_and_the_first_parameters_of_many_are_read(run):
    many = MAX_METRICS + MAX_PARAMS
    write_values(run, {f"metric/{number:03}": number / 2 for number in range(many)})
    write_values(run, {f"params/{number:03}": number for number in range(many)})
    write_values(run, {"val/accuracy": 0.5})

    found = key_values(run)

    assert (found.metric_count, found.param_count) == (many + 1, many)
    assert found.metrics[0].path == "val/accuracy"
    assert len(found.metrics) == MAX_METRICS
    assert [row.path for row in found.params] == [
        f"params/{number:03}" for number in range(MAX_PARAMS)
    ]


def test_costs_three_statements(run, django_assert_num_queries):
    write_values(run, {f"params/{number}": number for number in range(100)})

    with django_assert_num_queries(3):
        key_values(run)


def test_pinned_metrics_come_first_and_what_a_run_lacks_is_left_out(run):
    write_series(run, "train/loss", [2.0, 1.0])
    write_values(run, {"images": 3, "score": 0.5, "note": "x"})
    compact_run(run.id)

    found = key_values(run, pinned=["images", "no/such", "note", "score"])

    assert [(m.path, m.is_pinned) for m in found.metrics] == [
        ("images", True),
        ("score", True),
        ("train/loss", False),
    ]


def test_a_series_says_how_it_went_and_what_was_best(run):
    write_series(run, "train/loss", [3.0, 1.0, 2.0])
    write_series(run, "val/accuracy", [0.5, 0.9, 0.7])
    write_series(run, "train/other", [1.0, 2.0])
    compact_run(run.id)

    accuracy, loss, other = key_values(run).metrics

    assert (accuracy.best, loss.best, other.best) == (0.9, 1.0, None)
    assert loss.line is not None
    assert loss.line.mean.tolist() == [3.0, 1.0, 2.0]


def test_the_run_before_is_what_is_compared_with(run):
    before = make_run(run.project, "before")
    write_values(run, {"val/accuracy": 0.9, "train/loss": 3.0, "speed": 2.0, "a": 1.0})
    write_values(
        before, {"val/accuracy": 0.6, "train/loss": 2.0, "speed": 1.0, "a": 0.0}
    )

    accuracy, loss, zero, speed = key_values(run, before=before.id).metrics

    assert accuracy.change == pytest.approx(0.5)
    assert accuracy.is_better is True
    assert (loss.change, loss.is_better) == (0.5, False)
    assert (speed.change, speed.is_better) == (1.0, None)
    assert zero.change is None
    assert key_values(run).metrics[0].change is None


def of_last(run, before, path="val/loss"):
    metrics = key_values(run, before=before.id).metrics
    return next(metric for metric in metrics if metric.path == path)


def test_a_change_within_how_values_vary_by_themselves_is_neither_good_nor_bad(run):
    before = make_run(run.project, "before")
    wild = [1.0 + 0.2 * (step % 4) for step in range(40)]
    write_series(run, "val/loss", [*wild, 1.2])
    write_series(before, "val/loss", [*wild, 1.0])
    write_series(run, "infer/latency_seconds", [*[0.2] * 40, 0.22])
    write_series(before, "infer/latency_seconds", [0.2] * 40)
    for each in (run, before):
        compact_run(each.id)

    loss = of_last(run, before)
    latency = of_last(run, before, "infer/latency_seconds")

    assert (loss.change, loss.is_better) == (pytest.approx(0.2), None)
    assert (latency.change, latency.is_better) == (pytest.approx(0.1), False)


def test_points_that_share_a_bucket_still_tell_how_values_vary(run):
    before = make_run(run.project, "before")
    wild = [1.0 + (step % 2) for step in range(600)]
    write_series(run, "val/loss", [*wild, 2.0])
    write_series(before, "val/loss", wild[:-1])
    for each in (run, before):
        compact_run(each.id)

    assert of_last(run, before).change == pytest.approx(1.0)
    assert of_last(run, before).is_better is None


@pytest.mark.parametrize(("value", "is_better"), [(0.51, None), (0.52, True)])
def test_only_a_large_change_of_a_single_value_counts(run, value, is_better):
    before = make_run(run.project, "before")
    write_values(run, {"val/accuracy": value})
    write_values(before, {"val/accuracy": 0.5})

    assert of_last(run, before, "val/accuracy").is_better is is_better


def test_counters_say_how_far_a_run_is_and_are_not_compared(run):
    before = make_run(run.project, "before")
    for each, last in ((run, 8.0), (before, 4.0)):
        write_values(each, {"train/epoch": last, "val/accuracy": 0.5})

    assert [m.path for m in key_values(run).metrics] == ["val/accuracy"]
    pinned = key_values(run, pinned=["train/epoch"], before=before.id).metrics[0]
    assert (pinned.path, pinned.before, pinned.change) == ("train/epoch", 4.0, None)


def test_a_run_that_has_only_counters_shows_them(run):
    write_values(run, {"train/epoch": 2.0})

    assert [m.path for m in key_values(run).metrics] == ["train/epoch"]


def test_others_are_read_along(run):
    write_values(run, {"git/commit": "abc"})

    assert key_values(run, others=["git/commit", "no"]).others.keys() == {"git/commit"}
