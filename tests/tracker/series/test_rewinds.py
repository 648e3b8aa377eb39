from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tracker.series.examples import any_points, finite_steps, points, same
from tracker.series.downsample import Buckets, summarize
from tracker.series.points import Points
from tracker.series.rewinds import (
    Replaced,
    gone,
    replaced_by,
    stairs_of,
    touched,
    without,
)

Rewind = tuple[float, int]

# Few, so that points and rewinds often have equal values.
few_steps = st.one_of(st.integers(-4, 4).map(float), finite_steps)
few_times = st.one_of(st.integers(-4, 4), st.integers(-(2**63), 2**63 - 1))
rewinds = st.lists(st.tuples(few_steps, few_times), min_size=1, max_size=12)


@st.composite
def some_points(draw: st.DrawFn) -> Points:
    found = draw(any_points(steps=few_steps))
    count = len(found)
    times = draw(st.lists(few_times, min_size=count, max_size=count))
    return Points(found.steps, np.array(times, np.int64), found.values)


def said(every: Sequence[Rewind]) -> Replaced:
    steps, times = zip(*every, strict=True)
    return replaced_by(np.array(steps, np.float64), np.array(times, np.int64))


# Reference implementation: rewind by rewind, slow.


def left_one_by_one(some: Points, every: Sequence[Rewind]) -> Points:
    kept = np.ones(len(some), np.bool_)
    for step, time in every:
        kept &= (some.steps < step) | (some.times >= time)
    return some[kept]


def gone_one_by_one(chunks: Buckets, every: Sequence[Rewind]) -> np.ndarray:
    found = np.zeros(len(chunks), np.bool_)
    for step, time in every:
        found |= (chunks.first_step >= step) & (chunks.last_time < time)
    return found


def touched_one_by_one(chunks: Buckets, every: Sequence[Rewind]) -> np.ndarray:
    found = np.zeros(len(chunks), np.bool_)
    for step, time in every:
        found |= (chunks.last_step >= step) & (chunks.first_time < time)
    return found


@given(some_points(), rewinds)
def test_the_points_left_are_those_that_no_rewind_replaces(some, every):
    assert same(without(some, said(every)), left_one_by_one(some, every))


@given(some_points(), rewinds, st.integers(1, 5))
def test_buckets_are_gone_and_touched_as_each_rewind_says(some, every, size):
    chunks = summarize(some, size)

    assert np.array_equal(gone(chunks, said(every)), gone_one_by_one(chunks, every))
    assert np.array_equal(
        touched(chunks, said(every)), touched_one_by_one(chunks, every)
    )


@given(rewinds)
def test_each_stair_replaces_what_no_other_one_does(every):
    stairs = said(every)

    assert (np.diff(stairs.steps) > 0).all()
    assert (stairs.times[1:] > stairs.times[:-1]).all()
    assert {*zip(stairs.steps, stairs.times, strict=True)} <= {*every}


def test_a_rewind_matters_unless_another_is_as_low_and_as_late():
    steps = np.array([5.0, 3.0, 3.0, 8.0, 3.0, 9.0])
    times = np.array([10, 10, 9, 20, 10, 15])

    assert stairs_of(steps, times).tolist() == [1, 3]


def test_without_rewinds_points_are_as_they_were():
    some = points([1, 2, 3])

    assert without(some, None) is some


@pytest.mark.parametrize(("step", "time"), [(3.0, 2**62), (0.0, 0)])
def test_points_that_all_count_are_not_copied(step, time):
    some = points([1, 2, 3])

    assert without(some, said([(step, time)])) is some
