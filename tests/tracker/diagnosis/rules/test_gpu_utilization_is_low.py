from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import SECOND, finding_of, samples, stage, steps
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.gpu_utilization_is_low import check

ON_AND_OFF = np.tile([95.0, 95.0, 95.0, 0.0], 30)

ALARMS = [
    stage(gpus=1, gpu_percent=40.0),
    stage(step_rows=steps(count=1200), gpus=1, gpu_percent=ON_AND_OFF),
]
SILENCES = [
    stage(gpus=1, gpu_percent=95.0),
    stage(gpus=1, gpu_percent=np.tile([95.0] * 29 + [0.0], 4)),
    stage(gpus=1, gpu_percent=0.0),
]


def ask(values, *, every=SECOND, **more):
    return check(samples(values, every=every), **more)


@pytest.mark.parametrize(
    ("values", "is_found"),
    [
        pytest.param(np.full(30, 69.0), True, id="just low"),
        pytest.param(np.full(30, 71.0), False, id="just high enough"),
        pytest.param(np.tile([90.0, 9.0], 15), True, id="just off"),
        pytest.param(np.tile([90.0, 11.0], 15), False, id="never quite off"),
        pytest.param(np.full(30, 4.0), False, id="takes no part"),
    ],
)
def test_judges_near_each_limit(values, is_found):
    assert (ask(values) is not None) == is_found


def test_readings_far_apart_cannot_tell_on_from_off():
    assert ask(ON_AND_OFF, every=10 * SECOND) is None
    assert ask(np.full(30, 40.0), every=10 * SECOND) is not None


def test_long_pauses_between_bursts_are_found_by_the_average():
    bursts = np.tile([98.0] * 4 + [0.0] * 8, 5)

    finding = ask(bursts, every=15 * SECOND)

    assert isinstance(finding, Finding)
    assert finding.title == "GPU utilization is low"
    assert finding.summary == (
        "Mean GPU utilization is 33 %: 67 % of its samples are below 10 %."
    )
    # Half of the time at work may be short pauses that such samples hit by chance.
    assert ask(np.tile([98.0] * 7 + [0.0] * 5, 5), every=15 * SECOND) is None


@pytest.mark.parametrize(
    ("values", "margin"),
    [
        pytest.param(np.full(30, 69.0), pytest.approx(0.5, abs=0.02), id="just low"),
        pytest.param(np.full(30, 30.0), 1.0, id="always low"),
        pytest.param(np.tile([80.0] + [2.0] * 9, 5), 1.0, id="low on average"),
    ],
)
def test_half_of_a_limit_is_a_clear_case(values, margin):
    assert ask(values, every=15 * SECOND).margin == margin


def test_a_few_readings_are_not_judged():
    assert ask([40.0, 40.0]) == Abstention(("at least 10 samples",))


def test_says_what_to_log_where_nothing_is_known():
    finding = ask(np.full(30, 40.0))

    assert isinstance(finding, Finding)
    assert [r.code for r in finding.recommendations] == [
        "for batch in run.loader(loader):",
        'with run.phase("forward"):',
        "",
    ]


def test_is_never_primary_where_a_cause_is_found():
    diagnosis = diagnose(
        stage(step_rows=steps(total=0.1, waiting=0.05), gpus=1, gpu_percent=40.0)
    )

    symptom = finding_of(diagnosis, "gpu-utilization-is-low")
    assert symptom.explained_by == "data-wait-dominates"
    assert not symptom.is_primary


def test_an_open_finding_stays_above_the_limit():
    assert ask(np.full(30, 73.0), already_open=True) is not None
    assert ask(np.full(30, 76.0), already_open=True) is None
