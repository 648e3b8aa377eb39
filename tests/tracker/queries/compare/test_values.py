"""Values of runs as dimensions of a chart."""

from __future__ import annotations

import math
import tracemalloc
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.builders import make_run, write_series, write_values
from tests.tracker.queries.findings import add_finding
from tests.tracker.queries.ledgers import add_ledger
from tracker.models import Attribute, Kind, Run
from tracker.queries.compare.values import (
    DURATION,
    STARTED,
    dimensions_of,
    newest_others,
    read_columns,
)
from tracker.queries.runs.filter.fields import FIELDS
from tracker.queries.runs.filter.filters import InvalidQuery
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def runs(project):
    return [make_run(project, name, "finished") for name in ("a", "b")]


def values(runs, dimension):
    (column,) = read_columns(runs, [dimension])
    return column.values


def test_parameters_that_differ_are_suggested_before_what_measures_quality(runs):
    for run, lr in zip(runs, (0.1, 0.2), strict=True):
        write_values(run, {"params/lr": lr, "params/seed": 1, "val/accuracy": lr})

    found = dimensions_of([run.id for run in runs])

    assert found.suggested == ["params/lr", "val/accuracy"]
    assert found.names[:3] == ["params/lr", "params/seed", "val/accuracy"]


def test_texts_that_are_no_parameters_are_not_even_read(runs):
    for run in runs:
        write_values(run, {"params/lr": "0.1"})
        Attribute.objects.create(
            run=run,
            project=run.project,
            path="source/text",
            kind=Kind.STRING,
            text="x" * 2_000_000,
        )

    tracemalloc.start()
    found = dimensions_of([run.id for run in runs])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert "source/text" not in found.names
    assert "params/lr" in found.names
    assert peak < 1_000_000


def test_a_run_that_goes_on_lasts_until_now(project):
    run = make_run(project, "live", "running")
    Run.objects.filter(id=run.id).update(
        started_at=timezone.now() - timedelta(hours=4),
        active_since=timezone.now() - timedelta(hours=3),
        last_seen_at=timezone.now() - timedelta(hours=1),
    )
    run.refresh_from_db()

    (seconds,) = values([run], DURATION)

    assert seconds == pytest.approx(3 * 3_600, abs=60)


def test_runs_that_logged_nothing_have_their_own_times(runs):
    assert dimensions_of([run.id for run in runs]).suggested == [STARTED, DURATION]


def test_a_series_has_its_last_minimum_maximum_and_mean(runs):
    write_series(runs[0], "train/loss", [3.0, 1.0, 2.0])
    compact_run(runs[0].id)

    found = {
        name: values(runs, name)
        for name in (
            "train/loss",
            "min(train/loss)",
            "max(train/loss)",
            "mean(train/loss)",
        )
    }

    assert [each[0] for each in found.values()] == [2.0, 1.0, 3.0, 2.0]
    assert {each[1] for each in found.values()} == {None}


def test_readings_ledgers_findings_and_makers_are_dimensions(runs):
    add_ledger(runs[0], computing=5_400.0, idle=1_800.0, energy=7.2e6)
    add_ledger(runs[1], unknown=3_600.0)
    add_finding(runs[0], "Training waits for data", severity="critical")
    write_series(runs[0], "monitoring/train/gpu/0/utilization_percent", [90.0, 70.0])
    write_series(runs[0], "monitoring/train/job/cpu_cores", [2.0])
    write_values(runs[0], {"monitoring/train/facts/effective_cores": 4})
    compact_run(runs[0].id)
    Run.objects.filter(id=runs[0].id).update(made_by=None)

    found = {
        column.dimension: column.values
        for column in read_columns(runs, [f"({field})" for field in FIELDS])
    }

    assert found.pop(DURATION)
    assert found.pop("(wall_time)")
    assert found == {
        "(gpu)": [80.0, None],
        "(cpu)": [50.0, None],
        "(gpu_idle)": [25.0, None],
        "(gpu_hours)": [2.0, 1.0],
        "(energy)": [2.0, None],
        "(finding)": ["Training waits for data", None],
        "(made_by)": [None, "ada"],
    }
    assert set(found) <= set(dimensions_of([runs[0].id]).names)


def test_the_creator_of_a_run_is_hidden_from_restricted_readers(runs):
    def seen(kind, path):
        return True

    [open_column] = read_columns(runs, ["(made_by)"])
    [column] = read_columns(runs, ["(made_by)"], seen)

    assert open_column.is_known
    assert not column.is_known
    assert "(made_by)" not in dimensions_of([runs[0].id], seen).names


def test_dimensions_of_many_runs_take_as_many_queries_as_of_few(
    project, runs, django_assert_num_queries
):
    names = [f"({field})" for field in FIELDS]
    with CaptureQueriesContext(connection) as few:
        read_columns(runs, names)
    more = [make_run(project, f"more {number}") for number in range(5)]

    with django_assert_num_queries(len(few)):
        read_columns([*runs, *more], names)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_values_that_are_not_numbers_are_left_out(runs, value):
    write_values(runs[0], {"score": value})

    assert values(runs, "score") == [None, None]


def test_texts_and_switches_are_words(runs):
    write_values(runs[0], {"params/amp": True})
    write_values(runs[1], {"params/amp": "auto"})

    assert values(runs, "params/amp") == ["true", "auto"]


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "min()", "x" * 5_000])
def test_a_path_that_cannot_be_is_absent(runs, path):
    assert values(runs, path) == [None, None]


def test_finds_the_newest_others(project, runs):
    others = [make_run(project, name) for name in ("c", "d")]
    write_values(others[0], {"params/lr": 0.5})
    without = [run.id for run in runs]

    everyone = newest_others(project.id, "", without=without)
    found = newest_others(project.id, "params/lr > 0.4", without=without)

    assert [run.name for run in everyone] == ["d", "c"]
    assert [run.name for run in found] == ["c"]
    with pytest.raises(InvalidQuery):
        newest_others(project.id, "params/lr >", without=without)
