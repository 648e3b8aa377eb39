from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import GIB, samples, service, stage
from tracker.diagnosis.analysis.requests import TOO_FEW_REQUESTS
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import (
    INFERRED,
    NO_REQUESTS,
    Abstention,
    Finding,
    Severity,
)
from tracker.diagnosis.engine.measurements import Steps
from tracker.diagnosis.engine.rule import Rule
from tracker.diagnosis.rules import model_is_loaded_per_request
from tracker.diagnosis.rules.model_is_loaded_per_request import check


def measured(**parts):
    return stage(
        step_rows=Steps.none(), sampled={"job_cpu_cores": 1.0}, spans=service(**parts)
    )


ONCE = np.zeros(200)
ONCE[0] = 5.0

ALARMS = [measured(load_model=0.5)]
SILENCES = [measured(load_model=ONCE)]


def loads(*, every: int, seconds: float = 1.0):
    found = np.zeros(200)
    found[::every] = seconds
    return check(service(load_model=found))


@pytest.mark.parametrize(
    ("answer", "is_found"),
    [
        pytest.param(loads(every=10), True, id="at every tenth request"),
        pytest.param(loads(every=11), False, id="seldom"),
        pytest.param(loads(every=1, seconds=0.006), True, id="just long enough"),
        pytest.param(loads(every=1, seconds=0.005), False, id="just too short"),
        pytest.param(loads(every=100), False, id="twice"),
    ],
)
def test_judges_near_each_limit(answer, is_found):
    assert isinstance(answer, Finding) == is_found


def test_half_the_time_of_a_request_is_critical():
    finding = check(service(load_model=0.3))

    assert isinstance(finding, Finding)
    assert finding.severity == Severity.CRITICAL
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(4.0, rel=0.01)
    assert finding.summary == (
        "200 model loads for 200 requests, 300 ms each: 75 % of the request time."
    )


def test_many_models_that_are_loaded_once_each_are_no_fault():
    spans = service()
    for number in range(30):
        spans[f"load_model/{number}"] = samples([2.0])

    assert check(spans) is None


def memory(height: float, *, times: int = 40):
    low = np.tile([1.0, 1.0, 1.0 + height, 1.0 + height, 1.0], times)
    return {0: {"gpu_memory_used_bytes": samples(low * GIB)}}


def test_memory_that_rises_and_falls_suggests_it():
    finding = check(service(count=40), gpus=memory(2.0))

    assert isinstance(finding, Finding)
    assert finding.quality == INFERRED
    assert "rose by 2 GiB and fell again 40 times" in finding.summary


def test_files_that_are_read_each_time_make_it_likelier():
    reading = samples(np.full(200, 2 * GIB / 5))

    finding = check(
        service(count=40), gpus=memory(2.0), job_requested_bytes_per_second=reading
    )

    assert isinstance(finding, Finding)
    assert finding.quality > INFERRED


@pytest.mark.parametrize("gpus", [memory(0.1), memory(2.0, times=4)])
def test_small_or_rare_rises_are_no_model(gpus):
    assert check(service(count=40), gpus=gpus) is None


def test_a_rise_is_as_large_as_the_model():
    found = check(service(count=40), gpus=memory(2.0), model_parameter_bytes=10.0 * GIB)

    assert found is None


def test_few_requests_cannot_be_judged():
    assert check(service(count=5, load_model=1.0)) == Abstention((TOO_FEW_REQUESTS,))


def test_a_training_loop_is_no_service():
    rule = Rule.from_module(model_is_loaded_per_request)

    training = diagnose(stage(), rules=[rule])
    unknown = diagnose(replace(stage(), steps=Steps.none()), rules=[rule])

    assert training.unanswered == {rule.name: (NO_REQUESTS,)}
    assert unknown.unanswered == {rule.name: ("requests",)}
