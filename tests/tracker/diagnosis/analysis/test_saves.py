from __future__ import annotations

import numpy as np

from tests.tracker.diagnosis.stages import SECOND, samples, steps
from tracker.diagnosis.analysis.saves import Loop, find_saves

MIB = 1 << 20


def loop(*, phases=None, extra=0.4, every=100):
    seconds = np.full(1000, 0.05)
    seconds[every - 1 :: every] += extra
    rows = steps(total=seconds, count=1000)
    return Loop(seconds, rows.times / SECOND, None, phases), rows.times


def writes(times, *, every=100, offset=0):
    """Samples with writes in the second in which each slow step ends."""
    first = times[0] - int(0.05 * SECOND)
    at = ((times[every - 1 :: every] - first) // SECOND).astype(int) + offset
    values = np.zeros(int((times[-1] - first) // SECOND) + 2)
    values[at] = 100 * MIB
    return samples(values)


def test_slow_steps_that_write_are_saves():
    found, times = loop()
    saves = find_saves(found, writes(times))

    assert saves is not None
    assert saves.period == 100
    assert 90 * MIB < saves.each_bytes <= 200 * MIB


def test_slow_steps_beside_writes_are_not():
    found, times = loop()

    assert find_saves(found, writes(times, offset=-2)) is None
    assert find_saves(found, samples(np.full(60, 10.0 * MIB))) is None


def test_time_that_has_a_name_is_no_unnamed_save():
    named = np.zeros(1000)
    named[99::100] = 0.4
    found, times = loop(phases={"evaluate": named})

    assert find_saves(found, writes(times)) is None
