from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, stage
from tracker.diagnosis.engine.finding import Abstention, Finding, Severity
from tracker.diagnosis.rules.gpu_memory_bandwidth_is_the_limit import check


def busy(**gpu):
    return stage(gpus=1, gpu_percent=99.0, gpu=gpu)


BY_DRIVER = {
    "gpu_power_watts": 300.0,
    "gpu_power_limit_at_start_watts": 700.0,
}

ALARMS = [
    busy(gpu_dram_active_percent=80.0, gpu_tensor_active_percent=5.0),
    busy(gpu_memory_utilization_percent=85.0, **BY_DRIVER),
]
SILENCES = [
    busy(gpu_dram_active_percent=30.0, gpu_tensor_active_percent=5.0),
    busy(gpu_dram_active_percent=70.0, gpu_tensor_active_percent=60.0),
    busy(gpu_memory_utilization_percent=30.0, **BY_DRIVER),
]


def ask(*, dram=None, tensor=None, controller=None, watts=300.0, **more):
    def given(value):
        return None if value is None else readings(value)

    return check(
        readings(99.0),
        gpu_dram_active_percent=given(dram),
        gpu_tensor_active_percent=given(tensor),
        gpu_memory_utilization_percent=given(controller),
        gpu_power_watts=given(watts),
        gpu_power_limit_at_start_watts=700.0,
        **more,
    )


@pytest.mark.parametrize(
    ("signals", "is_found"),
    [
        pytest.param({"dram": 61.0, "tensor": 29.0}, True, id="just found"),
        pytest.param({"dram": 59.0, "tensor": 5.0}, False, id="just too little"),
        pytest.param({"dram": 80.0, "tensor": 31.0}, False, id="tensor cores work"),
        pytest.param({"controller": 61.0}, True, id="the controller"),
        pytest.param({"controller": 59.0}, False, id="the controller, just too little"),
        pytest.param({"controller": 80.0, "watts": 600.0}, False, id="hard work"),
        pytest.param({"dram": 20.0, "controller": 90.0}, False, id="counters first"),
    ],
)
def test_judges_near_each_limit(signals, is_found):
    assert (ask(**signals) is not None) == is_found


def test_a_card_that_does_not_tell_is_not_judged():
    assert isinstance(ask(), Abstention)
    assert isinstance(ask(controller=90.0, watts=None), Abstention)


def test_the_controllers_time_is_a_coarse_measure():
    finding = ask(controller=80.0)

    assert isinstance(finding, Finding)
    assert finding.quality <= 0.6


def test_sixteen_bits_halve_what_is_moved():
    finding = ask(dram=80.0, tensor=5.0, step_seconds=np.full(50, 0.1))

    assert isinstance(finding, Finding)
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(1 / 0.6)


def test_a_run_in_sixteen_bits_is_promised_nothing():
    finding = ask(dram=80.0, step_seconds=np.full(50, 0.1), torch_autocast="bfloat16")

    assert isinstance(finding, Finding)
    assert finding.severity is Severity.NOTICE
    assert finding.gain is None
    assert not any("16 bits" in r.text for r in finding.recommendations)


def test_a_setting_already_in_use_is_not_recommended():
    finding = ask(
        dram=80.0,
        torch_autocast="bfloat16",
        model_is_compiled=1.0,
        optimizer_is_fused=1.0,
    )

    assert isinstance(finding, Finding)
    assert len(finding.recommendations) == 1


def test_an_open_finding_stays_above_the_limit():
    assert ask(dram=57.0, already_open=True) is not None
    assert ask(dram=54.0, already_open=True) is None
