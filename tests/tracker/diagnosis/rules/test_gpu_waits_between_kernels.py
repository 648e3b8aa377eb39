from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import stage, steps
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.gpu_waits_between_kernels import UNTRACED, check


def traced(*, kernels=1_500.0, idle=0.078, gap=0.0002, count=300):
    rows = steps(total=0.09, count=count)
    columns = {
        "traced_kernels": kernels,
        "traced_idle_seconds": idle,
        "traced_longest_gap_seconds": gap,
    }
    added = {name: np.full(count, value) for name, value in columns.items()}
    return stage(step_rows=replace(rows, columns={**rows.columns, **added}), gpus=1)


ALARMS = [traced(), traced(idle=0.03)]
SILENCES = [traced(idle=0.02), traced(kernels=9.0), traced(gap=0.07)]


def ask(*, kernels=1_500.0, idle=0.06, gap=0.001, step=0.1, count=8, **more):
    return check(
        np.full(count, step),
        np.full(count, kernels),
        np.full(count, idle),
        np.full(count, gap),
        **more,
    )


@pytest.mark.parametrize(
    ("steps_with", "is_found"),
    [
        pytest.param({"idle": 0.031}, True, id="just idle"),
        pytest.param({"idle": 0.029}, False, id="just busy"),
        pytest.param({"kernels": 31}, True, id="just short gaps"),
        pytest.param({"kernels": 29}, False, id="just long gaps"),
        pytest.param(
            {"kernels": 11, "idle": 0.021, "step": 0.06}, True, id="few kernels"
        ),
        pytest.param({"kernels": 9, "idle": 0.017, "step": 0.05}, False, id="too few"),
        pytest.param({"kernels": 100, "idle": 2.1, "step": 3}, True, id="many kernels"),
        pytest.param({"gap": 0.014}, True, id="many gaps"),
        pytest.param({"gap": 0.016}, False, id="one long wait"),
    ],
)
def test_judges_near_each_limit(steps_with, is_found):
    assert (ask(**steps_with) is not None) == is_found


def test_an_open_finding_stays_above_the_lower_limit():
    assert ask(idle=0.026, already_open=True) is not None


def test_steps_without_a_trace_are_not_judged():
    assert ask(kernels=0.0) == Abstention((UNTRACED,))


def test_only_traced_steps_count():
    kernels = np.where(np.arange(100) < 5, 1_500.0, 0.0)
    finding = check(
        np.full(100, 0.1), kernels, 0.06 * (kernels > 0), 0.001 * (kernels > 0)
    )

    assert isinstance(finding, Finding)
    assert "1,500 kernels" in finding.summary
    assert "60 %" in finding.summary


def test_promises_no_more_than_the_idle_time():
    finding = ask(idle=0.05)

    assert isinstance(finding, Finding)
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(2.0)
