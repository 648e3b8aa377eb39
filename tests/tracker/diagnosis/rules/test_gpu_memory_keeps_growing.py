from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import GIB, readings, samples, stage, steps
from tracker.diagnosis.engine.finding import CONTRADICTED, Abstention, Finding, Severity
from tracker.diagnosis.rules.gpu_memory_keeps_growing import check

CAPACITY = 80.0 * GIB
LONG = steps(total=1.0, count=1200)

ALARMS = [
    stage(step_rows=LONG, gpus=1, gpu_memory=np.linspace(20, 40, 1200) * GIB),
    stage(
        step_rows=LONG,
        gpus=1,
        gpu_memory=60 * GIB,
        gpu={"gpu_allocator_allocated_bytes": np.linspace(20, 30, 1200) * GIB},
    ),
]
SILENCES = [
    stage(step_rows=LONG, gpus=1, gpu_memory=40 * GIB),
    # The driver's value grows while a cache fills, but tensor memory does not.
    stage(
        step_rows=LONG,
        gpus=1,
        gpu_memory=np.linspace(20, 40, 1200) * GIB,
        gpu={"gpu_allocator_allocated_bytes": 15.0 * GIB},
    ),
]


def grown(by, *, seconds=1200, **more):
    used = 20 * GIB + np.linspace(0, by, seconds)
    return check(samples(used), CAPACITY, **more)


@pytest.mark.parametrize(
    ("grown_mib", "is_found"),
    [
        pytest.param(620, True, id="just notable"),
        pytest.param(540, False, id="hardly, without the first tenth"),
    ],
)
def test_judges_near_the_limit(grown_mib, is_found):
    assert (grown(grown_mib * 2**20) is not None) == is_found


def test_says_when_it_is_full():
    finding = grown(40 * GIB)

    assert isinstance(finding, Finding)
    assert finding.severity == Severity.CRITICAL
    left = next(
        e for e in finding.evidence if e.statistic == "time until GPU memory is full"
    )
    assert left.value == pytest.approx(600, rel=0.1)


def test_growth_that_levels_off_is_none():
    used = 20 * GIB + 10 * GIB * (1 - np.exp(-np.arange(1200) / 150))

    assert check(samples(used), CAPACITY) is None


def test_memory_that_is_given_back_is_none():
    sawtooth = np.tile(np.linspace(20, 30, 200) * GIB, 6)

    assert check(samples(sawtooth), CAPACITY) is None


def test_longer_steps_point_at_longer_inputs():
    longer = grown(10 * GIB, step_seconds=np.linspace(0.1, 0.3, 1000))
    same = grown(10 * GIB, step_seconds=np.full(1000, 0.1))

    assert isinstance(longer, Finding)
    assert isinstance(same, Finding)
    assert longer.corroboration == CONTRADICTED
    assert same.corroboration > CONTRADICTED


@pytest.mark.parametrize("framework", ["tensorflow", "jax"])
def test_does_not_judge_memory_that_was_reserved_in_advance(framework):
    assert isinstance(grown(10 * GIB, framework=framework), Abstention)


def test_does_not_judge_a_handful_of_readings():
    assert isinstance(check(readings(GIB, seconds=5), CAPACITY), Abstention)


def test_an_open_finding_stays_above_the_lower_limit():
    assert grown(500 * 2**20, already_open=True) is not None
    assert grown(300 * 2**20, already_open=True) is None
