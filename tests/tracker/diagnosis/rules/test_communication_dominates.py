from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import ranks_of, readings, stage
from tracker.diagnosis.engine.finding import (
    INFERRED,
    ONE_GPU,
    Abstention,
    Finding,
    Severity,
)
from tracker.diagnosis.hardware.contention import CROWDED
from tracker.diagnosis.rules.communication_dominates import UNKNOWN, check

TWO = {"world_size": 2.0}
ALARMS = [stage(phases={"communicate": 0.03}, facts=TWO)]
SILENCES = [stage(phases={"communicate": 0.005}, facts=TWO)]


def ask(seconds: float, **more):
    steps = np.full(200, 0.1)
    return check(steps, phase_seconds={"all_reduce": np.full(200, seconds)}, **more)


@pytest.mark.parametrize(
    ("seconds", "severity"),
    [
        (0.0099, None),
        (0.0101, Severity.NOTICE),
        (0.0201, Severity.WARNING),
        (0.0401, Severity.CRITICAL),
    ],
)
def test_judges_near_each_limit(seconds, severity):
    finding = ask(seconds)

    assert (finding.severity if isinstance(finding, Finding) else None) == severity


def test_an_open_finding_stays_below_the_limit():
    assert ask(0.008, already_open=True) is not None


def test_promises_no_more_than_the_time_that_it_takes():
    finding = ask(0.05)

    assert isinstance(finding, Finding)
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(2.0)


def test_asynchronous_communication_is_measured_on_the_gpu():
    on_device = np.full(200, 0.04)
    on_device[::7] = np.nan

    finding = ask(0.001, device_phase_seconds={"all_reduce": on_device})

    assert isinstance(finding, Finding)
    assert finding.evidence[0].value == pytest.approx(0.35, abs=0.02)


def test_waiting_for_a_slow_rank_is_no_communication():
    ranks = ranks_of(0.1, ranks=2, all_reduce=[0.05, 0.002])

    assert ask(0.05, ranks=ranks) is None
    assert ask(0.05, ranks=ranks_of(0.1, all_reduce=0.05)) is not None


def test_one_gpu_has_no_communication():
    assert check(np.full(200, 0.1)) == Abstention((ONE_GPU,))


def test_unknown_without_phases_and_links():
    assert check(np.full(200, 0.1), world_size=4.0) == Abstention((UNKNOWN,))


def links(*, rate=0.5, busy=99.0, power=200.0, work=20.0):
    signals = {
        "gpu_nvlink_send_bytes_per_second": readings(rate * 18 * 25e9),
        "gpu_nvlink_receive_bytes_per_second": readings(rate * 18 * 25e9),
        "gpu_utilization_percent": readings(busy),
        "gpu_power_mean_watts": readings(power),
        "gpu_power_limit_watts": readings(700.0),
        "gpu_sm_active_percent": readings(work),
        "gpu_nvlinks": 18.0,
    }
    return {0: signals, 1: signals}


def test_busy_links_and_idle_processors_suggest_it():
    finding = check(np.full(200, 0.1), gpus=links())

    assert isinstance(finding, Finding)
    assert finding.quality == INFERRED
    assert finding.recommendations[0].code == 'with run.phase("communicate"):'


@pytest.mark.parametrize(
    "differs", [{"rate": 0.1}, {"power": 600.0}, {"work": 80.0}, {"busy": 30.0}]
)
def test_links_alone_prove_nothing(differs):
    found = check(np.full(200, 0.1), gpus=links(**differs))

    assert found == Abstention((UNKNOWN,))


def test_speaks_of_the_wrapper_in_use():
    finding = ask(0.05, model_wrapper="FSDPModule")

    assert isinstance(finding, Finding)
    assert "forward_prefetch" in finding.recommendations[0].code


def test_a_trace_shows_what_no_phase_names():
    exposed = np.where(np.arange(200) < 8, 0.04, 0.0)

    finding = check(
        np.full(200, 0.1),
        exposed_communication_seconds=exposed,
        traced_kernels=(exposed > 0) * 2.0,
    )

    assert isinstance(finding, Finding)
    assert finding.evidence[0].value == pytest.approx(0.4)
    assert "40 ms of each 100 ms step" in finding.summary


def test_ranks_that_wait_for_a_core_communicate_no_longer_than_others():
    asked = {
        "step_seconds": np.full(100, 0.1),
        "phase_seconds": {"all_reduce": np.full(100, 0.022)},
        "world_size": 2.0,
    }

    crowded = check(**asked, job_main_thread_core_wait_share=readings(0.2))

    assert crowded == Abstention((CROWDED,))
    assert isinstance(check(**asked), Finding)
