import math

import numpy as np
import pytest

from web.figures.smoothing import EMA, GAUSSIAN, MEAN, SMOOTHERS, STEP_EMA, Smoothing
from web.figures.smoothing import smoothed as smoothed_by

generator = np.random.default_rng(5)
STEPS = np.cumsum(generator.integers(1, 30, size=200)).astype(float)
NOISE = generator.normal(size=200)


def smoothed(values, weight, kind=EMA, x=None):
    places = np.arange(len(values), dtype=float) if x is None else x
    return smoothed_by(places, values, Smoothing(weight, kind))


@pytest.mark.parametrize("kind", SMOOTHERS)
def test_a_level_line_stays_where_it_is_from_its_first_point(kind):
    assert smoothed(np.full(5, 3.0), 0.9, kind) == pytest.approx(np.full(5, 3.0))


@pytest.mark.parametrize("kind", SMOOTHERS)
def test_without_weight_the_line_is_itself(kind):
    values = np.array([1.0, 5.0, -2.0])

    assert smoothed(values, 0.0, kind).tolist() == values.tolist()


@pytest.mark.parametrize("kind", SMOOTHERS)
def test_a_gap_stays_a_gap_and_spoils_nothing_after_it(kind):
    smooth = smoothed(np.array([2.0, np.nan, np.inf, 2.0]), 0.5, kind)

    assert np.isnan(smooth[1])
    assert np.isnan(smooth[2])
    assert smooth[3] == pytest.approx(2.0)


@pytest.mark.parametrize("kind", SMOOTHERS)
@pytest.mark.parametrize("values", [[], [7.0], [np.nan]], ids=["none", "one", "gap"])
def test_short_lines_are_themselves(kind, values):
    smooth = smoothed(np.array(values), 0.9, kind)

    assert smooth == pytest.approx(np.array(values), nan_ok=True)


@pytest.mark.parametrize("kind", SMOOTHERS)
def test_points_at_one_place_have_a_mean(kind):
    smooth = smoothed(np.array([1.0, 3.0]), 0.9, kind, x=np.array([5.0, 5.0]))

    assert np.isfinite(smooth).all()


@pytest.mark.parametrize("kind", SMOOTHERS)
def test_the_largest_numbers_stay_numbers(kind):
    smooth = smoothed(np.full(300, 1.7e308), 0.9, kind)

    assert smooth == pytest.approx(np.full(300, 1.7e308))


def test_a_spike_is_lower_and_lasts_longer():
    smooth = smoothed(np.array([0.0, 0.0, 10.0, 0.0]), 0.8)

    assert 0 < smooth[3] < smooth[2] < 10


def test_exponential_is_that_of_tensorboard():
    last, expected = 0.0, []
    for count, value in enumerate(NOISE, start=1):
        last = last * 0.7 + (1 - 0.7) * value
        expected.append(last / (1 - 0.7**count))

    assert smoothed(NOISE, 0.7, EMA) == pytest.approx(np.array(expected), rel=1e-9)


def test_exponential_by_step_is_that_of_weights_and_biases():
    weight = min(math.sqrt(0.6), 0.999)
    extent = STEPS[-1] - STEPS[0]
    last = debias = 0.0
    expected = []
    for place, value in enumerate(NOISE):
        change = (STEPS[place] - STEPS[max(place - 1, 0)]) / extent * 1_000
        adjusted = weight**change
        last = last * adjusted + value
        debias = debias * adjusted + 1
        expected.append(last / debias)

    smooth = smoothed(NOISE, 0.6, STEP_EMA, x=STEPS)

    assert smooth == pytest.approx(np.array(expected), rel=1e-9)


def test_gaussian_is_the_weighted_mean_of_all_points():
    deviation = 0.5**2 * 0.1 * (STEPS[-1] - STEPS[0])
    expected = []
    for step in STEPS:
        weights = [
            math.exp(-0.5 * ((other - step) / deviation) ** 2) for other in STEPS
        ]
        total = math.fsum(w * v for w, v in zip(weights, NOISE, strict=True))
        expected.append(total / math.fsum(weights))

    smooth = smoothed(NOISE, 0.5, GAUSSIAN, x=STEPS)

    assert smooth == pytest.approx(np.array(expected), rel=1e-9)


def test_the_running_mean_is_that_of_the_points_in_a_window():
    half = math.sqrt(3) * 0.5**2 * 0.1 * (STEPS[-1] - STEPS[0])
    expected = [
        float(
            np.mean(
                [v for s, v in zip(STEPS, NOISE, strict=True) if abs(s - step) <= half]
            )
        )
        for step in STEPS
    ]

    smooth = smoothed(NOISE, 0.5, MEAN, x=STEPS)

    assert smooth == pytest.approx(np.array(expected), rel=1e-9)
