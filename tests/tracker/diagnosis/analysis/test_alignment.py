from __future__ import annotations

import numpy as np

from tests.tracker.diagnosis.stages import SECOND, START
from tracker.diagnosis.analysis.alignment import align
from tracker.series.points import Points


def points(steps, values, *, times=None) -> Points:
    steps = np.asarray(steps, dtype=np.float64)
    times = (
        START + np.arange(len(steps)) * SECOND if times is None else np.asarray(times)
    )
    return Points(steps, times, np.asarray(values, dtype=np.float64))


def test_series_of_equal_steps_are_rows():
    rows = align(points([0, 1], [1, 2]), {"data_wait_seconds": points([0, 1], [3, 4])})

    assert rows.columns["step_seconds"].tolist() == [1.0, 2.0]
    assert rows.columns["data_wait_seconds"].tolist() == [3.0, 4.0]


def test_a_step_that_one_series_lacks_is_a_gap():
    rows = align(points([0, 1, 2], [1, 2, 3]), {"wait": points([0, 2], [5, 6])})

    assert rows.columns["wait"][[0, 2]].tolist() == [5.0, 6.0]
    assert np.isnan(rows.columns["wait"][1])


def test_a_step_that_only_the_other_has_is_left_out():
    rows = align(points([1], [1]), {"wait": points([0, 1, 2], [5, 6, 7])})

    assert rows.columns["wait"].tolist() == [6.0]


def test_steps_logged_again_after_a_restart_stay_apart():
    base = points([0, 1, 0, 1], [1, 2, 3, 4])

    rows = align(base, {"wait": points([0, 1, 0, 1], [5, 6, 7, 8])})

    assert rows.columns["step_seconds"].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert rows.columns["wait"].tolist() == [5.0, 6.0, 7.0, 8.0]


def test_rows_are_in_order_of_time():
    later_first = points([0, 1], [1, 2], times=[START + SECOND, START])

    assert align(later_first, {}).numbers.tolist() == [1.0, 0.0]


def test_a_series_without_points_is_all_gaps():
    rows = align(points([0, 1], [1, 2]), {"wait": Points.empty()})

    assert np.isnan(rows.columns["wait"]).all()


def test_nothing_to_align_to_is_no_rows():
    assert len(align(Points.empty(), {"wait": points([0], [1])})) == 0


def test_a_point_that_has_not_arrived_yet_moves_no_others():
    base = points([0, 1, 0, 1], [1, 2, 3, 4])

    rows = align(base, {"wait": points([0, 1, 0], [5, 6, 7])})

    assert rows.columns["wait"][:3].tolist() == [5.0, 6.0, 7.0]
    assert np.isnan(rows.columns["wait"][3])
