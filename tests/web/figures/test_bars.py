"""Histograms as small shapes, on one scale."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tracker.records.histogram import Histogram
from web.figures.bars import HEIGHT, WIDTH, bars_in_row


def histogram(edges, counts, others=0.0):
    return Histogram(np.array(edges, float), np.array(counts, float), others)


def tops(path):
    return [float(top) for top in re.findall(r"V([\d.]+)H", path)]


def test_the_same_shape_is_the_same_path_whatever_was_counted():
    row = bars_in_row(
        [histogram([0, 1, 2], [1, 3]), histogram([0, 1, 2], [100, 300], others=2)]
    )

    few, many = row.bars
    assert few.path == many.path == f"M0 {HEIGHT}V42.7H100V0H{WIDTH}V{HEIGHT}Z"
    assert (few.count, many.count, many.others) == (4, 400, 2)
    assert (row.low, row.high) == (0, 2)


def test_they_share_their_ends():
    row = bars_in_row([histogram([0, 1], [5]), histogram([3, 4], [5])])

    left, right = row.bars
    assert (row.low, row.high) == (0, 4)
    assert tops(left.path)[0] == tops(right.path)[-1] == 0
    assert tops(left.path)[-1] == tops(right.path)[0] == HEIGHT


def test_narrow_bins_stand_no_higher():
    row = bars_in_row([histogram([0, 1, 4], [1, 3])])

    assert tops(row.bars[0].path) == [0, 0]


def test_without_a_value_there_is_no_shape():
    empty = Histogram(np.empty(0), np.empty(0), 3.0)
    alone = bars_in_row([empty])
    beside = bars_in_row([empty, histogram([0, 1], [1]), histogram([0, 1], [0])])

    assert alone.low is None
    assert [each.path for each in alone.bars] == [""]
    assert [bool(each.path) for each in beside.bars] == [False, True, False]
    assert bars_in_row([]).bars == []


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("edges", "counts"),
    [
        ([-1.7e308, 0, 1.7e308], [1, 1]),
        ([0, 5e-324, 1e-323], [1, 1]),
        ([0, 1, 2], [1e308, 1e308]),
        ([0, 1, 2], [5e-324, 0]),
    ],
)
def test_numbers_at_the_ends_of_what_there_is_are_drawn(edges, counts):
    (bars,) = bars_in_row([histogram(edges, counts)]).bars

    assert re.fullmatch(rf"M0 {HEIGHT}(V[\d.]+H[\d.]+)+V{HEIGHT}Z", bars.path)
