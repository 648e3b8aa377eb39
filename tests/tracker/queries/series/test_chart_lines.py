"""Lines of a run's charts on each axis."""

import numpy as np
import pytest

from tests.builders import make_project, make_run, write_series
from tracker.queries.series.chart_lines import Across, read_chart_lines
from tracker.queries.series.series import Axis
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

LOSS, EPOCH = "train/loss", "train/epoch"


@pytest.fixture
def run(member):
    return make_run(make_project(member))


def read(run, *paths, buckets=500, **across):
    series = [(run, path) for path in paths]
    return read_chart_lines(series, Across(**across), buckets=buckets)


def test_over_steps_it_is_what_the_series_are(run):
    write_series(run, LOSS, [3.0, 2.0])

    found = read(run, LOSS, "no/such")

    assert [line.mean.tolist() for line in found.lines] == [[3, 2], []]
    assert found.outside == [0, 0]


def test_over_another_series_steps_become_its_values(run):
    write_series(run, LOSS, [5.0, 4.0, 3.0, 2.0], steps=[0, 50, 100, 150])
    write_series(run, EPOCH, [1.0, 2.0], steps=[0, 100])

    found = read(run, LOSS, over=EPOCH)

    assert found.lines[0].x.tolist() == [1, 1.5, 2]
    assert found.lines[0].mean.tolist() == [5, 4, 3]
    assert found.outside == [1]
    other = found.over[run.id]
    assert (other.x.tolist(), other.mean.tolist()) == ([0, 100], [1, 2])


def test_over_a_series_that_is_not_there_nothing_has_a_place(run):
    write_series(run, LOSS, [5.0, 4.0])

    found = read(run, LOSS, over="no/such")

    assert (len(found.lines[0].x), found.outside) == (0, [2])
    assert found.lacking == {run.id}


def test_a_zoom_over_another_series_gets_the_points_themselves(run):
    count = 20_000
    write_series(run, LOSS, np.arange(float(count)))
    write_series(run, EPOCH, np.arange(float(count)) / 1_000)
    compact_run(run.id)

    coarse = read(run, LOSS, over=EPOCH)
    fine = read(run, LOSS, over=EPOCH, low=3.0, high=3.1)

    assert not coarse.lines[0].exact
    assert fine.lines[0].exact
    assert 100 <= len(fine.lines[0].x) < 200
    assert fine.lines[0].x[0] <= 3.0
    assert fine.lines[0].x[-1] >= 3.1


def test_runs_that_count_differently_are_each_read_where_the_axis_shows(member):
    project, count = make_project(member), 20_000
    fast, slow, without = runs = [make_run(project, name) for name in "abc"]
    for run in runs:
        write_series(run, LOSS, np.arange(float(count)))
    write_series(fast, EPOCH, np.arange(float(count)) / 1_000)
    write_series(slow, EPOCH, np.arange(float(count)) / 4_000)
    for run in runs:
        compact_run(run.id)
    series = [(run, LOSS) for run in runs]

    whole = read_chart_lines(series, Across(over=EPOCH), buckets=500)
    part = read_chart_lines(series, Across(over=EPOCH, low=3, high=3.1), buckets=500)

    assert [line.run_id for line in part.lines] == [run.id for run in runs]
    assert whole.lacking == part.lacking == {without.id}
    assert [len(line.x) for line in part.lines][2] == 0
    for line, first in zip(part.lines[:2], (3_000, 12_000), strict=True):
        assert line.exact
        assert abs(line.mean[0] - first) <= 50
        assert line.x[0] <= 3.0
        assert line.x[-1] >= 3.1


def test_runs_that_count_alike_are_read_together(member, django_assert_max_num_queries):
    project = make_project(member)
    runs = [make_run(project, str(number)) for number in range(12)]
    for run in runs:
        write_series(run, LOSS, [3.0, 2.0, 1.0])
        write_series(run, EPOCH, [1.0, 2.0, 3.0])
    across = Across(over=EPOCH, low=1.5, high=2.5)

    with django_assert_max_num_queries(30):
        found = read_chart_lines([(run, LOSS) for run in runs], across, buckets=500)

    assert {tuple(line.mean) for line in found.lines} == {(3.0, 2.0, 1.0)}


def test_a_logarithmic_axis_is_finer_where_it_is_wider(run):
    values = np.ones(150_000)
    values[7] = 900
    write_series(run, LOSS, values)
    compact_run(run.id)

    plain = read(run, LOSS, axis=Axis.STEP).lines[0]
    finer = read(run, LOSS, axis=Axis.STEP, is_log=True).lines[0]

    assert (plain.x < 100).sum() <= 1
    # The first points are shown one by one, and the spike has its own bucket.
    assert (finer.x < 100).sum() > 90
    assert finer.x[finer.maximum.argmax()] == 7
    assert (np.diff(finer.x) >= 0).all()
    assert finer.x[-1] == pytest.approx(plain.x[-1])


def test_lines_of_different_lengths_keep_all_their_points(run):
    write_series(run, "long", np.ones(50_000))
    write_series(run, "short", np.arange(1_500.0))
    compact_run(run.id)

    long, short = read(run, "long", "short", is_log=True).lines

    assert short.mean.max() == pytest.approx(short.maximum.max(), abs=5)
    assert short.maximum.max() == 1_499
    assert long.x[-1] > 49_000
