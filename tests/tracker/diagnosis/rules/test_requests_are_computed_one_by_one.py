from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import readings, service, stage
from tracker.diagnosis.analysis.requests import NO_PARTS, TOO_FEW_REQUESTS
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.engine.measurements import Steps
from tracker.diagnosis.rules.requests_are_computed_one_by_one import check


def measured(work: float, **parts):
    return stage(
        step_rows=Steps.none(),
        gpus=1,
        gpu_percent=90.0,
        gpu={"gpu_sm_active_percent": work},
        spans=service(**parts),
    )


ALARMS = [measured(15.0, queue=0.2)]
SILENCES = [
    measured(15.0, queue=0.2, computed_together=8),
    measured(80.0, queue=0.2),
    measured(15.0, queue=0.001),
]


def ask(*, busy=90.0, work=20.0, queue=0.1, together=1, **more):
    gpu = {
        "gpu_utilization_percent": readings(busy),
        "gpu_sm_active_percent": readings(work),
    }
    spans = service(queue=queue, computed_together=together)
    return check(spans, {0: gpu}, **more)


@pytest.mark.parametrize(
    ("differs", "is_found"),
    [
        ({}, True),
        ({"work": 39.0}, True),
        ({"work": 41.0}, False),
        ({"busy": 51.0}, True),
        ({"busy": 49.0}, False),
        ({"queue": 0.012}, True),
        ({"queue": 0.010}, False),
        ({"together": 2}, False),
    ],
)
def test_judges_near_each_limit(differs, is_found):
    assert isinstance(ask(**differs), Finding) == is_found


def test_an_open_finding_stays_below_the_limit():
    assert ask(queue=0.009, already_open=True) is not None


def test_power_stands_in_for_the_processors():
    gpu = {
        "gpu_utilization_percent": readings(90.0),
        "gpu_power_mean_watts": readings(150.0),
        "gpu_power_limit_watts": readings(700.0),
    }

    finding = check(service(queue=0.1), {0: gpu})

    assert isinstance(finding, Finding)
    assert finding.evidence[-1].signal == "gpu_power_mean_watts"


def test_says_what_is_missing():
    busy = {0: {"gpu_utilization_percent": readings(90.0)}}

    assert check(service(), busy) == Abstention((NO_PARTS,))
    assert check(service(count=3), busy) == Abstention((TOO_FEW_REQUESTS,))
    assert isinstance(check(service(queue=0.1), busy), Abstention)
    assert isinstance(check(service(queue=0.1), {}), Abstention)
