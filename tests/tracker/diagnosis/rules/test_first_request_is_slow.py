from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import service, stage
from tracker.diagnosis.analysis.requests import TOO_FEW_REQUESTS
from tracker.diagnosis.engine.finding import AGREEING, ALONE, Abstention, Finding
from tracker.diagnosis.engine.measurements import Steps
from tracker.diagnosis.rules.first_request_is_slow import check
from tracker.diagnosis.signals import Samples


def first(seconds: float, usual: float = 0.1):
    values = np.full(200, usual)
    values[0] = seconds
    return values


def measured(own):
    return stage(
        step_rows=Steps.none(),
        sampled={"job_cpu_cores": 1.0},
        spans=service(own=own, compute=None),
    )


ALARMS = [measured(first(10.0))]
SILENCES = [measured(first(0.1))]


@pytest.mark.parametrize(
    ("seconds", "usual", "is_found"),
    [
        pytest.param(5.1, 1.0, True, id="just slow enough"),
        pytest.param(4.9, 1.0, False, id="just too fast"),
        pytest.param(1.2, 0.1, True, id="just longer enough"),
        pytest.param(1.0, 0.1, False, id="a few hundred milliseconds"),
    ],
)
def test_judges_near_each_limit(seconds, usual, is_found):
    answer = check(service(own=first(seconds, usual), compute=None))

    assert isinstance(answer, Finding) == is_found


def loading_in_the_first(seconds: float):
    """Return the phases of a service and those within its requests."""
    requests = service(own=0.1, compute=None)
    ends = requests["request"].times
    requests["load_model"] = Samples(ends[:1] - 20, np.array([seconds]))
    return requests, {"load_model": Samples(ends[:1], np.array([seconds]))}


def test_a_model_that_is_loaded_within_the_first_request_counts():
    requests, parts = loading_in_the_first(2.0)

    finding = check(requests, request_parts=parts)

    assert isinstance(finding, Finding)
    assert finding.summary == (
        "The first request took 2.1 s, 21 times the median of 100 ms;"
        " loading the model took 2 s of it."
    )
    assert finding.corroboration == AGREEING


def test_loading_that_is_little_of_it_is_not_accused():
    requests, parts = loading_in_the_first(0.1)
    slow = {**requests, "request": service(own=first(5.0), compute=None)["request"]}

    finding = check(slow, request_parts=parts)

    assert isinstance(finding, Finding)
    assert "loading" not in finding.summary
    assert finding.corroboration == ALONE


def test_loading_before_the_first_request_is_not_counted_though_others_load_too():
    requests, _ = loading_in_the_first(9.0)
    ends = requests["request"].times
    later = {"load_model": Samples(ends[5:6], np.array([0.2]))}

    assert check(requests, request_parts=later) is None


def test_loading_outside_the_request_is_not_counted():
    once = np.zeros(200)
    once[0] = 9.0

    assert check(service(own=0.1, compute=None, load_model=once)) is None


def test_few_requests_have_no_usual():
    assert check(service(count=5)) == Abstention((TOO_FEW_REQUESTS,))
