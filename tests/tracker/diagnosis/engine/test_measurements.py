from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import (
    SECOND,
    START,
    readings,
    samples,
    stage,
    steps,
)
from tracker.diagnosis.engine.measurements import Measurements, Steps, Window, clean
from tracker.diagnosis.signals import Samples


def test_a_window_excludes_its_start_and_includes_its_end():
    measurements = stage(step_rows=steps(total=1.0, count=10))

    part = measurements.within(Window(START + 2 * SECOND, START + 5 * SECOND))

    assert part.steps.numbers.tolist() == [2.0, 3.0, 4.0]


def test_a_signal_without_values_in_a_window_is_absent_there():
    measurements = Measurements(samples={"job_cpu_cores": readings(1.0, seconds=5)})

    part = measurements.within(Window(START + 60 * SECOND, START + 90 * SECOND))

    assert part.values() == {}
    assert "job_cpu_cores" in measurements.values()


def test_the_span_holds_the_first_and_the_last_measurement():
    span = stage(step_rows=steps(total=1.0, count=10)).span()

    assert span == Window(START + SECOND - 1, START + 10 * SECOND)


@pytest.mark.parametrize(
    "odd",
    [np.nan, np.inf, -1.0, 0.0, 1e300],
    ids=["nan", "inf", "negative", "0", "huge"],
)
def test_steps_that_cannot_be_are_left_out(odd):
    rows = steps(count=10)
    rows.columns["step_seconds"][3] = odd

    assert len(clean(stage(step_rows=rows)).steps) == 9


def test_steps_with_an_unknown_wait_are_left_out():
    rows = steps(count=10)
    rows.columns["data_wait_seconds"][3] = np.nan

    assert 3.0 not in clean(stage(step_rows=rows)).steps.numbers


def test_the_gpu_took_no_time_for_a_phase_that_a_step_did_not_enter():
    in_script = np.array([0.1, np.nan, 0.1, 0.0])
    on_gpu = np.array([0.2, np.nan, np.nan, np.nan])
    loop = stage(
        step_rows=steps(count=4),
        phases={"copy": in_script},
        device_phases={"copy": on_gpu, "unnamed": on_gpu},
    )

    phases = clean(loop).steps.phases

    assert phases["phase_seconds"]["copy"].tolist() == [0.1, 0, 0.1, 0]
    # GPU time is unknown only for an entered phase, or for a phase without GPU timing.
    on_device = phases["device_phase_seconds"]
    assert np.isnan(on_device["copy"]).tolist() == [False, False, True, False]
    assert on_device["copy"][[0, 1, 3]].tolist() == [0.2, 0, 0]
    assert np.isnan(on_device["unnamed"]).tolist() == [False, True, True, True]


def test_readings_that_cannot_be_are_left_out():
    odd = samples([1.0, np.nan, 2.0, np.inf])

    cleaned = clean(Measurements(samples={"job_cpu_cores": odd}))

    assert cleaned.samples["job_cpu_cores"].values.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("time", [-(2**63), 0, 2**63 - 1])
def test_times_without_a_date_are_left_out(time):
    odd = Samples(np.array([START, time]), np.ones(2))

    cleaned = clean(Measurements(samples={"job_cpu_cores": odd}))

    assert cleaned.samples["job_cpu_cores"].times.tolist() == [START]


def test_unordered_samples_and_steps_are_sorted():
    backwards = Samples(np.array([START + 5, START]), np.array([5.0, 0.0]))
    rows = steps(count=10).select(np.arange(10)[::-1])

    cleaned = clean(Measurements(steps=rows, samples={"job_cpu_cores": backwards}))

    assert cleaned.samples["job_cpu_cores"].values.tolist() == [0.0, 5.0]
    assert cleaned.steps.numbers.tolist() == list(range(10))


def test_facts_that_are_no_numbers_are_left_out():
    facts = {"effective_cores": float("nan"), "batch_size": 8.0, "framework": "plain"}

    cleaned = clean(Measurements(facts=facts))

    assert cleaned.facts == {"batch_size": 8.0, "framework": "plain"}


def test_the_busiest_gpu_is_found_second_by_second():
    gpus = {
        0: {"gpu_utilization_percent": samples([10.0, 90.0, 30.0])},
        1: {"gpu_utilization_percent": samples([20.0, 20.0])},
    }

    busiest = clean(Measurements(gpus=gpus)).samples["busiest_gpu_percent"]

    assert busiest.values.tolist() == [20.0, 90.0, 30.0]


def test_steps_without_their_seconds_are_no_steps():
    rows = Steps(np.arange(3.0), np.arange(3), {"data_wait_seconds": np.ones(3)})

    assert len(clean(Measurements(steps=rows)).steps) == 0


def test_the_busiest_gpu_is_found_window_by_window_of_a_trace():
    times = np.arange(3) * 20_000 + 1_000_000
    gpus = {
        gpu: {"gpu_utilization_percent": Samples(times, np.array(values))}
        for gpu, values in enumerate([[0.0, 50.0, 100.0], [10.0, 0.0, 90.0]])
    }

    busiest = clean(Measurements(gpus=gpus)).samples["busiest_gpu_percent"]

    assert busiest.values.tolist() == [10.0, 50.0, 100.0]


def test_steps_stay_of_which_a_trace_says_nothing():
    columns = {
        "step_seconds": np.full(3, 0.1),
        "exposed_wait_seconds": np.array([0.0, np.nan, 0.0]),
    }
    times = np.arange(1, 4) * 1_000_000

    steps = clean(Measurements(steps=Steps(np.arange(3.0), times, columns))).steps

    assert len(steps) == 3
    assert "exposed_wait_seconds" not in steps.columns


def test_gpus_that_spin_for_another_one_do_not_hide_its_waits():
    def gpu(busy, active):
        return {
            "gpu_utilization_percent": samples(np.full(30, busy)),
            "gpu_sm_active_percent": samples(np.full(30, active)),
        }

    loading, spinning = gpu(10.0, 8.0), gpu(100.0, 12.0)

    together = clean(Measurements(gpus={0: loading, 1: spinning}))
    alone = clean(Measurements(gpus={0: spinning}))

    assert together.samples["busiest_gpu_percent"].values.max() == 12.0
    assert alone.samples["busiest_gpu_percent"].values.max() == 100.0
