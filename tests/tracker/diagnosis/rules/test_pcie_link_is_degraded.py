from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import SECOND, readings, samples, stage, steps
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.pcie_link_is_degraded import check
from tracker.diagnosis.signals import Samples


def linked(*, width=16.0, generation=5.0, replays=0.0):
    link = {
        "gpu_pcie_width": width,
        "gpu_pcie_width_max": 16.0,
        "gpu_pcie_generation": generation,
        "gpu_pcie_generation_max": 5.0,
        "gpu_pcie_replays": replays,
    }
    return stage(step_rows=steps(count=3000), gpus=1, gpu_percent=90.0, gpu=link)


ALARMS = [
    linked(width=4.0),
    linked(generation=1.0),
    linked(replays=np.arange(300.0)),
]
SILENCES = [linked(), linked(replays=np.repeat([0.0, 30.0], 150))]

BUSY = readings(90.0, seconds=300)


def half_minutes(values) -> Samples:
    return samples(values, every=30 * SECOND)


def ask(width, *, busy=BUSY, **more):
    return check(busy, half_minutes(width), 16.0, **more)


def test_a_minute_of_too_few_lanes_is_found():
    finding = ask([8.0] * 9)

    assert isinstance(finding, Finding)
    assert "with 8 of 16 lanes, 0.5 of its full speed" in finding.summary


def test_a_generation_is_half_the_speed():
    finding = ask(
        [16.0] * 9,
        gpu_pcie_generation=half_minutes([3.0] * 9),
        gpu_pcie_generation_max=4.0,
    )

    assert isinstance(finding, Finding)
    assert "0.5 of its full speed" in finding.summary


def test_a_link_at_rest_is_not_judged():
    assert isinstance(ask([4.0] * 9, busy=readings(2.0, seconds=300)), Abstention)


def test_readings_of_a_gpu_at_rest_do_not_count():
    busy = samples(np.repeat([90.0, 0.0], 150))

    assert ask([16.0] * 5 + [4.0] * 4, busy=busy) is None


def test_most_readings_have_to_agree():
    assert ask([8.0] * 6 + [16.0] * 3) is None
    assert ask([8.0] * 6 + [16.0] * 3, already_open=True) is not None


@pytest.mark.parametrize(
    ("replays", "is_found"),
    [
        pytest.param([0, 10, 20, 30, 40], True, id="all the time"),
        pytest.param([0, 0, 0, 40, 40], False, id="once"),
        pytest.param([0, 1, 2, 3, 4], False, id="few"),
    ],
)
def test_packets_that_are_sent_again(replays, is_found):
    counted = samples(np.array(replays, float), every=60 * SECOND)

    answer = ask([16.0] * 9, gpu_pcie_replays=counted)

    assert (answer is not None) == is_found


def test_promises_no_gain():
    finding = ask([4.0] * 9)

    assert isinstance(finding, Finding)
    assert finding.gain is None
