from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, samples, stage, steps
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    CONTRADICTED,
    Abstention,
    Finding,
    Severity,
)
from tracker.diagnosis.engine.measurements import Steps
from tracker.diagnosis.rules.data_wait_dominates import check

ALARMS = [
    stage(step_rows=steps(total=0.1, waiting=0.06)),
    # Without step times.
    stage(
        step_rows=Steps.none(),
        sampled={"job_cpu_cores": 3.9},
        facts={"effective_cores": 4.0},
        gpus=1,
        gpu_percent=np.tile([95.0, 90.0, 0.0, 0.0], 30),
    ),
]
SILENCES = [stage(step_rows=steps(total=0.1, waiting=0.004))]


def run(waiting: float, *, count: int = 100) -> dict[str, np.ndarray]:
    return {
        "step_seconds": np.full(count, 1.0),
        "data_wait_seconds": np.full(count, waiting),
    }


def test_silent_when_data_is_ready():
    assert check(**run(0.01)) is None


@pytest.mark.parametrize(
    ("waiting", "severity"),
    [
        pytest.param(0.11, Severity.WARNING, id="just notable"),
        pytest.param(0.19, Severity.WARNING, id="not quite critical"),
        pytest.param(0.21, Severity.CRITICAL, id="just critical"),
    ],
)
def test_severity_grows_with_the_share(waiting, severity):
    finding = check(**run(waiting))

    assert finding is not None
    assert finding.severity == severity


def test_silent_just_below_the_limit():
    assert check(**run(0.09)) is None


def test_an_open_finding_stays_above_the_lower_limit():
    assert check(**run(0.08), already_open=True) is not None
    assert check(**run(0.06), already_open=True) is None


def test_long_waits_of_a_few_steps_alone_do_not_count():
    # Every sixtieth step starts an epoch.
    waits = np.zeros(600)
    waits[::60] = 0.95
    seconds = np.full(600, 0.1) + waits

    assert waits.sum() / seconds.sum() > 0.1
    assert check(step_seconds=seconds, data_wait_seconds=waits) is None


def test_bursts_of_several_workers_count():
    # Four workers deliver together, so every fourth step waits for all of them.
    waits = np.zeros(400)
    waits[::4] = 0.4

    assert check(step_seconds=0.1 + waits, data_wait_seconds=waits) is not None


def test_waiting_behind_a_busy_gpu_costs_nothing():
    assert check(**run(0.3), busiest_gpu_percent=readings(95.0)) is None


def test_only_waiting_with_an_idle_gpu_is_promised_back():
    finding = check(**run(0.6), busiest_gpu_percent=readings(75.0))

    assert finding is not None
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(1 / 0.75)


def test_the_likely_gain_lies_below_the_bound():
    finding = check(**run(0.5))

    assert finding is not None
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(2.0)
    assert finding.gain.likely == pytest.approx(1 / 0.75)


def test_silent_without_any_step():
    assert check(**run(0.9, count=0)) is None


def test_a_trial_of_the_step_is_the_floor_of_the_gain():
    finding = check(**run(0.6), probe_step_seconds=0.25)

    assert finding.gain.bound == pytest.approx(4.0)
    assert "as measured" in finding.gain.basis
    assert "probe_step_seconds" in {each.signal for each in finding.evidence}


@pytest.mark.parametrize(
    ("loader_seconds", "corroboration"),
    [
        pytest.param(None, ALONE, id="nobody tried"),
        pytest.param(1.0, AGREEING, id="the loader alone is too slow"),
        pytest.param(0.3, CONTRADICTED, id="the loader alone keeps up"),
    ],
)
def test_a_trial_of_the_loader_agrees_or_disagrees(loader_seconds, corroboration):
    finding = check(**run(0.6), probe_loader_seconds=loader_seconds)

    assert finding.corroboration == corroboration


def test_a_trial_tells_fetching_from_preparing():
    fetching = check(**run(0.6), probe_prepare_seconds=0.1, probe_fetch_seconds=0.5)
    preparing = check(**run(0.6), probe_prepare_seconds=0.5, probe_fetch_seconds=0.0)

    assert "closer" in fetching.recommendations[0].text
    assert "cheaper" in preparing.recommendations[0].text
    assert check(**run(0.6)).recommendations[0].code == "run.probe.cached(loader)"


ON_AND_OFF = np.tile([95.0, 90.0, 0.0, 0.0], 30)


def untimed(gpu=ON_AND_OFF, cpu=3.8, **more):
    return check(
        busiest_gpu_percent=samples(gpu),
        job_cpu_cores=readings(cpu),
        effective_cores=4.0,
        **more,
    )


def test_a_gpu_that_works_on_and_off_is_starved_where_the_cpu_is_full():
    finding = untimed()

    assert isinstance(finding, Finding)
    assert finding.title == "The GPU probably waits for data"
    assert finding.quality < 1.0
    assert finding.gain is None


@pytest.mark.parametrize(
    "other",
    [
        {"gpu": np.full(120, 60.0)},
        {"gpu": np.zeros(120)},
        {"gpu": np.tile([95.0, 90.0, 90.0, 0.0], 30)},
        {"cpu": 1.0},
    ],
)
def test_without_timed_steps_it_takes_a_pattern_and_a_cause(other):
    answer = untimed(**other)

    assert isinstance(answer, Abstention)
    assert answer.lacks == ("step_seconds", "data_wait_seconds")


def test_storage_and_quota_may_be_the_cause_too():
    assert isinstance(untimed(cpu=1.0, io_pressure_share=readings(0.3)), Finding)
    assert isinstance(untimed(cpu=1.0, cgroup_throttled_share=readings(0.3)), Finding)


@pytest.mark.parametrize(
    ("framework", "line"),
    [("tensorflow", "prefetch(tf.data.AUTOTUNE)"), ("pytorch", "prefetch_factor=4")],
)
def test_recommends_in_the_words_of_the_framework(framework, line):
    finding = check(
        step_seconds=np.full(100, 1.0),
        data_wait_seconds=np.full(100, 0.5),
        framework=framework,
    )

    assert isinstance(finding, Finding)
    assert line in finding.recommendations[1].code


def scheduled(**means):
    return {name: readings(mean) for name, mean in means.items()}


def test_receiving_ready_batches_from_workers_is_not_waiting():
    use = scheduled(
        job_main_thread_cpu_cores=0.95,
        job_main_thread_core_wait_share=0.01,
        worker_cpu_cores=0.35,
    )
    blocked = {**use, **scheduled(job_main_thread_cpu_cores=0.80)}
    alone = scheduled(job_main_thread_cpu_cores=0.95)

    assert check(**run(0.15), **use) is None
    assert isinstance(check(**run(0.15), **blocked), Finding)
    # Without workers, the training process loads batches itself.
    assert isinstance(check(**run(0.15), **alone), Finding)


@pytest.mark.parametrize(
    ("main_cpu", "worker_cpu", "core_wait", "answer"),
    [
        pytest.param(
            0.43, 0.40, 0.40, Abstention, id="half of the loading is core wait"
        ),
        pytest.param(0.10, 0.05, 0.05, Finding, id="workers wait for storage"),
    ],
)
def test_workers_without_a_core_explain_only_their_share(
    main_cpu, worker_cpu, core_wait, answer
):
    use = scheduled(
        job_main_thread_cpu_cores=main_cpu,
        job_main_thread_core_wait_share=core_wait,
        worker_cpu_cores=worker_cpu,
        worker_core_wait_share=core_wait,
    )

    assert isinstance(check(**run(0.29), **use), answer)
