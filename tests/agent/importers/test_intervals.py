"""Operations on time intervals: union, intersection, difference."""

from __future__ import annotations

import pytest

from seamark.importers.intervals import longest_gap, total, union, within, without


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], []),
        ([(1, 1), (3, 2)], []),
        ([(5, 6), (1, 2)], [(1, 2), (5, 6)]),
        ([(1, 4), (2, 3)], [(1, 4)]),
        ([(1, 2), (2, 3)], [(1, 3)]),
        ([(-5, -3), (-4, 1)], [(-5, 1)]),
    ],
)
def test_a_union_is_disjoint_and_in_order(given, expected):
    assert union(given) == expected


def test_spans_are_cut_at_the_edges_of_a_window():
    spans = [(0, 2), (3, 5), (6, 9)]

    assert within(spans, 1, 7) == [(1, 2), (3, 5), (6, 7)]
    assert within(spans, 4, 4.5) == [(4, 4.5)]
    assert within(spans, 2, 3) == []
    assert within([], 0, 1) == []


def test_what_others_cover_is_left_out():
    assert without([(0, 10)], [(1, 2), (4, 5)]) == [(0, 1), (2, 4), (5, 10)]
    assert without([(0, 2), (3, 4)], [(-1, 3.5)]) == [(3.5, 4)]
    assert without([(0, 2), (3, 6)], [(1, 4), (5, 7)]) == [(0, 1), (4, 5)]
    assert without([(0, 2)], []) == [(0, 2)]
    assert without([(0, 2)], [(0, 2)]) == []


def test_gaps_are_what_no_span_covers():
    assert longest_gap([(1, 2), (5, 6)], 0, 10) == 4
    assert longest_gap([], 0, 10) == 10
    assert longest_gap([(0, 10)], 0, 10) == 0
    assert total([(1, 2), (5, 8)]) == 4
