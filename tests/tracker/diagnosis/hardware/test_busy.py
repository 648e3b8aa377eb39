from __future__ import annotations

import numpy as np

from tests.tracker.diagnosis.stages import SECOND, samples
from tracker.diagnosis.hardware.busy import means_before, while_busy


def test_a_reading_counts_if_the_gpu_was_busy_before_it():
    utilization = samples([0, 0, 0, 0, 0, 90, 90, 90, 90, 90])
    slow = samples([1.0, 2.0], every=5 * SECOND)

    assert while_busy(slow, utilization).values.tolist() == [2.0]


def test_seldom_readings_look_back_some_seconds_only():
    utilization = samples([90.0] * 20 + [0.0] * 10)
    seldom = samples([7.0], every=30 * SECOND)

    assert while_busy(seldom, utilization).values.tolist() == []


def test_means_where_nothing_was_read_are_unknown():
    first, second = samples([1.0, 3.0]), samples([0.0], every=100 * SECOND)

    assert np.isnan(means_before(first, second.times)).all()
    assert means_before(first, first.times).tolist() == [1.0, 3.0]
    assert len(means_before(first, first.times[:0])) == 0
