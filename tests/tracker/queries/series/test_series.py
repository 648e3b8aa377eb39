from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from tests.builders import make_project, make_run, write_series, write_values
from tests.tracker.series.examples import SECOND, START, noise
from tracker.models import Run, SeriesChunk
from tracker.queries.series import drawing
from tracker.queries.series import series as series_queries
from tracker.queries.series.series import (
    Axis,
    read_and_take,
    read_line,
    read_lines,
    read_many_points,
    read_points,
)
from tracker.series import store, tails
from tracker.series.codec import decode
from tracker.series.compaction import compact_run
from tracker.series.lines import steady_width

pytestmark = [pytest.mark.django_db, pytest.mark.database]

PATH = "train/loss"


@pytest.fixture
def run(member):
    return make_run(make_project(member))


@pytest.fixture(params=["in the journal", "in chunks", "in both"])
def state_of(request, run):
    """Leaves written points in the state of the parameter."""

    def settle(part: int = 0) -> None:
        if request.param == "in chunks" or (request.param == "in both" and not part):
            compact_run(run.id)

    return settle


def test_few_points_are_drawn_exactly(run, state_of):
    write_series(run, PATH, [3, 1])
    state_of(0)
    write_series(run, PATH, [2], steps=[2])
    state_of(1)

    line = read_line(run, PATH)

    assert line.exact
    assert line.x.tolist() == [0, 1, 2]
    assert line.mean.tolist() == line.minimum.tolist() == line.maximum.tolist()
    assert line.mean.tolist() == [3, 1, 2]
    assert (line.run_id, line.path, line.count) == (run.id, PATH, 3)


def test_many_points_keep_every_spike(run, state_of):
    values = noise(20_000)
    values[7_777], values[12_345] = 99, -99
    write_series(run, PATH, values[:9_000])
    state_of(0)
    write_series(run, PATH, values[9_000:], steps=range(9_000, 20_000))
    state_of(1)

    line = read_line(run, PATH, buckets=100)

    assert not line.exact
    assert line.count == 20_000
    assert len(line.x) <= 101
    assert (line.minimum.min(), line.maximum.max()) == (-99, 99)
    assert abs(line.x[line.maximum.argmax()] - 7_777) <= 200
    assert (line.minimum <= line.mean).all()
    assert (line.mean <= line.maximum).all()


def test_a_range_includes_both_its_ends(run, state_of):
    write_series(run, PATH, noise(1_000))
    state_of()

    line = read_line(run, PATH, low=10, high=20)

    assert line.exact
    assert line.x.tolist() == list(range(10, 21))


def test_zooming_in_gives_the_points_themselves(run):
    values = noise(30_000)
    write_series(run, PATH, values)
    compact_run(run.id)

    line = read_line(run, PATH, low=15_000, high=15_100, buckets=100)

    assert line.exact
    assert line.mean.tolist() == values[15_000:15_101].tolist()


def test_time_is_drawn_in_milliseconds_and_relative_time_in_seconds(run, state_of):
    write_series(run, PATH, [1, 2], times=[START + 5 * SECOND, START + 7 * SECOND])
    state_of()

    by_time = read_line(run, PATH, axis=Axis.TIME)
    relative = read_line(run, PATH, axis=Axis.RELATIVE, high=6)

    assert by_time.x.tolist() == [START / 1_000 + 5_000, START / 1_000 + 7_000]
    assert relative.x.tolist() == [5]


def test_relative_time_of_a_run_that_never_started_begins_with_the_series(run):
    write_series(run, PATH, [1, 2], times=[START + 5 * SECOND, START + 7 * SECOND])
    Run.objects.update(started_at=None)
    run.refresh_from_db()

    assert read_line(run, PATH, axis=Axis.RELATIVE).x.tolist() == [0, 2]


def test_relative_time_follows_the_run(run):
    write_series(run, PATH, [1])
    run.started_at -= timedelta(hours=1)

    assert read_line(run, PATH, axis=Axis.RELATIVE).x.tolist() == [3_600]


def test_nan_and_infinities_do_not_poison_their_neighbors(run, state_of):
    values = noise(10_000)
    values[5_000:5_010], values[6_000] = np.nan, np.inf
    write_series(run, PATH, values)
    state_of()

    line = read_line(run, PATH, buckets=100)

    assert line.count == 10_000
    assert np.isfinite(line.mean).all()
    assert line.maximum.max() == np.inf


def test_a_stretch_of_nothing_but_nan_is_nan(run, state_of):
    values = noise(10_000)
    values[2_000:4_000] = np.nan
    write_series(run, PATH, values)
    state_of()

    line = read_line(run, PATH, buckets=10)

    assert np.isnan(line.mean).sum() == np.isnan(line.maximum).sum() == 2


@pytest.mark.parametrize("path", ["absent", "nul\0", "half \ud800", "", "__proto__"])
def test_a_series_that_does_not_exist_has_no_points(run, path):
    line = read_line(run, path)

    assert (line.count, len(line.x), line.exact) == (0, 0, True)
    assert len(read_points(run, path)) == 0


def test_a_value_is_no_series(run):
    write_values(run, {"lr": 0.1})

    assert read_line(run, "lr").count == 0


def test_lines_come_in_the_order_asked_with_a_fixed_number_of_statements(
    member, run, django_assert_num_queries
):
    other = make_run(run.project, "other")
    for value, some in enumerate([run, other]):
        write_series(some, PATH, [value] * 9)
        write_series(some, "accuracy", [value + 10] * 9)
        compact_run(some.id)
        write_series(some, PATH, [value], steps=[9])

    asked = [(other, "accuracy"), (run, PATH), (run, "absent"), (other, PATH)]
    with django_assert_num_queries(6):
        lines = read_lines(asked)

    assert [(line.run_id, line.path) for line in lines] == [
        (asked_run.id, path) for asked_run, path in asked
    ]
    assert [line.mean[:1].tolist() for line in lines] == [[11], [0], [], [1]]


def test_a_million_points_are_drawn_without_decoding_them(run, monkeypatch):
    decoded = []
    monkeypatch.setattr(
        store.codec,
        "decode",
        lambda data, ticks: decoded.append(data) or decode(data, ticks),
    )
    values = noise(1_000_000)
    values[654_321] = 50
    for start in range(0, len(values), 125_000):
        part = values[start : start + 125_000]
        write_series(run, PATH, part, steps=start + np.arange(len(part)))
    compact_run(run.id)
    decoded.clear()

    line = read_line(run, PATH)
    assert not decoded

    zoomed = read_line(run, PATH, low=100_000, high=900_000)
    assert len(decoded) == 2
    assert line.count == 1_000_000
    assert zoomed.count == 800_001
    assert line.maximum.max() == zoomed.maximum.max() == 50
    assert np.average(line.mean) == pytest.approx(values.mean(), abs=0.01)


def test_damaged_chunks_are_left_out_and_the_rest_is_drawn(run, caplog):
    write_series(run, PATH, noise(20_000))
    compact_run(run.id)
    first = SeriesChunk.objects.order_by("first_step").first()
    SeriesChunk.objects.filter(id=first.id).update(data=b"gone")

    assert read_line(run, PATH).count == 20_000 - first.count
    assert "damaged" in caplog.text


def test_a_damaged_overview_is_computed_from_the_points(run, monkeypatch):
    monkeypatch.setattr("tracker.series.lines.DECODED_POINTS", 1_000)
    write_series(run, PATH, noise(30_000))
    compact_run(run.id)
    whole = read_line(run, PATH, buckets=100)
    SeriesChunk.objects.update(overview=b"gone")

    line = read_line(run, PATH, buckets=100)

    assert np.allclose(line.mean, whole.mean)
    assert line.count == 30_000


def test_all_points_come_sorted_by_step_wherever_they_lie(run, state_of):
    write_series(run, PATH, [5, 6], steps=[5, 6])
    state_of(0)
    write_series(run, PATH, [1, 5.5], steps=[1, 5], times=[START, START + 9 * SECOND])
    state_of(1)

    assert read_points(run, PATH).values.tolist() == [1, 5, 5.5, 6]


def test_points_of_many_series_come_by_path(run):
    write_series(run, "a", [1])
    write_series(run, "b", [2])

    points = read_many_points(run, ["b", "a", "absent"])

    assert {path: p.values.tolist() for path, p in points.items()} == {
        "b": [2],
        "a": [1],
        "absent": [],
    }


def test_long_series_are_held_in_memory_one_at_a_time(run, monkeypatch):
    monkeypatch.setattr(series_queries, "POINTS_AT_ONCE", 10)
    for path, count in (("a", 4), ("b", 6), ("c", 20), ("d", 1)):
        write_series(run, path, noise(count))
    compact_run(run.id)
    read, read_chunks = [], series_queries.read_chunks

    def noted(*arguments):
        found = read_chunks(*arguments)
        read.append(sum(map(len, found.values())))
        return found

    monkeypatch.setattr(series_queries, "read_chunks", noted)

    counts = read_and_take(run, ["b", "a", "c", "absent", "d"], lambda _, p: len(p))

    assert counts == {"b": 6, "a": 4, "c": 20, "absent": 0, "d": 1}
    assert read == [10, 20, 1]


def test_another_runs_series_of_the_same_name_is_not_mixed_in(member, run):
    other = make_run(run.project, "other")
    write_series(run, PATH, [1])
    write_series(other, PATH, [2])
    compact_run(other.id)

    assert read_points(run, PATH).values.tolist() == [1]


def test_chunks_replaced_during_reading_are_read_again(run, monkeypatch):
    write_series(run, PATH, [1, 2])
    compact_run(run.id)
    write_series(run, PATH, [3], steps=[2])
    read_summaries = tails.read_summaries

    def read_before_compaction(*arguments):
        found = read_summaries(*arguments)
        compact_run(run.id)
        return found

    monkeypatch.setattr(tails, "read_summaries", read_before_compaction)

    assert read_points(run, PATH).values.tolist() == [1, 2, 3]


def test_steady_buckets_stay_while_a_line_grows(run):
    kept, before = [], None
    for first in range(0, 4_000, 50):
        steps = np.arange(first, first + 50)
        write_series(run, PATH, np.sin(steps), steps=steps)
        line = read_line(run, PATH, buckets=100, steady=True)
        if before is not None and not line.exact:
            assert 80 <= len(line.x) <= 101
            old = before.mean[:-1]
            kept.append(old.tolist() == line.mean[: len(old)].tolist())
        before = None if line.exact else line

    # From 200 to 4,000 points there are fewer than five doublings of four widths.
    assert kept.count(False) <= 18
    assert kept.count(True) > 50


@pytest.mark.parametrize(
    "width", [0.0, -1.0, np.nan, np.inf, 1e-320, 1e308, 1.0, 3.7, 2**40]
)
def test_a_steady_width_is_hardly_wider(width):
    steady = steady_width(width)

    if 0 < width < np.inf:
        assert width * (1 - 1e-9) <= steady <= width * 1.2
    else:
        assert steady == width or np.isnan(width)


def test_the_chunks_in_memory_do_not_grow_with_the_number_of_series(run, monkeypatch):
    for number in range(5):
        write_series(run, f"metric-{number}", [float(number)] * 10)
    compact_run(run.id)
    read_chunks, held = drawing.read_chunks, []

    def noted(run_ids, ids):
        held.append(len(ids))
        return read_chunks(run_ids, ids)

    monkeypatch.setattr(drawing, "read_chunks", noted)
    monkeypatch.setattr(drawing, "SERIES_AT_ONCE", 2)

    lines = read_lines([(run, f"metric-{number}") for number in range(5)])

    assert held == [2, 2, 1]
    assert [line.mean[0] for line in lines] == [0, 1, 2, 3, 4]
    assert {line.count for line in lines} == {10}


def epochs(run, count, length):
    """Write epochs whose steps each start at 0, one chunk per epoch."""
    for number in range(count):
        write_series(run, PATH, noise(length, seed=number))
        compact_run(run.id)


def columns_of(line):
    return [line.x, line.mean, line.minimum, line.maximum]


@pytest.mark.parametrize("span", [(None, None), (100, 6_000), (7, 7)])
@pytest.mark.parametrize("axis", list(Axis))
def test_steps_that_repeat_are_read_in_portions_and_drawn_the_same(
    run, monkeypatch, axis, span
):
    monkeypatch.setattr("tracker.series.lines.DECODED_POINTS", 0)
    epochs(run, 6, 9_000)
    write_series(run, PATH, noise(50, seed=9))
    low, high = span if axis == Axis.STEP else (None, None)
    asked = {"axis": axis, "low": low, "high": high, "buckets": 50}
    whole = read_line(run, PATH, **asked)
    monkeypatch.setattr(drawing, "POINTS_AT_ONCE", 10)
    monkeypatch.setattr(drawing, "CHUNKS_AT_ONCE", 2)
    read_chunks, held = drawing.read_chunks, []

    def noted(run_ids, ids):
        held.append(len(ids))
        return read_chunks(run_ids, ids)

    monkeypatch.setattr(drawing, "read_chunks", noted)

    line = read_line(run, PATH, **asked)

    assert max(held, default=0) <= 2
    assert (line.count, line.exact) == (whole.count, whole.exact)
    for found, expected in zip(columns_of(line), columns_of(whole), strict=True):
        assert np.allclose(found, expected)


def test_a_long_tail_is_drawn_in_portions_as_it_is_at_once(run, monkeypatch):
    write_series(run, PATH, noise(3_000), steps=np.arange(3_000) % 700)
    whole = read_line(run, PATH, buckets=40)
    monkeypatch.setattr(drawing, "POINTS_AT_ONCE", 100)
    monkeypatch.setattr(drawing, "CHUNK_POINTS", 16)

    line = read_line(run, PATH, buckets=40)

    assert line.count == whole.count == 3_000
    for found, expected in zip(columns_of(line), columns_of(whole), strict=True):
        assert np.allclose(found, expected)


def test_series_that_are_drawn_together_hold_a_bounded_number_of_points(
    run, monkeypatch
):
    for number in range(4):
        write_series(run, f"metric-{number}", [float(number)] * 10)
    compact_run(run.id)
    monkeypatch.setattr(drawing, "POINTS_AT_ONCE", 25)
    read_chunks, held = drawing.read_chunks, []

    def noted(run_ids, ids):
        held.append(len(ids))
        return read_chunks(run_ids, ids)

    monkeypatch.setattr(drawing, "read_chunks", noted)

    lines = read_lines([(run, f"metric-{number}") for number in range(4)])

    assert held == [2, 2]
    assert [line.mean[0] for line in lines] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "changes",
    [{"maximum": 1e6}, {"first_step": 1e9, "last_step": 1e9}, {"count": 10**9}],
    ids=str,
)
def test_a_chart_of_rows_draws_nothing_that_a_damaged_row_says(
    run, monkeypatch, changes
):
    monkeypatch.setattr("tracker.series.lines.DECODED_POINTS", 0)
    values = noise(40_000)
    write_series(run, PATH, values)
    compact_run(run.id)
    whole = read_line(run, PATH, buckets=1)
    chunk = SeriesChunk.objects.order_by("first_step").first()
    SeriesChunk.objects.filter(id=chunk.id).update(**changes)

    line = read_line(run, PATH, buckets=1)

    for found, expected in zip(columns_of(line), columns_of(whole), strict=True):
        assert np.allclose(found, expected)
    assert line.count == whole.count
