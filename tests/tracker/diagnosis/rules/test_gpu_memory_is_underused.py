from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import GIB, readings, stage
from tracker.diagnosis.finding import Abstention, Finding
from tracker.diagnosis.rules.gpu_memory_is_underused import check

ALARMS = [stage(gpus=1, gpu_percent=30.0, gpu_memory=10 * GIB)]
SILENCES = [
    stage(gpus=1, gpu_percent=30.0, gpu_memory=70 * GIB),
    stage(gpus=1, gpu_percent=97.0, gpu_memory=10 * GIB),
]

CAPACITY = 80.0 * GIB


def ask(*, used_share=0.3, busy=50.0, waiting=0.0, **more):
    return check(
        step_seconds=np.full(100, 1.0),
        data_wait_seconds=np.full(100, waiting),
        gpu_utilization_percent=readings(busy),
        gpu_memory_used_bytes=readings(used_share * CAPACITY),
        gpu_memory_total_bytes=CAPACITY,
        **more,
    )


@pytest.mark.parametrize(
    ("used_share", "busy", "is_found"),
    [
        pytest.param(0.59, 50.0, True, id="just little enough memory"),
        pytest.param(0.61, 50.0, False, id="just too much memory"),
        pytest.param(0.3, 69.0, True, id="just not busy"),
        pytest.param(0.3, 71.0, False, id="just busy"),
        pytest.param(0.3, 4.0, False, id="the GPU does not take part"),
    ],
)
def test_judges_near_each_limit(used_share, busy, is_found):
    assert (ask(used_share=used_share, busy=busy) is not None) == is_found


def test_does_not_judge_steps_that_wait_for_data():
    assert isinstance(ask(waiting=0.3), Abstention)


@pytest.mark.parametrize("framework", ["tensorflow", "jax"])
def test_does_not_judge_memory_that_was_reserved_in_advance(framework):
    assert isinstance(ask(framework=framework), Abstention)


@pytest.mark.parametrize(
    ("used_share", "suggested"),
    [
        pytest.param(0.20, "up to 128", id="four times, and a bit"),
        pytest.param(0.40, "up to 64", id="twice"),
        pytest.param(0.55, "up to 51", id="not even twice"),
    ],
)
def test_suggests_no_batch_that_could_overflow(used_share, suggested):
    finding = ask(used_share=used_share, batch_size=32.0)

    assert isinstance(finding, Finding)
    assert finding.recommendations[0].suggested == suggested
    assert finding.recommendations[0].current == "32"


def test_suggests_a_factor_where_the_batch_size_is_unknown():
    finding = ask(framework="pytorch")

    assert isinstance(finding, Finding)
    assert finding.recommendations[0].suggested == "up to 2 times as large"


def test_promises_no_gain_from_one_batch_size():
    finding = ask()

    assert isinstance(finding, Finding)
    assert finding.gain is None


def test_an_open_finding_stays_above_the_limit():
    assert ask(used_share=0.63, already_open=True) is not None
    assert ask(used_share=0.67, already_open=True) is None
