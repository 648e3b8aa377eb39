from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import SECOND, samples, steps
from tracker.diagnosis.analysis.outliers import find_outliers
from tracker.diagnosis.hardware.core_wait import (
    most_waited,
    without_core_waits,
    without_waiting_steps,
)


def loop(seconds):
    rows = steps(total=seconds, count=len(seconds))
    return rows.times / SECOND, rows.columns["step_seconds"]


def test_a_step_has_waited_no_more_than_its_ticks_and_itself():
    ends, seconds = loop(np.full(50, 0.1))
    shares = np.zeros(5)
    shares[2] = 0.03  # in the third second

    waited = most_waited(ends, seconds, samples(shares))

    assert waited[25] == pytest.approx(0.03)
    assert waited[:19].max() == pytest.approx(0.0)
    shares[2] = 0.9
    assert most_waited(ends, seconds, samples(shares))[25] == pytest.approx(0.1)


def test_slow_steps_that_waited_for_a_core_are_left_out():
    seconds = np.full(200, 0.1)
    seconds[[50, 150]] = 0.6
    ends, seconds = loop(seconds)
    shares = np.zeros(22)
    shares[4:7] = 0.5  # around the first one

    left = without_waiting_steps(
        find_outliers(seconds), most_waited(ends, seconds, samples(shares))
    )

    assert list(left.rows) == [150]


def test_the_usual_wait_is_taken_off():
    ends, seconds = loop(np.full(50, 0.1))

    assert without_core_waits(seconds, ends, samples(np.full(6, 0.2))) == pytest.approx(
        0.08
    )
    assert list(without_core_waits(seconds, ends, None)) == list(seconds)
