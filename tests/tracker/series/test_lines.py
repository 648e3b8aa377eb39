from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tracker.series.examples import (
    SECOND,
    START,
    any_points,
    finite_steps,
    noise,
    points,
)
from tracker.series import lines
from tracker.series.downsample import Buckets, concatenate, merge, summarize
from tracker.series.lines import Axis, Window, choose, draw, draw_gradually
from tracker.series.points import Points
from tracker.series.points import concatenate as concatenate_points

CHUNK = 8_192


def window(low: float = -np.inf, high: float = np.inf, *, buckets: int = 500) -> Window:
    return Window(Axis.STEP, low, high, buckets)


def rows(*chunks: Points) -> Buckets:
    """Return the bucket of each chunk, as in its row."""
    return concatenate([merge(summarize(c), np.zeros(64)[:1], 0) for c in chunks])


def long_series(count: int) -> list[Points]:
    whole = points(noise(count))
    return [whole[start : start + CHUNK] for start in range(0, count, CHUNK)]


def row_of_chunks(count: int) -> Buckets:
    """Return rows of consecutive full chunks."""
    first = np.arange(count) * CHUNK
    return Buckets(
        count=np.full(count, CHUNK),
        finite_count=np.full(count, CHUNK),
        minimum=np.zeros(count),
        maximum=np.ones(count),
        total=np.full(count, CHUNK / 2),
        first_step=first.astype(np.float64),
        last_step=first + CHUNK - 1.0,
        first_time=START + first * SECOND,
        last_time=START + (first + CHUNK - 1) * SECOND,
    )


def test_few_points_are_all_read():
    choice = choose(window(), row_of_chunks(3), Points.empty())

    assert choice.by_points.all()


def test_a_million_points_are_read_from_overviews():
    choice = choose(window(), row_of_chunks(122), Points.empty())

    assert choice.by_overview.all()
    assert not choice.by_points.any()


def test_ten_million_points_are_read_from_rows():
    choice = choose(window(), row_of_chunks(1_221), Points.empty())

    assert choice.by_row.all()


def test_points_are_read_where_the_range_cuts_a_chunk():
    cut = choose(window(100, 500_000), row_of_chunks(122), Points.empty())

    assert np.flatnonzero(cut.by_points).tolist() == [0, 500_000 // CHUNK]
    assert cut.by_overview.sum() == 500_000 // CHUNK - 1


def test_points_are_read_when_more_buckets_are_asked_for_than_overviews_have():
    fine = choose(window(buckets=10_000), row_of_chunks(122), Points.empty())

    assert fine.by_points.all()


def test_chunks_outside_the_range_are_not_read():
    choice = choose(window(9 * CHUNK, 9 * CHUNK), row_of_chunks(122), Points.empty())

    assert np.flatnonzero(choice.by_points).tolist() == [9]


def test_a_range_without_points_reads_nothing():
    nowhere = window(1e9, 2e9)
    choice = choose(nowhere, row_of_chunks(122), points([1]))

    assert not (choice.by_points | choice.by_overview | choice.by_row).any()
    assert draw(nowhere, choice.bucket_width, [], [points([1])]).count == 0


def test_draws_points_themselves_when_they_are_few():
    drawn = draw(window(1, 2), 0, [], [points([5, 6, 7, 8])])

    assert drawn.exact
    assert drawn.x.tolist() == [1, 2]
    assert drawn.mean.tolist() == drawn.minimum.tolist() == [6, 7]


def test_never_hides_a_spike():
    chunks = long_series(100_000)
    spike, dip = chunks[3].values, chunks[7].values
    spike[77], dip[1_234] = 1e6, -1e6
    choice = choose(window(), rows(*chunks), Points.empty())

    drawn = draw(window(), choice.bucket_width, [summarize(c) for c in chunks], [])

    assert not drawn.exact
    assert drawn.count == 100_000
    assert len(drawn.x) <= 501
    assert drawn.maximum.max() == 1e6
    assert drawn.minimum.min() == -1e6
    at_spike = drawn.x[drawn.maximum.argmax()]
    assert abs(at_spike - (3 * CHUNK + 77)) <= 2 * choice.bucket_width


def test_x_never_goes_back_even_where_chunks_overlap():
    late = points(noise(5_000), steps=np.arange(5_000) + 0.5)
    both = [points(noise(5_000)), late]

    drawn = draw(window(buckets=50), 100.0, [summarize(c) for c in both], [])

    assert (np.diff(drawn.x) >= 0).all()
    assert drawn.count == 10_000


@pytest.mark.parametrize(
    ("axis", "x"),
    [
        pytest.param(Axis.STEP, [0, 1], id="step"),
        pytest.param(Axis.TIME, [START / 1_000, START / 1_000 + 1_000], id="time"),
        pytest.param(Axis.RELATIVE, [10, 11], id="relative"),
    ],
)
def test_draws_over_each_axis(axis, x):
    origin = START - 10 * SECOND

    drawn = draw(Window(axis, -np.inf, np.inf, 10, origin), 0, [], [points([1, 2])])

    assert drawn.x.tolist() == x


def test_all_points_at_one_step_make_one_bucket():
    stacked = points(noise(5_000), steps=np.zeros(5_000))
    choice = choose(window(), rows(stacked), Points.empty())

    drawn = draw(window(), choice.bucket_width, [], [stacked])

    assert drawn.x.tolist() == [0]
    assert drawn.count == 5_000


def test_the_largest_steps_there_are_can_be_drawn():
    largest = np.finfo(np.float64).max
    far = points(noise(5_000), steps=np.linspace(-1, 1, 5_000) * largest)
    choice = choose(window(), rows(far), Points.empty())

    drawn = draw(window(), choice.bucket_width, [], [far])

    assert drawn.count == 5_000
    assert np.isfinite(drawn.x).all()


@given(any_points(steps=finite_steps).filter(len), st.integers(1, 20))
def test_points_alone_are_drawn_as_their_summaries_would_be(some, buckets):
    whole = window(buckets=buckets)
    width = choose(whole, Buckets.empty(), some).bucket_width

    found = lines._draw_buckets(some.steps, [some.values], width)[0]
    expected = draw(whole, width, [summarize(some, size=1)], [])

    for name in ("x", "mean", "minimum", "maximum"):
        left, right = getattr(found, name), getattr(expected, name)
        assert np.array_equal(left, right, equal_nan=True), name
    assert found.count == expected.count


# Steps that restart in each epoch, or are logged by two processes; and any others.
repeated_steps = st.one_of(
    st.integers(0, 20).map(float), st.sampled_from([0.1, 0.5, 1e6]), finite_steps
)
portioned = st.lists(any_points(steps=repeated_steps), min_size=1, max_size=6)


def same_lines(found, expected):
    """Compare means within rounding errors, and all other values exactly."""
    for name in ("x", "minimum", "maximum"):
        left, right = getattr(found, name), getattr(expected, name)
        assert np.array_equal(left, right, equal_nan=True), name
    largest = np.fmax(np.abs(expected.minimum), np.abs(expected.maximum))
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(found.mean - expected.mean)
        is_same = (apart <= 1e-9 * largest) | (found.mean == expected.mean)
    # Sums of the largest floats depend on their order.
    assert (is_same | np.isnan(expected.mean) | (largest > 1e300)).all()
    assert np.array_equal(np.isnan(found.mean), np.isnan(expected.mean))
    assert (found.exact, found.count) == (expected.exact, expected.count)


@given(portioned, st.integers(1, 20))
def test_points_in_portions_are_drawn_as_all_at_once(parts, buckets):
    whole = window(buckets=buckets)
    every = concatenate_points(parts)
    choice = choose(whole, Buckets.empty(), every)

    found = draw_gradually(whole, choice, parts)

    same_lines(found, draw(whole, choice.bucket_width, [], [every]))


@given(portioned, portioned, st.integers(1, 20), st.sampled_from([1, 3, 128]))
def test_overviews_and_points_in_portions_are_drawn_as_all_at_once(
    parts, others, buckets, size
):
    whole = window(buckets=buckets)
    overviews = [found for part in others if len(found := summarize(part, size=size))]
    choice = choose(whole, concatenate(overviews), concatenate_points(parts))
    # The origin of `draw` is the middle of the first piece.
    pieces = concatenate([*overviews, *(summarize(part, size=1) for part in parts)])
    middles = pieces.first_step / 2 + pieces.last_step / 2
    choice = replace(choice, origin=middles.min() if len(middles) else 0.0)

    found = draw_gradually(whole, choice, [*overviews, *parts])

    same_lines(found, draw(whole, choice.bucket_width, overviews, parts))


@given(portioned, st.integers(1, 20), st.integers(0, 20), st.integers(0, 20))
def test_no_point_of_a_window_is_hidden(parts, buckets, low, width):
    part = window(low, low + width, buckets=buckets)
    every = concatenate_points(parts)
    rows_of_parts = rows(*(p for p in parts if len(p)))
    choice = choose(part, rows_of_parts, Points.empty())

    found = draw_gradually(part, choice, parts)

    inside = part.clip(every)
    expected = draw(part, choice.bucket_width, [], [every])
    assert (found.exact, found.count) == (expected.exact, len(inside))
    assert len(found.x) <= max(buckets + 1, lines.EXACT_POINTS * buckets)
    for name, best in (("minimum", np.fmin), ("maximum", np.fmax)):
        left, right = getattr(found, name), getattr(expected, name)
        assert np.array_equal(
            best.reduce(left, initial=np.nan), best.reduce(right, initial=np.nan), True
        )


def test_memory_does_not_grow_with_the_number_of_portions():
    def epochs(count):
        for number in range(count):
            yield points(noise(10_000, seed=number % 10))

    def peak_of(count):
        tracemalloc.start()
        drawn = draw_gradually(window(), choice, epochs(count))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert drawn.count == count * 10_000
        return peak

    choice = choose(window(), rows(*epochs(10)), Points.empty())

    assert peak_of(100) < 1.2 * peak_of(10) + 100_000


def test_series_at_the_same_places_are_drawn_as_each_would_be_alone():
    steps = np.arange(3_000.0)
    others = np.sort(np.random.default_rng(0).uniform(0, 3_000, 3_000))
    others[[0, -1]] = steps[[0, -1]]
    noisy = [noise(3_000, seed=seed) for seed in range(5)]
    noisy[1][7:2_000] = np.nan
    noisy[2][5] = np.inf
    series = [
        lines.PointsRead(window(buckets=buckets), width, points(values, steps=places))
        for values, places, buckets, width in zip(
            noisy * 3,
            [steps, others, steps] * 5,
            [500] * 10 + [2_000] * 5,
            [6.0] * 7 + [7.0] * 8,
            strict=True,
        )
    ]

    together = lines.draw_points(series)

    for read, found in zip(series, together, strict=True):
        alone = draw(read.window, read.bucket_width, [], [read.points])
        for name in ("x", "mean", "minimum", "maximum"):
            left, right = getattr(found, name), getattr(alone, name)
            assert np.array_equal(left, right, equal_nan=True), name
        assert (found.exact, found.count) == (alone.exact, alone.count)
    assert together[2].x is together[3].x
