from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, samples
from tracker.diagnosis.input.storage import (
    WaitLimits,
    correlation,
    measure_storage_wait,
)


def limits(blocked: float) -> WaitLimits:
    return WaitLimits(blocked, 0.1, pressure=0.2, pressure_release=0.14)


def test_unknown_is_not_idle():
    assert measure_storage_wait() is None


def test_the_share_of_blocked_workers_is_of_those_that_load():
    wait = measure_storage_wait(
        loader_workers=4.0, job_workers=readings(6.0), workers_blocked=readings(2.0)
    )

    assert wait is not None
    assert wait.blocked_share == pytest.approx(0.5)
    assert wait.pressure_share is None
    assert wait.exceeds(limits(blocked=0.5), already_open=False)
    assert not wait.exceeds(limits(blocked=0.6), already_open=False)


def test_a_process_that_loads_by_itself_is_seen_by_pressure_alone():
    wait = measure_storage_wait(
        loader_workers=0.0,
        workers_blocked=readings(0.0),
        io_pressure_share=readings(0.4),
    )

    assert wait is not None
    assert wait.blocked_share is None
    assert wait.exceeds(limits(blocked=0.3), already_open=False)
    assert [e.signal for e in wait.evidence(limits(blocked=0.3))] == [
        "io_pressure_share"
    ]


def test_a_finding_that_is_open_stays_so_for_longer_and_two_signs_agree():
    wait = measure_storage_wait(
        loader_workers=4.0,
        workers_blocked=readings(1.0),
        io_pressure_share=readings(0.16),
    )

    assert wait is not None
    assert not wait.exceeds(limits(blocked=0.3), already_open=False)
    assert wait.exceeds(limits(blocked=0.3), already_open=True)
    assert not wait.agrees(limits(blocked=0.2))


def test_readings_that_rise_and_fall_together_correlate():
    rate = np.random.default_rng(1).random(60)

    assert correlation(samples(rate), samples(3 * rate + 1)) == pytest.approx(1.0)
    assert correlation(samples(rate), samples(-rate)) == pytest.approx(-1.0)


def test_constant_or_short_series_have_no_correlation():
    assert correlation(readings(1.0), readings(1.0)) is None
    assert correlation(samples([1.0, 2.0]), samples([1.0, 2.0])) is None
