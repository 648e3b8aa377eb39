from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.tracker.series.examples import points, same, table
from tracker.series.points import concatenate
from tracker.series.table import (
    Table,
    disentangled,
    one_after_the_other,
    side_by_side,
)

# Few series, so that tables share some of them.
series_ids = st.lists(st.integers(1, 5), min_size=1, max_size=5, unique=True)
counts = st.integers(1, 4)


@st.composite
def entangled(draw: st.DrawFn) -> list[Table]:
    tables = []
    for number in range(draw(st.integers(0, 6))):
        ids, count = draw(series_ids), draw(counts)
        start = draw(st.sampled_from([0, 10 * number]))
        some = points(np.zeros(count), steps=np.arange(start, start + count))
        rows = {key: np.arange(count) + 1_000 * number + key / 10 for key in ids}
        tables.append(table(rows, some))
    return tables


def by_series(tables):
    """Return all points of each series, in the order of the tables."""
    return {
        key: concatenate(
            [
                some.points_of(some.series_ids.tolist().index(key))
                for some in tables
                if key in some.series_ids
            ]
        )
        for key in {key for some in tables for key in some.series_ids.tolist()}
    }


@given(entangled())
def test_disentangled_each_series_is_in_one_table_with_all_its_points(tables):
    found = disentangled(tables)

    ids = [key for some in found for key in some.series_ids.tolist()]
    assert len(ids) == len(set(ids))
    before, after = by_series(tables), by_series(found)
    assert before.keys() == after.keys()
    for key, expected in before.items():
        assert sorted(after[key].values.tolist()) == sorted(expected.values.tolist())
        # For any order of the tables, a value stays with its step.
        assert dict(zip(after[key].values, after[key].steps, strict=True)) == dict(
            zip(expected.values, expected.steps, strict=True)
        )


def test_series_that_are_always_logged_together_stay_together():
    some = [table({1: [n], 2: [-n]}, points([0], steps=[n])) for n in (1.0, 2.0, 3.0)]

    (found,) = disentangled(some)

    assert found.series_ids.tolist() == [1, 2]
    assert found.steps.tolist() == [1, 2, 3]
    assert found.values.tolist() == [[1, 2, 3], [-1, -2, -3]]


@given(entangled())
def test_side_by_side_no_point_moves(tables):
    before, after = by_series(tables), by_series(side_by_side(tables))

    assert before.keys() == after.keys()
    for key, expected in before.items():
        assert sorted(after[key].values.tolist()) == sorted(expected.values.tolist())


def test_tables_of_the_same_ticks_are_joined_unless_they_share_a_series():
    alike, other = points([0, 0]), points([0, 0], steps=[7, 8])
    tables = [
        table({1: [1, 2]}, alike),
        table({2: [3, 4]}, alike),
        table({1: [5, 6]}, alike),
        table({3: [7, 8]}, other),
    ]

    found = {tuple(some.series_ids.tolist()) for some in side_by_side(tables)}

    assert found == {(1, 2), (3,), (1,)}


def test_sorts_all_series_alike_and_cuts_at_ticks():
    some = table({1: [3, 1, 2], 2: [30, 10, 20]}, points([0] * 3, steps=[3, 1, 2]))

    first, second = some.sorted_by_step().cut(2)

    assert (first.values.tolist(), first.steps.tolist()) == ([[1, 2], [10, 20]], [1, 2])
    assert (second.values.tolist(), second.steps.tolist()) == ([[3], [30]], [3])


def test_ticks_that_are_alike_stay_in_their_order():
    some = table({1: [1, 2, 3]}, points([0] * 3, steps=[1, 1, 0], times=[5, 5, 9]))

    assert some.sorted_by_step().values.tolist() == [[3, 1, 2]]


def test_one_after_the_other_ticks_follow_each_other():
    parts = [table({4: [1, 2]}, points([1, 2])), table({4: [3]}, points([3]))]

    joined = one_after_the_other(parts)

    assert same(joined.points_of(0), concatenate([part.points_of(0) for part in parts]))
