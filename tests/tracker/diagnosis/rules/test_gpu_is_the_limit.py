from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, stage, steps
from tracker.diagnosis.engine.finding import Abstention, Finding, Severity
from tracker.diagnosis.rules.gpu_is_the_limit import check


def hard(*, waiting=0.0, utilization=99.0, **gpu):
    rows = steps(waiting=waiting)
    return stage(step_rows=rows, gpus=1, gpu_percent=utilization, gpu=gpu)


LIMIT = {"gpu_power_limit_at_start_watts": 400.0}

ALARMS = [
    hard(gpu_sm_active_percent=90.0),
    hard(gpu_power_watts=390.0, **LIMIT),
]
SILENCES = [
    hard(gpu_sm_active_percent=40.0),
    hard(gpu_power_watts=150.0, **LIMIT),
    hard(gpu_sm_active_percent=90.0, waiting=0.02),
    hard(gpu_power_watts=390.0, utilization=70.0, **LIMIT),
]


def ask(*, sm=90.0, waiting=0.0, **more):
    return check(
        np.full(100, 1.0),
        np.full(100, waiting),
        readings(99.0),
        gpu_sm_active_percent=None if sm is None else readings(sm),
        **more,
    )


@pytest.mark.parametrize(
    ("signals", "is_found"),
    [
        pytest.param({"sm": 71.0}, True, id="just hard work"),
        pytest.param({"sm": 69.0}, False, id="just not"),
        pytest.param({"waiting": 0.04}, True, id="hardly waits"),
        pytest.param({"waiting": 0.06}, False, id="waits"),
        pytest.param(
            {"phase_seconds": {"all_reduce": np.full(100, 0.11)}}, False, id="talks"
        ),
    ],
)
def test_judges_near_each_limit(signals, is_found):
    assert (ask(**signals) is not None) == is_found


def test_utilization_alone_proves_nothing():
    assert isinstance(ask(sm=None), Abstention)


def test_is_no_fault_and_promises_nothing():
    finding = ask()

    assert isinstance(finding, Finding)
    assert finding.severity is Severity.NOTICE
    assert finding.gain is None
    assert not finding.explains


def test_shows_what_the_gpu_reaches_where_operations_are_known():
    finding = ask(
        gpu_name="NVIDIA A100-SXM4-80GB",
        model_flops_per_example=1.56e12,
        batch_size=100.0,
        torch_autocast="bfloat16",
    )

    assert isinstance(finding, Finding)
    assert "It reaches 156 of 312 TFLOP/s in bfloat16." in finding.summary
    assert finding.evidence[-1].value == pytest.approx(0.5)


def test_an_open_finding_stays_below_the_limit():
    assert ask(sm=67.0, already_open=True) is not None
    assert ask(sm=64.0, already_open=True) is None
