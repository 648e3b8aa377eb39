from __future__ import annotations

import pytest

from tracker.diagnosis.gain import Floor, expected_gain, recoverable_share


def test_the_highest_floor_is_the_bound():
    gain = expected_gain(1.0, (Floor(0.2, "training"), Floor(0.5, "the CPU")))

    assert gain.bound == pytest.approx(2.0)
    assert gain.next_limit == "the CPU"
    assert "the CPU" in gain.basis


def test_half_of_the_difference_is_likely():
    gain = expected_gain(1.0, (Floor(0.5, "training"),))

    assert gain.likely == pytest.approx(1 / 0.75)
    assert recoverable_share(gain) == pytest.approx(0.25)


def test_nothing_is_promised_where_the_floor_is_above_the_step():
    gain = expected_gain(1.0, (Floor(1.3, "the CPU"),))

    assert (gain.bound, gain.likely) == (1.0, 1.0)


def test_a_step_without_any_work_promises_no_miracles():
    assert expected_gain(1.0, (Floor(0.0, "training"),)).bound == pytest.approx(100.0)


def test_a_finding_without_gain_recovers_nothing():
    assert recoverable_share(None) == 0.0
