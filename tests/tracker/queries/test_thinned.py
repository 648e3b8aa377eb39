from __future__ import annotations

import numpy as np
import pytest

from tests.builders import SECOND, START, make_project, make_run, write_series
from tracker.queries.thinned import read_thinned
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

LONG, SHORT = "monitoring/train/job/cpu_cores", "monitoring/train/job/threads"


@pytest.fixture
def run(member):
    return make_run(make_project(member))


@pytest.mark.parametrize("is_compacted", [True, False])
def test_long_series_are_thinned_wherever_they_lie(run, is_compacted):
    values = np.full(20_000, 2.0)
    values[12_345] = 64.0
    write_series(run, LONG, values)
    write_series(run, SHORT, [1.0, 2.0])
    if is_compacted:
        compact_run(run.id)

    found = read_thinned(run, [LONG, SHORT, "no/such"])

    assert found.keys() == {LONG, SHORT}
    assert 4_000 <= len(found[LONG].points) <= 4_100
    assert found[LONG].points.values.max() == 64.0
    assert found[LONG].interval_seconds == 1
    assert list(found[SHORT].points.values) == [1.0, 2.0]


def test_the_last_seconds_are_whole(run):
    write_series(run, LONG, np.ones(20_000))
    compact_run(run.id)

    times = read_thinned(run, [LONG], whole_seconds=600)[LONG].points.times

    assert np.sum(times > START + (19_999 - 600) * SECOND) == 600


def test_a_series_without_points_has_no_interval(run):
    write_series(run, SHORT, [1.0])

    assert read_thinned(run, [SHORT])[SHORT].interval_seconds is None
