from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import GIB, readings, samples, stage, steps
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.gpu_is_held_but_idle import check

LONG = steps(total=10.0, count=120)
HELD = {"gpu_job_memory_bytes": 20.0 * GIB}

ALARMS = [stage(step_rows=LONG, gpus=1, gpu_percent=0.0, gpu=HELD)]
SILENCES = [
    stage(step_rows=LONG, gpus=1, gpu_percent=60.0, gpu=HELD),
    stage(step_rows=LONG, gpus=1, gpu_percent=0.0, gpu={"gpu_job_memory_bytes": 1e8}),
]


def ask(idle_share=1.0, *, held=20.0, seconds=1200, **more):
    busy = np.where(np.arange(seconds) < idle_share * seconds, 0.0, 80.0)
    return check(
        samples(busy),
        gpu_memory_used_bytes=readings(30 * GIB, seconds=seconds),
        gpu_job_memory_bytes=readings(held * GIB, seconds=seconds),
        **more,
    )


@pytest.mark.parametrize(
    ("idle", "held", "is_found"),
    [
        pytest.param(0.81, 20.0, True, id="just idle"),
        pytest.param(0.79, 20.0, False, id="just busy"),
        pytest.param(1.0, 0.5, True, id="just held"),
        pytest.param(1.0, 0.4, False, id="a context alone"),
    ],
)
def test_judges_near_each_limit(idle, held, is_found):
    assert (ask(idle, held=held) is not None) == is_found


def test_a_stage_that_worked_at_first_is_a_clear_case():
    # Idle all the time is not needed for the full confidence.
    assert ask(0.91).margin == 1.0
    assert 0.5 < ask(0.82).margin < 1.0


def test_ten_minutes_are_the_least():
    assert ask(seconds=500) == Abstention(("at least 10 samples over 10 min",))


def test_a_service_is_meant_to_wait():
    answer = ask(spans={"request": readings(0.1)})

    assert isinstance(answer, Abstention)


def test_silent_while_another_gpu_works():
    assert ask(busiest_gpu_percent=readings(90.0, seconds=1200)) is None


def test_somebody_else_s_memory_makes_it_a_guess():
    finding = check(
        readings(0.0, seconds=1200),
        gpu_memory_used_bytes=readings(30 * GIB, seconds=1200),
    )

    assert isinstance(finding, Finding)
    assert finding.quality == pytest.approx(0.6)


def test_says_what_it_cost():
    finding = ask(seconds=7201)

    assert isinstance(finding, Finding)
    assert "2.0 h of GPU time" in finding.summary


def test_an_open_finding_stays_above_the_lower_limit():
    assert ask(0.75, already_open=True) is not None
    assert ask(0.65, already_open=True) is None


def test_only_the_time_with_memory_held_is_judged():
    """Memory is held in 40 % of the samples, and the GPU works in an eighth of those."""
    second = np.arange(9_500)
    is_held = second >= 5_700
    busy = np.where(is_held & (second % 8 == 0), 80.0, 0.0)

    finding = check(
        samples(busy), gpu_memory_used_bytes=samples(np.where(is_held, 4 * GIB, 0.0))
    )

    assert isinstance(finding, Finding)
    assert "88 % of the 63 min in which 4 GiB" in finding.summary


def test_a_share_of_the_memory_is_enough():
    finding = check(
        readings(0.0, seconds=1200), gpu_memory_used_share=readings(0.7, seconds=1200)
    )

    assert isinstance(finding, Finding)
    assert "70 % of its memory" in finding.summary


def test_abstains_without_measured_memory():
    answer = check(readings(0.0, seconds=1200))

    assert answer == Abstention(("gpu_memory_used_bytes",))
