from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tracker.series.examples import noise, points, same
from tracker.series import ordering
from tracker.series.ordering import Held
from tracker.series.points import concatenate


@pytest.fixture
def counted(monkeypatch):
    """Count the concatenated points and pieces."""
    counts = {"points": 0, "pieces": 0}

    def counting(parts):
        counts["points"] += sum(len(part) for part in parts)
        counts["pieces"] += len(parts)
        return concatenate(parts)

    monkeypatch.setattr(ordering, "concatenate", counting)
    monkeypatch.setattr(ordering, "PORTION_POINTS", 64)
    monkeypatch.setattr(ordering, "MARK_POINTS", 8)
    return counts


def handed_on(parts, *, at_once=4):
    """Add parts in order of their starts, and take out the points that are complete."""
    held = Held()
    for start in range(0, len(parts), at_once):
        for part in parts[start : start + at_once]:
            held.add(part)
        after = parts[start + at_once : start + at_once + 1]
        yield from held.before(after[0].steps.min() if after else np.inf)


def an_epoch(number, *, length=100, first=0):
    times = 1_000 * number + np.arange(length)
    steps = first + np.arange(length)
    return points(noise(length, seed=number), steps=steps, times=times)


@given(
    st.lists(
        st.lists(
            st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=30
        ),
        min_size=1,
        max_size=12,
    ),
    st.integers(1, 4),
)
def test_the_order_is_that_of_all_points_sorted_at_once(drawn, at_once):
    # All values differ, so that points with equal step and time can be distinguished.
    parts = [
        points(
            1_000.0 * number + np.arange(len(part)),
            steps=[step for step, _ in part],
            times=[time for _, time in part],
        )
        for number, part in enumerate(drawn)
    ]
    parts.sort(key=lambda part: part.steps.min())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordering, "PORTION_POINTS", 4)
        patch.setattr(ordering, "MARK_POINTS", 2)
        found = list(handed_on(parts, at_once=at_once))

    assert same(concatenate(found), concatenate(parts).sorted_by_step())
    assert all(0 < len(some) <= 4 for some in found)


@pytest.mark.parametrize("epochs", [8, 64])
def test_each_point_is_put_in_order_once_where_steps_repeat(counted, epochs):
    parts = [an_epoch(number) for number in range(epochs)]

    found = list(handed_on(parts))

    total = 100 * epochs
    assert sum(map(len, found)) == total
    assert counted["points"] == total
    assert counted["pieces"] <= total / 8 + epochs


@pytest.mark.parametrize("epochs", [8, 64])
def test_each_point_is_put_in_order_once_where_some_steps_repeat(counted, epochs):
    parts = [an_epoch(number, first=10 * number) for number in range(epochs)]

    found = list(handed_on(parts))

    assert sum(map(len, found)) == 100 * epochs
    assert counted["points"] <= 100 * epochs


def test_parts_without_overlap_are_passed_on_at_once(counted):
    parts = [an_epoch(number, first=100 * number) for number in range(8)]
    held = Held()
    for part, following in pairwise(parts):
        held.add(part)
        some = list(held.before(following.steps[0]))
        assert sum(map(len, some)) == 100

    assert counted["points"] == 0


def test_few_points_that_are_left_do_not_hold_the_memory_of_all(counted):
    held = Held()
    held.add(points(noise(1_000), steps=[*range(999), 10_000]))
    assert sum(map(len, held.before(9_999))) == 999

    (left,) = held.before(np.inf)

    assert left.steps.base is None or left.steps.base.size == 1
