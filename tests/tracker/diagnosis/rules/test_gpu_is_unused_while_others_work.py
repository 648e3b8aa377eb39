from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, samples, stage
from tracker.diagnosis.engine.finding import ONE_GPU, Abstention, Finding
from tracker.diagnosis.rules.gpu_is_unused_while_others_work import check


def fleet(*percents: float):
    return {
        gpu: {"gpu_utilization_percent": readings(percent)}
        for gpu, percent in enumerate(percents)
    }


ALARMS = [replace(stage(), gpus=fleet(90, 0, 0, 85), gpu_count=4)]
SILENCES = [replace(stage(), gpus=fleet(90, 85), gpu_count=2)]


@pytest.mark.parametrize(
    ("percents", "is_found"),
    [
        pytest.param((90, 0.9), True, id="just unused"),
        pytest.param((90, 1.1), False, id="just used"),
        pytest.param((21, 0), True, id="the other one works"),
        pytest.param((19, 0), False, id="none works"),
    ],
)
def test_judges_near_each_limit(percents, is_found):
    assert (check(fleet(*percents)) is not None) == is_found


def test_says_which_and_how_to_use_all():
    finding = check(fleet(90, 0, 0, 85), framework="pytorch")

    assert isinstance(finding, Finding)
    assert "GPUs 1 and 2" in finding.summary
    assert finding.recommendations[0].code == "torchrun --nproc-per-node=4 train.py"
    assert finding.recommendations[1].code == "CUDA_VISIBLE_DEVICES=0,3"
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(2.0)


def test_one_gpu_has_no_others():
    assert check(fleet(0)) == Abstention((ONE_GPU,))


def test_a_slice_without_utilization_is_not_taken_for_unused():
    gpus = {0: fleet(90)[0], 1: {"gpu_memory_used_bytes": readings(1e9)}}

    assert check(gpus) == Abstention(("gpu_utilization_percent",))


def test_work_now_and_then_is_use():
    now_and_then = np.zeros(100)
    now_and_then[::10] = 50.0

    gpus = fleet(90) | {1: {"gpu_utilization_percent": samples(now_and_then)}}
    assert check(gpus) is None


def test_an_open_finding_stays_above_the_limit():
    assert check(fleet(90, 1.5), already_open=True) is not None
