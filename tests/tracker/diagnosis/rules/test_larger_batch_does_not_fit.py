from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import GIB, readings, stage
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.larger_batch_does_not_fit import check

CAPACITY = 80.0 * GIB

ALARMS = [stage(gpus=1, gpu_percent=45.0, gpu_memory=74 * GIB)]
SILENCES = [
    stage(gpus=1, gpu_percent=96.0, gpu_memory=74 * GIB),
    stage(gpus=1, gpu_percent=45.0, gpu_memory=40 * GIB),
]


def ask(*, share=0.9, busy=50.0, waiting=0.0, **more):
    return check(
        np.full(100, 1.0),
        np.full(100, waiting),
        readings(busy),
        readings(share * CAPACITY),
        CAPACITY,
        **more,
    )


@pytest.mark.parametrize(
    ("share", "busy", "is_found"),
    [
        pytest.param(0.86, 50.0, True, id="just full"),
        pytest.param(0.84, 50.0, False, id="just room"),
        pytest.param(0.9, 69.0, True, id="just idle"),
        pytest.param(0.9, 71.0, False, id="just busy"),
        pytest.param(0.9, 3.0, False, id="the GPU does not take part"),
    ],
)
def test_judges_near_each_limit(share, busy, is_found):
    assert (ask(share=share, busy=busy) is not None) == is_found


def test_busy_with_few_processors_is_not_busy():
    assert ask(busy=99.0, gpu_sm_active_percent=readings(30.0)) is not None
    assert ask(busy=99.0, gpu_sm_active_percent=readings(80.0)) is None


def test_memory_that_is_only_kept_is_room():
    answer = ask(
        gpu_allocator_peak_bytes=readings(0.4 * CAPACITY),
        gpu_allocator_reserved_bytes=readings(0.88 * CAPACITY),
    )

    assert answer is None


def test_does_not_judge_steps_that_wait_for_data():
    assert isinstance(ask(waiting=0.3), Abstention)


@pytest.mark.parametrize("framework", ["tensorflow", "jax"])
def test_does_not_judge_memory_that_was_reserved_in_advance(framework):
    assert isinstance(ask(framework=framework), Abstention)


def test_16_bits_come_first_unless_they_are_used():
    plain = ask(batch_size=32.0, framework="pytorch")
    mixed = ask(batch_size=32.0, framework="pytorch", torch_autocast="bfloat16")

    assert isinstance(plain, Finding)
    assert isinstance(mixed, Finding)
    assert plain.recommendations[0].suggested == "64"
    assert len(mixed.recommendations) == len(plain.recommendations) - 1


def test_recommends_accumulation_as_not_faster():
    finding = ask()

    assert isinstance(finding, Finding)
    assert any("not faster" in way.text for way in finding.recommendations)


def test_an_open_finding_stays_above_the_lower_limit():
    assert ask(share=0.82, already_open=True) is not None
    assert ask(share=0.78, already_open=True) is None
