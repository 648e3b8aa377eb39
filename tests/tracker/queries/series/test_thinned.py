from __future__ import annotations

import numpy as np
import pytest

from tests.builders import SECOND, START, make_project, make_run, write_series
from tests.tracker.series.examples import noise
from tracker.queries.series import thinned
from tracker.queries.series.thinned import (
    read_common_steps,
    read_curves,
    read_longest,
    read_thinned,
)
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


@pytest.fixture
def chunks_at_once(monkeypatch):
    """Use short chunks and small batches; return the number read each time."""
    monkeypatch.setattr("tracker.series.rows.CHUNK_POINTS", 100)
    monkeypatch.setattr("tracker.series.rows.FULL_POINTS", 50)
    monkeypatch.setattr(thinned, "CHUNKS_AT_ONCE", 4)
    counts, read_chunks = [], thinned.read_chunks

    def noted(run_ids, ids):
        counts.append(len(ids))
        return read_chunks(run_ids, ids)

    monkeypatch.setattr(thinned, "read_chunks", noted)
    return counts


@pytest.mark.parametrize("read", [read_thinned, read_curves, read_common_steps])
def test_few_chunks_of_a_long_series_are_in_memory_at_a_time(run, chunks_at_once, read):
    write_series(run, LONG, noise(1_000))
    write_series(run, SHORT, noise(100))
    compact_run(run.id)

    assert read(run, [LONG, SHORT]).keys() == {LONG, SHORT}

    assert max(chunks_at_once) == 4
    assert sum(chunks_at_once) == 11


def test_a_curve_is_thinned_in_order_of_step(run, chunks_at_once, monkeypatch):
    monkeypatch.setattr(thinned, "MAX_CURVE_POINTS", 100)
    steps = np.r_[np.arange(500), np.arange(500)]
    write_series(run, LONG, noise(1_000), steps=steps)
    compact_run(run.id)
    write_series(run, LONG, [np.nan] * 3, steps=[500, 501, 502])

    found = read_curves(run, [LONG])[LONG]

    assert 100 <= len(found) <= 150
    assert (np.diff(found.steps) >= 0).all()
    assert np.isnan(found.values[-3:]).all()


def test_a_series_of_which_all_points_are_needed_is_whole(run, monkeypatch):
    monkeypatch.setattr(thinned, "MAX_CURVE_POINTS", 100)
    for path in (LONG, SHORT):
        write_series(run, path, noise(1_000))

    found = read_curves(run, [LONG, SHORT], whole=[SHORT])

    assert len(found[LONG]) < 150
    assert len(found[SHORT]) == 1_000


def test_short_series_are_whole(run):
    write_series(run, LONG, noise(5_000))
    compact_run(run.id)
    write_series(run, LONG, noise(10), steps=5_000 + np.arange(10))

    for read in (read_curves, read_common_steps):
        assert read(run, [LONG])[LONG].steps.tolist() == list(range(5_010))


def test_the_same_steps_are_read_for_each_rank(run, monkeypatch):
    monkeypatch.setattr(thinned, "MAX_RANK_POINTS", 1_000)
    paths = [f"monitoring/train/rank-{rank}/step/seconds" for rank in (1, 2)]
    for rank, path in enumerate(paths):
        times = START + rank + np.arange(10_000) * SECOND
        write_series(run, path, noise(10_000), times=times)
    compact_run(run.id)

    first, second = read_common_steps(run, paths, whole_seconds=60).values()

    assert first.steps.tolist() == second.steps.tolist()
    assert 400 <= len(first) <= 700
    assert first.steps[-60:].tolist() == list(range(9_940, 10_000))


@pytest.mark.parametrize("compacted", [0, 1, 2])
def test_every_nth_point_is_read_across_chunks_and_journal(run, compacted):
    for part in range(2):
        steps = np.arange(part * 10_000, (part + 1) * 10_000)
        times = START + steps * SECOND
        write_series(run, LONG, np.sin(steps), steps=steps, times=times)
        if part < compacted:
            compact_run(run.id)

    write_series(run, SHORT, [1.0])

    found = read_longest(run, [SHORT, LONG, "no/such"], most=3_000)
    whole = read_longest(run, [LONG], most=20_000)

    assert found.steps.tolist() == list(range(0, 20_000, 7))
    assert len(whole) == 20_000
    assert not len(read_longest(run, ["no/such"], most=10))
