from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from tests.builders import make_project, make_run
from tests.tracker.series.examples import any_points, finite_steps, points, table
from tracker.models import Attribute, Kind
from tracker.series.points import concatenate
from tracker.series.summary import add_to_summaries, summaries

pytestmark = [pytest.mark.django_db, pytest.mark.database]

COLUMNS = [
    "count",
    "finite_count",
    "minimum",
    "maximum",
    "first_step",
    "last_step",
    "first_time",
    "last_time",
]


@pytest.fixture
def run(member):
    return make_run(make_project(member))


def make_series(run, path="loss"):
    return Attribute.objects.create(
        run=run, project=run.project, path=path, kind=Kind.FLOAT_SERIES
    )


def add(series, some):
    new = summaries(table({series.id: some.values}, some))
    assert add_to_summaries(series.run_id, new) == 1
    series.refresh_from_db()


@given(
    any_points(steps=finite_steps).filter(len),
    any_points(steps=finite_steps).filter(len),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_adding_in_two_parts_is_adding_at_once(run, first, second):
    Attribute.objects.all().delete()
    in_parts, at_once = make_series(run, "in parts"), make_series(run, "at once")

    add(in_parts, first)
    add(in_parts, second)
    add(at_once, concatenate([first, second]))

    for name in COLUMNS:
        assert getattr(in_parts, name) == getattr(at_once, name), name
    assert np.isfinite([in_parts.total, at_once.total]).all()


@pytest.mark.parametrize(
    ("values", "number", "is_nan"),
    [([1, np.nan], None, True), ([1, -np.inf], -np.inf, False), ([1, 2], 2, False)],
)
def test_the_last_value_is_kept_also_when_it_is_no_number(run, values, number, is_nan):
    series = make_series(run)

    add(series, points(values))

    assert (series.number, series.is_nan) == (number, is_nan)


def test_says_how_many_series_there_were(run):
    series = make_series(run)
    new = summaries(table({series.id: [1.0], series.id + 999: [1.0]}, points([1])))

    assert add_to_summaries(run.id, new) == 1
    other = make_run(run.project, "other")
    assert add_to_summaries(other.id, new) == 0


def test_more_series_than_one_statement_takes(run, monkeypatch):
    monkeypatch.setattr("tracker.series.summary.ROWS_IN_A_STATEMENT", 2)
    ids = [make_series(run, f"metric {number}").id for number in range(5)]

    new = summaries(table({key: [key, 7.0] for key in ids}, points([0, 0])))

    assert add_to_summaries(run.id, new) == 5
    stored = Attribute.objects.filter(id__in=ids).values_list("minimum", flat=True)
    assert sorted(stored) == sorted(min(key, 7.0) for key in ids)
