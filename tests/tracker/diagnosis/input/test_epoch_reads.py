from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import START, samples
from tracker.diagnosis.analysis.epochs import Epoch
from tracker.diagnosis.input.epoch_reads import bytes_of_epochs, measure_epoch_reads

BEGAN = START / 1e6
TWO = (Epoch(slice(0, 4), BEGAN, BEGAN + 4), Epoch(slice(4, 8), BEGAN + 4, BEGAN + 8))


def test_bytes_are_the_rate_times_the_time():
    rate = samples([10.0] * 4 + [2.0] * 4)

    assert bytes_of_epochs(TWO, rate) == pytest.approx([40.0, 8.0])


def test_an_epoch_without_a_reading_is_unknown():
    assert bytes_of_epochs(TWO, samples([10.0] * 4)) is None
    assert bytes_of_epochs(TWO, None) is None
    assert bytes_of_epochs((), samples([1.0])) is None


def test_steps_and_waits_are_means_of_each_epoch():
    seconds = np.repeat([1.0, 0.5], 4)

    found = measure_epoch_reads(TWO, seconds, seconds / 2, samples([1.0] * 8), None)

    assert found is not None
    assert found.step_seconds.tolist() == [1.0, 0.5]
    assert found.wait_seconds.tolist() == [0.5, 0.25]
    assert found.requested is None
    assert found.data_bytes == 4.0
