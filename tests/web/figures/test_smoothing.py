import numpy as np
import pytest

from web.figures.smoothing import smoothed


def test_a_level_line_stays_where_it_is_from_its_first_point():
    assert smoothed(np.full(5, 3.0), 0.9) == pytest.approx(np.full(5, 3.0))


def test_without_weight_the_line_is_itself():
    values = np.array([1.0, 5.0, -2.0])

    assert smoothed(values, 0.0).tolist() == values.tolist()


def test_a_gap_stays_a_gap_and_spoils_nothing_after_it():
    smooth = smoothed(np.array([2.0, np.nan, np.inf, 2.0]), 0.5)

    assert np.isnan(smooth[1])
    assert np.isnan(smooth[2])
    assert smooth[3] == pytest.approx(2.0)


def test_a_spike_is_lower_and_lasts_longer():
    smooth = smoothed(np.array([0.0, 0.0, 10.0, 0.0]), 0.8)

    assert 0 < smooth[3] < smooth[2] < 10
