from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import (
    SECOND,
    START,
    finding_of,
    samples,
    stage,
    steps,
)
from tracker.diagnosis.breakdown.categories import Ledger, Use
from tracker.diagnosis.breakdown.stage import keep_ledger
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.measurements import Measurements, Window
from tracker.diagnosis.signals import Samples

# Ten steps per second for half a minute.
LOOP = steps(total=0.1, waiting=0.04, count=300)


def window(seconds: float, *, before: float = 0.0) -> Window:
    return Window(START - int(before * SECOND), START + int(seconds * SECOND))


def known(ledger: Ledger) -> dict[str, float]:
    return {
        str(use): round(value, 2)
        for use, value in ledger.seconds.items()
        if round(value, 2)
    }


def span(end: float, seconds: float) -> Samples:
    times = np.array([START + int(end * SECOND)])
    return Samples(times, np.array([seconds]))


def test_time_of_a_stage_without_gpus_is_its_own():
    ledger = keep_ledger(stage(step_rows=LOOP), window(30))

    assert ledger.gpus == 0
    assert known(ledger) == {"unattributed": 18, "data_wait": 12}


def test_without_a_gpu_a_job_computes_while_its_processes_work():
    cores = np.concatenate([np.full(20, 1.0), np.zeros(20)])
    ledger = keep_ledger(
        stage(step_rows=LOOP, sampled={"job_cpu_cores": cores}), window(40)
    )

    # The last ten seconds are not instrumented, which does not count as waste.
    assert known(ledger) == {"computing": 12, "data_wait": 12, "unattributed": 16}


def test_time_is_counted_on_every_gpu():
    ledger = keep_ledger(stage(step_rows=LOOP, gpus=4, gpu_percent=10.0), window(30))

    assert ledger.gpus == 4
    assert known(ledger) == {
        "computing": 4 * 3,
        "idle_in_steps": 4 * 15,
        "data_wait": 4 * 12,
    }


def test_a_step_of_a_busy_gpu_is_split_by_its_activity():
    loop = steps(total=0.1, waiting=0.0, count=300)
    sm = {"gpu_sm_active_percent": np.full(30, 20.0)}

    by_driver = keep_ledger(stage(step_rows=loop, gpus=1, gpu_percent=50.0), window(30))
    by_counter = keep_ledger(
        stage(step_rows=loop, gpus=1, gpu_percent=50.0, gpu=sm), window(30)
    )

    assert known(by_driver) == {"computing": 15, "idle_in_steps": 15}
    assert known(by_counter) == {"computing": 6, "idle_in_steps": 24}


def test_without_a_measured_activity_the_steps_of_a_gpu_are_not_attributed():
    loop = stage(step_rows=LOOP, gpus=1)

    ledger = keep_ledger(replace(loop, gpus={0: {}}), window(30))

    assert known(ledger) == {"unattributed": 18, "data_wait": 12}
    assert ledger.idle_share is None


def test_copies_leave_the_activity_to_the_rest_of_the_step():
    loop = stage(
        step_rows=steps(total=0.1, waiting=0.0, count=300),
        gpus=1,
        gpu_percent=60.0,
        phases={"copy": 0.04},
    )

    assert known(keep_ledger(loop, window(30))) == {"computing": 18, "copy": 12}


def test_a_gpu_that_computes_between_steps_is_not_idle():
    apart = replace(LOOP, times=START + np.arange(1, 301) * SECOND // 5)
    loop = stage(step_rows=apart, gpus=1, gpu_percent=np.full(60, 90.0))

    parts = known(keep_ledger(loop, window(60)))

    assert parts["computing"] == pytest.approx(54, abs=0.2)
    assert parts["boundary"] == pytest.approx(6, abs=0.2)


def test_machines_have_as_many_gpus_each():
    loop = stage(step_rows=LOOP, gpus=4, gpu_percent=10.0)
    ledger = keep_ledger(loop, window(30), machines=2)

    assert ledger.gpus == 8
    assert ledger.total == pytest.approx(8 * 30)


def test_waiting_that_the_gpu_does_not_see_costs_nothing():
    ledger = keep_ledger(stage(step_rows=LOOP, gpus=1, gpu_percent=90.0), window(30))

    assert known(ledger) == {"computing": 27, "data_wait": 3}


def test_phases_of_steps_count_as_what_they_are_named():
    phases = {"forward": 0.02, "h2d": 0.01, "all_reduce": 0.02, "evaluate": 0.005}
    ledger = keep_ledger(stage(step_rows=LOOP, phases=phases), window(30))

    assert known(ledger) == {
        "unattributed": 7.5,
        "data_wait": 12,
        "copy": 3,
        "communication": 6,
        "evaluation": 1.5,
    }


def test_copies_count_for_as_long_as_they_took_on_the_gpu():
    # In the script they waited for queued GPU work.
    phases = {"h2d": 0.05, "evaluate": 0.005}
    timed = np.full(300, 0.02)
    timed[-2:] = np.nan  # steps that the GPU has not finished
    on_gpu = {"h2d": timed, "evaluate": 0.001}
    loop = stage(step_rows=LOOP, gpus=1, phases=phases, device_phases=on_gpu)

    parts = known(keep_ledger(loop, window(30)))

    assert (parts["copy"], parts["evaluation"]) == (6, 1.5)


def test_a_phase_of_some_steps_counts_in_these_alone():
    is_in = np.arange(300) % 10 == 0
    phases = {name: np.where(is_in, 0.01, 0.0) for name in ("h2d", "all_reduce")}
    on_gpu = {name: np.where(is_in, 0.02, np.nan) for name in phases}
    loop = stage(step_rows=LOOP, gpus=1, phases=phases, device_phases=on_gpu)

    parts = known(keep_ledger(loop, window(30)))

    assert (parts["copy"], parts["communication"]) == (0.6, 0.6)


def test_parts_that_are_longer_than_the_step_are_scaled():
    phases = {"h2d": 0.1, "all_reduce": 0.1}
    ledger = keep_ledger(stage(step_rows=LOOP, phases=phases), window(30))

    assert ledger.total == pytest.approx(30)
    assert ledger.seconds[Use.UNATTRIBUTED] == 0


def test_time_around_the_steps_is_divided_by_activity():
    halves = np.concatenate([np.full(150, 0.1), [10.1], np.full(149, 0.1)])
    ends = START + (np.cumsum(halves) * SECOND).astype(np.int64)
    loop = replace(LOOP, times=ends)
    readings = {"job_cpu_cores": np.concatenate([np.full(45, 1.0), np.full(15, 0.0)])}
    ledger = keep_ledger(stage(step_rows=loop, sampled=readings), window(60, before=5))

    assert known(ledger) == {
        # The processes worked for five of the twenty seconds after the loop.
        "computing": 18 + 5,
        "data_wait": 12,
        "initialization": 5,
        "boundary": 10,
        "unattributed": 15,
    }


def test_phases_outside_of_steps_are_taken_out_of_the_gap():
    spans = {"evaluate": span(40, 8), "save": span(45, 5), "plot": span(46, 1)}
    ledger = keep_ledger(stage(step_rows=LOOP, spans=spans), window(50))

    assert known(ledger) == {
        "unattributed": 18,
        "data_wait": 12,
        "evaluation": 8,
        "checkpoint": 5,
        "boundary": 1,
        "unknown": 6,
    }


def test_steps_of_an_evaluation_are_evaluation():
    spans = {"evaluate": span(30, 10)}
    ledger = keep_ledger(stage(step_rows=LOOP, spans=spans), window(30))

    assert known(ledger) == {"unattributed": 12, "data_wait": 8, "evaluation": 10}


def test_phases_that_overlap_count_once():
    spans = {"evaluate": span(40, 8), "checkpoint": span(41, 6)}
    ledger = keep_ledger(stage(step_rows=LOOP, spans=spans), window(41))

    assert ledger.total == pytest.approx(41)
    assert ledger.seconds[Use.EVALUATION] + ledger.seconds[Use.CHECKPOINT] == (
        pytest.approx(9)
    )


def test_a_gpu_that_does_nothing_while_others_work_is_idle():
    loop = stage(step_rows=LOOP, gpus=2, gpu_percent=95.0)
    unused = {**loop.gpus[1], "gpu_utilization_percent": samples(np.zeros(30))}
    ledger = keep_ledger(replace(loop, gpus={0: loop.gpus[0], 1: unused}), window(30))

    assert ledger.seconds[Use.IDLE] == pytest.approx(30)


def test_without_steps_readings_of_the_gpu_tell():
    busy = np.concatenate([np.full(40, 80.0), np.zeros(20)])
    ledger = keep_ledger(
        stage(step_rows=steps(count=0), gpus=1, gpu_percent=busy), window(60)
    )

    assert known(ledger) == {"computing": 32, "idle": 28}


def test_without_any_reading_nothing_is_guessed():
    ledger = keep_ledger(Measurements(), window(60))

    assert known(ledger) == {"unknown": 60}


def test_unmeasured_time_is_unknown():
    ticks = np.concatenate([np.arange(1, 31), np.arange(630, 661)])
    readings = Samples(START + ticks * SECOND, np.full(len(ticks), 1.0))
    later = replace(LOOP, times=LOOP.times + 630 * SECOND)
    both = replace(
        LOOP,
        numbers=np.arange(600.0),
        times=np.concatenate([LOOP.times, later.times]),
        columns={name: np.tile(c, 2) for name, c in LOOP.columns.items()},
    )
    loop = Measurements(both, samples={"job_cpu_cores": readings}, gpu_count=0)

    ledger = keep_ledger(loop, window(660))

    assert known(ledger) == {"computing": 36, "data_wait": 24, "unknown": 600}


def test_work_after_the_last_checkpoint_of_a_failed_stage_is_lost():
    spans = {"checkpoint": span(20, 1)}
    loop = stage(step_rows=LOOP, gpus=2, gpu_percent=50.0, spans=spans)

    ledger = keep_ledger(loop, window(30), has_failed=True)

    assert ledger.seconds[Use.LOST] == pytest.approx(20)
    assert ledger.total == pytest.approx(60)


def test_a_failure_without_a_known_checkpoint_loses_nothing_that_is_known():
    ledger = keep_ledger(stage(step_rows=LOOP), window(30), has_failed=True)

    assert ledger.seconds[Use.LOST] == 0


def test_energy_is_known_if_every_gpu_tells():
    counted = np.arange(0.0, 3000.0, 100.0)
    loop = stage(step_rows=LOOP, gpus=2, gpu={"gpu_energy_joules": counted})
    one = {0: loop.gpus[0], 1: {}}

    assert keep_ledger(loop, window(30)).energy_joules == pytest.approx(5800)
    assert keep_ledger(replace(loop, gpus=one), window(30)).energy_joules is None


def test_energy_that_was_asked_for_once_is_not_known():
    short = stage(step_rows=LOOP, gpus=1, gpu={"gpu_energy_joules": np.zeros(30)})

    assert keep_ledger(short, window(30)).energy_joules is None


@pytest.mark.parametrize("seed", range(20))
def test_parts_add_up_to_all_of_it_whatever_was_measured(seed):
    random = np.random.default_rng(seed)
    count = int(random.integers(0, 60))
    loop = steps(total=random.gamma(2, 0.2, count), waiting=0.1, count=count)
    spans = {
        name: Samples(
            np.sort(START + random.integers(0, 60, 5) * SECOND), random.gamma(2, 3, 5)
        )
        for name in ("evaluate", "save", "odd")
    }
    measured = stage(
        step_rows=loop, gpus=int(random.integers(0, 3)), spans=spans,
        phases={"copy": random.gamma(2, 0.2, count)},
    )  # fmt: skip
    within = window(float(random.integers(0, 50)), before=float(random.integers(0, 9)))
    ledger = keep_ledger(measured, within, has_failed=bool(seed % 2))

    assert ledger.total == pytest.approx(within.seconds * max(1, ledger.gpus))
    assert min(ledger.seconds.values()) >= 0


@pytest.mark.parametrize(
    ("busy", "active", "waiting"),
    [
        (60.0, None, 0.05),
        (60.0, 30.0, 0.05),
        (20.0, 10.0, 0.05),
        (85.0, 5.0, 0.03),
        (0.0, None, 0.06),
    ],
)
def test_it_counts_as_much_waiting_as_the_finding_about_it(busy, active, waiting):
    sm = {} if active is None else {"gpu_sm_active_percent": active}
    measured = stage(
        step_rows=steps(total=0.1, waiting=waiting, count=600),
        gpus=1,
        gpu_percent=busy,
        gpu=sm,
    )

    ledger = keep_ledger(measured, window(60))
    found = finding_of(diagnose(measured), "data-wait-dominates")

    share = found.finding.evidence[0].value
    assert ledger.seconds[Use.DATA_WAIT] / ledger.total == pytest.approx(
        share, abs=0.02
    )
