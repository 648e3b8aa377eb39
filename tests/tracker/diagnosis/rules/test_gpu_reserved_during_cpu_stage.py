from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, samples, stage, steps
from tracker.diagnosis.engine.finding import Abstention, Finding, Severity
from tracker.diagnosis.rules.gpu_reserved_during_cpu_stage import check

WORKS = {"job_cpu_cores": 3.0}
CORES = {"effective_cores": 4.0, "stage_share_of_run": 0.5}
LONG = steps(total=0.1, count=2000)

ALARMS = [stage(step_rows=LONG, sampled=WORKS, facts=CORES, gpus=1, gpu_percent=0.0)]
SILENCES = [stage(step_rows=LONG, sampled=WORKS, facts=CORES, gpus=1, gpu_percent=60.0)]


def ask(*, gpu=0.0, cpu=1.0, seconds=120, **more):
    return check(readings(gpu, seconds=seconds), readings(cpu, seconds=seconds), **more)


@pytest.mark.parametrize(
    ("gpu", "cpu", "is_found"),
    [
        pytest.param(4.0, 1.0, True, id="hardly used"),
        pytest.param(6.0, 1.0, False, id="used"),
        pytest.param(0.0, 0.6, True, id="the CPU works"),
        pytest.param(0.0, 0.1, False, id="nothing works"),
    ],
)
def test_judges_near_each_limit(gpu, cpu, is_found):
    assert (ask(gpu=gpu, cpu=cpu, effective_cores=8.0) is not None) == is_found


def test_a_short_use_of_the_gpu_does_not_hide_the_waste():
    used = np.zeros(200)
    used[:4] = 100.0

    assert isinstance(check(samples(used), readings(2.0, seconds=200)), Finding)


def test_does_not_judge_less_than_a_minute():
    assert ask(seconds=50) == Abstention(("at least 10 samples over 60 s",))


def test_silent_about_a_small_part_of_the_run():
    assert ask(stage_share_of_run=0.05) is None
    assert ask(stage_share_of_run=0.15) is not None


def test_hours_are_critical():
    finding = ask(seconds=4000)

    assert isinstance(finding, Finding)
    assert finding.severity == Severity.CRITICAL


def test_says_how_many_gpu_hours_it_held():
    finding = ask(seconds=3601)

    assert isinstance(finding, Finding)
    held = next(e for e in finding.evidence if e.statistic == "GPU time held")
    assert held.value == pytest.approx(1.0 * 3600)


def test_an_open_finding_stays_above_the_limit():
    assert ask(gpu=8.0, already_open=True) is not None


def test_silent_about_a_gpu_beside_one_that_works():
    busiest = readings(90.0, seconds=120)

    assert ask(busiest_gpu_percent=busiest) is None
    assert ask(busiest_gpu_percent=readings(1.0, seconds=120)) is not None
