from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, samples
from tracker.diagnosis.storage import correlation, measure_storage_wait


def test_unknown_is_not_idle():
    assert measure_storage_wait() is None


def test_the_share_of_blocked_workers_is_of_those_that_load():
    wait = measure_storage_wait(
        loader_workers=4.0, job_workers=readings(6.0), workers_blocked=readings(2.0)
    )

    assert wait is not None
    assert wait.blocked_share == pytest.approx(0.5)
    assert wait.pressure_share is None
    assert wait.exceeds(blocked=0.5, pressure=0.2)
    assert not wait.exceeds(blocked=0.6, pressure=0.2)


def test_a_process_that_loads_by_itself_is_seen_by_pressure_alone():
    wait = measure_storage_wait(
        loader_workers=0.0,
        workers_blocked=readings(0.0),
        io_pressure_share=readings(0.4),
    )

    assert wait is not None
    assert wait.blocked_share is None
    assert wait.exceeds(blocked=0.3, pressure=0.2)
    assert [e.signal for e in wait.evidence(blocked=0.3, pressure=0.2)] == [
        "io_pressure_share"
    ]


def test_readings_that_rise_and_fall_together_correlate():
    rate = np.random.default_rng(1).random(60)

    assert correlation(samples(rate), samples(3 * rate + 1)) == pytest.approx(1.0)
    assert correlation(samples(rate), samples(-rate)) == pytest.approx(-1.0)


def test_what_does_not_change_correlates_with_nothing():
    assert correlation(readings(1.0), readings(1.0)) is None
    assert correlation(samples([1.0, 2.0]), samples([1.0, 2.0])) is None
