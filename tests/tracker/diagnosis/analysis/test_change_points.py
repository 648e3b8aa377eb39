from __future__ import annotations

import numpy as np
import pytest

from tracker.diagnosis.analysis.change_points import change_points, noise_of


def levels(*parts: tuple[float, int], noise: float = 0.0, seed: int = 1) -> np.ndarray:
    """One series with each level for a number of rows."""
    values = np.concatenate([np.full(rows, level) for level, rows in parts])
    random = np.random.default_rng(seed)
    return (values + random.normal(0.0, noise, len(values)))[:, np.newaxis]


def test_a_level_that_stays_has_no_change():
    assert change_points(levels((5.0, 300)), shortest=20) == []


@pytest.mark.parametrize("seed", range(20))
def test_noise_is_no_change(seed):
    assert change_points(levels((5.0, 400), noise=1.0, seed=seed), shortest=20) == []


@pytest.mark.parametrize("seed", range(10))
def test_changes_are_found_where_they_are(seed):
    found = change_points(
        levels((0.0, 100), (6.0, 150), (2.0, 80), noise=1.0, seed=seed), shortest=20
    )

    assert len(found) == 2
    assert found == pytest.approx([100, 250], abs=4)


def test_small_changes_are_found_in_several_series_together():
    one = levels((0.0, 60), (2.0, 60), noise=0.8, seed=3)
    other = levels((0.0, 60), (-2.0, 60), noise=0.8, seed=4)

    (found,) = change_points(np.hstack([one, other, one]), shortest=20)

    assert found == pytest.approx(60, abs=4)


def test_single_rows_that_stick_out_are_no_change():
    spikes = levels((1.0, 300))
    spikes[[20, 90, 91, 200]] = 1_000.0

    assert change_points(spikes, shortest=20) == []


def test_no_segment_is_shorter_than_asked_for():
    found = change_points(levels((0.0, 50), (9.0, 10), (0.0, 50)), shortest=20)

    assert all(gap >= 20 for gap in np.diff([0, *found, 110]))


def test_too_few_rows_and_no_series_have_no_change():
    assert change_points(levels((0.0, 10), (9.0, 10)), shortest=20) == []
    assert change_points(np.empty((500, 0)), shortest=20) == []


def test_noise_is_that_between_neighbors():
    random = np.random.default_rng(5)

    assert noise_of(random.normal(0.0, 3.0, 5_000)) == pytest.approx(3.0, rel=0.1)
    assert noise_of(np.repeat([0.0, 100.0], 200)) == 0.0
    assert noise_of(np.empty(0)) == 0.0
