from __future__ import annotations

import pytest

from tracker.diagnosis.input.batches import (
    BatchTimes,
    batch_gain,
    batch_times,
    largest_power_of_two,
)


def test_the_fixed_time_is_shared_by_more_examples():
    times = BatchTimes(base_seconds=0.08, seconds_per_example=0.01)

    # 8 examples take 0.16 s, 32 take 0.4 s.
    assert times.throughput_ratio(8, 32) == pytest.approx(1.6)
    assert batch_gain(times, 8, 32).bound == pytest.approx(1.6)


def test_a_smaller_batch_is_worth_nothing():
    assert batch_gain(BatchTimes(0.08, 0.01), 32, 8).bound == 1.0


@pytest.mark.parametrize(
    ("base", "slope"), [(None, None), (0.1, None), (None, 0.1), (0.1, 0.0), (0.1, -1.0)]
)
def test_a_trial_that_fits_no_step_says_nothing(base, slope):
    assert batch_times(base, slope) is None


def test_noise_below_nothing_is_nothing():
    assert batch_times(-0.01, 0.1) == BatchTimes(0.0, 0.1)


@pytest.mark.parametrize(
    ("most", "size"), [(0, 0), (1, 1), (7.9, 4), (64, 64), (600, 512)]
)
def test_powers_of_two_up_to_a_number(most, size):
    assert largest_power_of_two(most) == size
