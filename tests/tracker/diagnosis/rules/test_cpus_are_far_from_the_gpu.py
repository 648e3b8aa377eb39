from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import readings, stage
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.cpus_are_far_from_the_gpu import check


def bound(allowed, *, percent=80.0):
    near = {"gpu_near_cpus": "32-63,96-127"}
    return stage(gpus=1, gpu_percent=percent, gpu=near, facts={"allowed_cpus": allowed})


ALARMS = [bound("0-31")]
SILENCES = [
    bound("32-47"),
    bound("0-127"),
    bound("0-31", percent=0.0),  # the job does not use this GPU
]


@pytest.mark.parametrize(
    ("allowed", "is_found"),
    [
        ("0-31,64-95", True),
        ("31-32", False),  # one of them is near the GPU
        ("127", False),
    ],
)
def test_one_cpu_near_the_gpu_will_do(allowed, is_found):
    assert (check(readings(80.0), "32-63,96-127", allowed) is not None) == is_found


def test_names_the_cpus_to_use():
    finding = check(readings(80.0), "32-63", "0-7")

    assert isinstance(finding, Finding)
    first = finding.recommendations[0]
    assert (first.current, first.suggested) == ("0-7", "32-63")
    assert "8 CPUs" in finding.summary


@pytest.mark.parametrize(("near", "allowed"), [("", "0-3"), ("0-3", "all")])
def test_lists_that_are_none_are_not_judged(near, allowed):
    assert isinstance(check(readings(80.0), near, allowed), Abstention)
