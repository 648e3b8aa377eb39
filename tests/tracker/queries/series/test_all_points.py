from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import START, make_project, make_run, write_series
from tests.tracker.series.examples import noise
from tracker.models import SeriesChunk
from tracker.queries.series import all_points
from tracker.queries.series.all_points import read_all_points
from tracker.queries.series.series import Axis, read_points
from tracker.series import compaction
from tracker.series.codec import CHUNK_POINTS
from tracker.series.compaction import compact_run
from tracker.series.store import Overtaken

pytestmark = [pytest.mark.django_db, pytest.mark.database]

PATH = "loss"


@pytest.fixture
def run(member):
    return make_run(make_project(member))


def steps_and_values(parts):
    parts = list(parts)
    if not parts:
        return [], []
    return (
        np.concatenate([part.points.steps for part in parts]).tolist(),
        np.concatenate([part.points.values for part in parts]).tolist(),
    )


@settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(
        st.tuples(st.integers(0, 60), st.integers(1, 80), st.booleans()), max_size=6
    )
)
def test_points_come_in_order_whatever_overlaps(run, monkeypatch, writes):
    monkeypatch.setattr("tracker.series.rows.CHUNK_POINTS", 32)
    for module in ("tracker.series.rows", "tracker.queries.series.all_points"):
        monkeypatch.setattr(f"{module}.FULL_POINTS", 16)
    monkeypatch.setattr(all_points, "CHUNKS_AT_ONCE", 2)
    path = f"series/{writes}"[:1_000]
    for number, (first, count, is_compacted) in enumerate(writes):
        steps = first + np.arange(count)
        times = START + 1_000 * number + np.arange(count)
        write_series(run, path, noise(count), steps=steps, times=times)
        if is_compacted:
            compact_run(run.id)

    steps, values = steps_and_values(read_all_points([(run, path)]))

    expected = read_points(run, path)
    assert steps == expected.steps.tolist()
    assert values == expected.values.tolist()


def test_series_come_one_after_the_other_in_the_order_asked(run):
    other = make_run(run.project, "other")
    for some in (run, other):
        for path in ("a", "b"):
            write_series(some, path, noise(20_000))
        compact_run(some.id)

    wanted = [(other, "b"), (other, "absent"), (other, "a"), (run, "a")]
    parts = read_all_points(wanted)

    seen = [key for key, _ in groupby((part.run.id, part.path) for part in parts)]
    assert seen == [(other.id, "b"), (other.id, "a"), (run.id, "a")]


def test_a_part_is_never_long(run):
    for first in (0, 100_000):
        steps = first + np.arange(100_000)
        write_series(run, PATH, noise(100_000), steps=steps)
    compact_run(run.id)

    lengths = [len(part.points) for part in read_all_points([(run, PATH)])]

    assert sum(lengths) == 200_000
    assert max(lengths) <= (all_points.CHUNKS_AT_ONCE + 1) * CHUNK_POINTS


@pytest.mark.parametrize("axis", [Axis.STEP, Axis.RELATIVE])
def test_a_range_includes_both_its_ends(run, axis):
    write_series(run, PATH, noise(30_000))
    compact_run(run.id)

    steps, _ = steps_and_values(
        read_all_points([(run, PATH)], axis=axis, low=8_000, high=9_000)
    )

    assert steps == list(range(8_000, 9_001))


def test_chunks_that_are_joined_meanwhile_are_not_missed(run, monkeypatch):
    monkeypatch.setattr(compaction, "OPEN_CHUNKS", 2)
    write_series(run, PATH, noise(40_000))
    compact_run(run.id)
    for number in range(4):
        first = 40_000 + number * 100
        write_series(run, PATH, noise(100), steps=first + np.arange(100))
    parts = read_all_points([(run, PATH)])
    begun = next(parts)

    compact_run(run.id)

    steps, _ = steps_and_values([begun, *parts])
    assert steps == list(range(40_400))


def test_a_series_deleted_during_reading_raises_an_error(run):
    write_series(run, PATH, noise(100_000))
    compact_run(run.id)
    parts = read_all_points([(run, PATH)])
    next(parts)

    SeriesChunk.objects.all().delete()

    with pytest.raises(Overtaken):
        list(parts)
