from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import GIB, readings, stage
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.gpu_memory_is_underused import check
from tracker.diagnosis.signals import Samples

ALARMS = [
    stage(gpus=1, gpu_percent=30.0, gpu_memory=10 * GIB),
    stage(
        gpus=1,
        gpu_percent=99.0,
        gpu_memory=70 * GIB,
        gpu={"gpu_allocator_peak_bytes": 10.0 * GIB, "gpu_sm_active_percent": 30.0},
    ),
]
SILENCES = [
    stage(
        gpus=1,
        gpu_percent=30.0,
        gpu_memory=10 * GIB,
        gpu={"gpu_allocator_peak_bytes": 60.0 * GIB},
    ),
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


def test_one_batch_size_promises_nothing_and_asks_for_a_trial():
    finding = ask(batch_size=32.0)

    assert isinstance(finding, Finding)
    assert finding.gain is None
    assert "unknown" in finding.recommendations[-1].text
    assert finding.recommendations[-1].code == "run.probe.batch(step, make_batch)"


def test_an_open_finding_stays_above_the_limit():
    assert ask(used_share=0.63, already_open=True) is not None
    assert ask(used_share=0.67, already_open=True) is None


def test_the_allocators_peak_is_better_than_the_drivers_number():
    by_peak = ask(
        used_share=0.95, gpu_allocator_peak_bytes=counted(0.2), framework="jax"
    )
    by_driver = ask(used_share=0.2)

    assert isinstance(by_peak, Finding)
    assert isinstance(by_driver, Finding)
    assert by_peak.quality > by_driver.quality
    assert by_peak.evidence[0].signal == "gpu_allocator_peak_bytes"


@pytest.mark.parametrize(
    ("signals", "is_found"),
    [
        pytest.param({"sm": 59.0}, True, id="few processors"),
        pytest.param({"sm": 61.0}, False, id="processors enough"),
        pytest.param({"sm": 50.0, "dram": 61.0}, False, id="memory is the limit"),
        pytest.param({"sm": 50.0, "tensor": 51.0}, False, id="tensor cores are"),
        pytest.param({"sm": 50.0, "dram": 59.0, "tensor": 49.0}, True, id="neither"),
    ],
)
def test_counters_tell_whether_a_busy_gpu_has_room(signals, is_found):
    found = ask(
        busy=99.0,
        **{
            f"gpu_{name}_active_percent": readings(value)
            for name, value in signals.items()
        },
    )

    assert (found is not None) == is_found


def test_a_trial_says_what_fits_and_what_it_is_worth():
    finding = ask(batch_size=32.0, **tried(largest=600.0))

    assert isinstance(finding, Finding)
    assert finding.recommendations[0].suggested == "up to 512"
    assert len(finding.recommendations) == 2
    # 32 examples in 0.128 s, 512 in 1.088 s.
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(1.88, abs=0.01)


def test_a_trial_finds_what_utilization_does_not_show():
    assert ask(busy=99.0, batch_size=32.0, **tried()) is not None
    assert ask(busy=99.0, batch_size=32.0, **tried(base=0.02)) is None


@pytest.mark.parametrize(
    "trial",
    [
        pytest.param({"base": 0.0}, id="nothing is gained"),
        pytest.param({"largest": 40.0}, id="nothing fits"),
    ],
)
def test_silent_when_a_larger_batch_was_tried_in_vain(trial):
    assert ask(batch_size=32.0, **tried(**trial)) is None


def counted(share):
    peak = readings(share * CAPACITY)
    return Samples(peak.times, peak.values, 1.0)


def tried(*, largest=600.0, base=0.064):
    return {
        "probe_batch_largest": largest,
        "probe_batch_base_seconds": base,
        "probe_batch_seconds_per_example": 0.002,
    }
