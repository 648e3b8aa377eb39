from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, stage
from tracker.diagnosis.engine.finding import Abstention, Finding, Severity
from tracker.diagnosis.engine.supply import Supply, supply_of
from tracker.diagnosis.rules.copies_to_the_gpu_take_long import check

SLOW = stage(
    gpus=1,
    device_phases={"copy": 0.01},
    facts={"loader_pin_memory": 0.0, "framework": "pytorch"},
)
ALARMS = [SLOW, stage(gpus=1, gpu_percent=30.0, phases={"to_device": 0.02})]
SILENCES = [
    stage(gpus=1, device_phases={"copy": 0.002}, facts={"loader_pin_memory": 1.0}),
    # The script waits for the GPU, which is always busy.
    stage(gpus=1, gpu_percent=99.0, phases={"copy": 0.04}),
]


def ask(*, device=None, script=None, busy=50.0, pinned=None, gpu=None, **more):
    count = 100
    return check(
        step_seconds=np.full(count, 0.1),
        gpus={0: gpu or {}},
        device_phase_seconds=None
        if device is None
        else {"h2d": np.full(count, device)},
        phase_seconds=None if script is None else {"copy": np.full(count, script)},
        busiest_gpu_percent=readings(busy),
        loader_pin_memory=pinned,
        **more,
    )


@pytest.mark.parametrize(("seconds", "is_found"), [(0.0051, True), (0.0049, False)])
def test_a_copy_counts_from_a_twentieth_of_the_step(seconds, is_found):
    assert isinstance(ask(device=seconds, pinned=1.0), Finding) == is_found


def test_an_open_finding_stays_above_the_lower_limit():
    assert ask(device=0.004, already_open=True) is not None


def test_long_copies_are_critical():
    finding = ask(device=0.016)

    assert isinstance(finding, Finding)
    assert finding.severity is Severity.CRITICAL
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(1 / 0.84)


def test_short_copies_from_pageable_memory_are_a_notice():
    finding = ask(device=0.002, pinned=0.0, framework="pytorch")

    assert isinstance(finding, Finding)
    assert finding.severity is Severity.NOTICE
    assert "pin_memory=True" in finding.recommendations[0].code
    assert ask(device=0.0005, pinned=0.0) is None
    assert ask(device=0.002, pinned=1.0) is None
    assert ask(device=0.002) is None


def test_the_time_on_the_gpu_counts_before_the_scripts():
    assert ask(device=0.001, script=0.05) is None


def test_copies_hidden_by_gpu_work_are_not_lost():
    assert ask(script=0.05, busy=97.0) is None
    assert isinstance(ask(script=0.05, busy=40.0), Finding)


def test_steps_that_the_gpu_was_not_asked_about_are_left_out():
    seconds = np.full(100, np.nan)
    seconds[:10] = 0.02

    finding = check(np.full(100, 0.1), {0: {}}, device_phase_seconds={"copy": seconds})

    assert isinstance(finding, Finding)
    assert finding.evidence[0].value == pytest.approx(0.2)


def test_names_the_speed_of_copies_and_of_the_link():
    gpu = {
        "gpu_pcie_receive_bytes_per_second": readings(1.024e9),
        "gpu_pcie_generation_max": 4.0,
        "gpu_pcie_width_max": 16.0,
    }

    finding = ask(device=0.02, gpu=gpu)

    assert isinstance(finding, Finding)
    assert "4.77 GiB/s on a link of 29.4 GiB/s" in finding.summary


def test_says_which_line_would_time_the_copy():
    answer = ask()

    assert isinstance(answer, Abstention)
    assert supply_of(answer.lacks[0]) == Supply('with run.phase("copy"):')


def test_other_waiting_for_data_is_cured_first():
    finding = ask(device=0.01, data_wait_seconds=np.full(100, 0.06))

    assert isinstance(finding, Finding)
    assert finding.explains == ()
    assert finding.comes_after == ("data-wait-dominates",)


def test_copies_behind_kernels_cost_nothing():
    """A fifth of the step is copies, and a trace shows that kernels run meanwhile."""
    known = {
        "device_phase_seconds": {"copy": np.full(200, 0.02)},
        "traced_kernels": np.full(200, 50.0),
    }
    steps_of = np.full(200, 0.1)

    assert check(steps_of, {}, **known) is not None
    assert check(steps_of, {}, **known, exposed_copy_seconds=np.zeros(200)) is None
    exposed = np.full(200, 0.02)
    assert check(steps_of, {}, **known, exposed_copy_seconds=exposed) is not None
