from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import (
    GIB,
    loading_by_itself,
    loading_in_workers,
    readings,
)
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.hardware.contention import CROWDED
from tracker.diagnosis.rules.too_few_loader_workers import check

ALARMS = [loading_by_itself(), loading_in_workers(1)]
SILENCES = [loading_by_itself(wait_share=0.02), loading_in_workers(8, cores=8.0)]


def ask(*, waiting=0.5, job=1.0, cores=8.0, workers=0.0, busy=None, **more):
    return check(
        step_seconds=np.full(100, 1.0),
        data_wait_seconds=np.full(100, waiting),
        job_cpu_cores=readings(job),
        effective_cores=cores,
        loader_workers=workers,
        job_workers=None if workers is None else readings(workers),
        worker_cpu_cores=None if busy is None else readings(busy),
        job_main_cpu_cores=readings(min(job, 1.0)),
        **more,
    )


def suggested(finding) -> str:
    assert isinstance(finding, Finding)
    return finding.recommendations[0].suggested


def test_a_process_that_loads_by_itself_needs_workers():
    finding = ask(waiting=0.8)

    # Loading takes 0.8 s and training 0.2 s: four workers keep up, plus one spare.
    assert suggested(finding) == "5 workers"
    assert finding.recommendations[0].current == "0 workers"


def test_it_explains_the_waiting_and_the_busy_cpu():
    finding = ask()

    assert isinstance(finding, Finding)
    assert {"preprocessing-is-cpu-bound", "data-wait-dominates"} <= {*finding.explains}


def test_silent_when_data_is_ready():
    assert ask(waiting=0.05) is None


def test_silent_when_no_core_is_free():
    assert ask(job=1.9, cores=2.0) is None
    assert ask(job=1.0, cores=1.0) is None


def test_two_cores_are_enough_for_one_worker():
    assert suggested(ask(cores=2.0, waiting=0.4)) == "1 worker"


def test_busy_workers_are_too_few():
    assert suggested(ask(workers=2.0, busy=0.95, job=2.4, cores=16.0)) == "5 workers"


def test_idle_workers_are_not_too_few():
    assert ask(workers=2.0, busy=0.5, job=1.5, cores=16.0) is None


@pytest.mark.parametrize("cores", [2.0, 3.5, 4.0, 6.0, 8.0, 96.0])
@pytest.mark.parametrize("waiting", [0.12, 0.5, 0.99])
def test_never_suggests_more_workers_than_cores(cores, waiting):
    finding = ask(waiting=waiting, cores=cores)

    if finding is not None:
        assert int(suggested(finding).split()[0]) <= cores


def test_silent_when_there_are_as_many_workers_as_cores():
    assert ask(workers=4.0, busy=0.9, job=2.5, cores=4.0) is None


def test_never_suggests_what_does_not_fit_in_memory():
    memory = {"job_memory_bytes": readings(4.0 * GIB), "memory_limit_bytes": 13.0 * GIB}

    assert suggested(ask(waiting=0.8, **memory)) == "2 workers"


def test_silent_when_not_even_one_more_fits_in_memory():
    memory = {"job_memory_bytes": readings(9.0 * GIB), "memory_limit_bytes": 13.0 * GIB}

    assert ask(waiting=0.8, **memory) is None


def test_the_bound_counts_the_cpu_work_that_workers_do_not_remove():
    # One core is busy for the whole second, and there are two.
    finding = ask(waiting=0.8, cores=2.0)

    assert isinstance(finding, Finding)
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(2.0)
    assert finding.gain.next_limit == "the CPU work on 2 cores"


def test_as_many_workers_are_suggested_as_reach_the_bound():
    # A step of 63.4 ms with 40.9 ms of loading: with one worker it still takes 40.9 ms, and only
    # two keep both cores busy.
    finding = check(
        step_seconds=np.full(100, 0.0634),
        data_wait_seconds=np.full(100, 0.0409),
        job_cpu_cores=readings(1.0),
        job_main_cpu_cores=readings(1.0),
        effective_cores=2.0,
        loader_workers=0.0,
    )

    assert suggested(finding) == "2 workers"
    assert finding.gain.bound == pytest.approx(2.0)
    assert finding.gain.basis.count("the CPU work on 2 cores") == 1


def test_the_bound_is_of_as_many_workers_as_fit():
    memory = {"job_memory_bytes": readings(4.0 * GIB), "memory_limit_bytes": 9.0 * GIB}
    finding = ask(waiting=0.8, **memory)

    assert suggested(finding) == "1 worker"
    # Loading a batch takes one worker 0.8 of the second.
    assert finding.gain.bound == pytest.approx(1 / 0.8)
    assert finding.gain.next_limit == "loading in 1 worker"


def test_a_batch_that_mostly_waits_takes_a_worker_as_long():
    # 0.9 s of a step for a batch, a third of it computing; three cores.
    finding = ask(waiting=0.9, job=0.3, cores=3.0)

    assert suggested(finding) == "2 workers"
    assert finding.gain.bound == pytest.approx(1 / 0.45)


@pytest.mark.parametrize(
    ("framework", "line"),
    [
        ("pytorch", "DataLoader(dataset, num_workers=5, persistent_workers=True)"),
        ("tensorflow", "num_parallel_calls=tf.data.AUTOTUNE"),
        ("jax", "worker_count=5"),
        (None, "multiprocessing.Pool(5)"),
    ],
)
def test_recommends_in_the_words_of_the_framework(framework, line):
    finding = ask(waiting=0.8, framework=framework)

    assert isinstance(finding, Finding)
    assert line in finding.recommendations[0].code


def test_children_stand_in_where_the_loader_says_nothing():
    finding = check(
        step_seconds=np.full(100, 1.0),
        data_wait_seconds=np.full(100, 0.5),
        job_cpu_cores=readings(1.0),
        effective_cores=8.0,
        job_workers=readings(0.0),
    )

    assert isinstance(finding, Finding)
    assert finding.corroboration < 1.0


def test_abstains_if_the_loading_processes_are_unknown():
    answer = ask(workers=None)

    assert isinstance(answer, Abstention)
    assert "loader_workers" in answer.lacks


def test_is_less_sure_where_other_jobs_keep_the_host_busy():
    host = {"host_cpu_percent": readings(100.0), "host_cores": 8.0}

    alone, crowded = ask(), ask(**host)

    assert isinstance(alone, Finding)
    assert isinstance(crowded, Finding)
    assert crowded.corroboration < alone.corroboration
    assert "Other jobs" in crowded.summary


def test_a_trial_decides_how_many_workers():
    finding = ask(waiting=0.8, probe_workers_best=3.0, probe_workers_seconds=0.4)

    assert suggested(finding) == "3 workers"
    assert finding.gain.bound == pytest.approx(2.5)


def test_silent_when_the_trial_found_no_better_number():
    assert ask(waiting=0.8, probe_workers_best=0.0, probe_workers_seconds=0.8) is None


@pytest.mark.parametrize(
    ("main", "workers"),
    [
        pytest.param(0.05, "2 workers", id="training sleeps while its GPU works"),
        pytest.param(0.95, None, id="training holds a core while its GPU works"),
    ],
)
def test_training_keeps_only_the_cores_that_it_uses(main, workers):
    # One worker is busy, half of the time is waiting, and there are two cores.
    finding = check(
        step_seconds=np.full(100, 0.05),
        data_wait_seconds=np.full(100, 0.025),
        job_cpu_cores=readings(min(1.39, 1.0 + main)),
        effective_cores=2.0,
        loader_workers=1.0,
        job_workers=readings(1.0),
        worker_cpu_cores=readings(1.0),
        job_main_cpu_cores=readings(main),
    )

    assert (finding and suggested(finding)) == workers


def of_a_trace(*, workers=0.0, exposed=None, **more):
    return check(
        step_seconds=np.full(10, 0.1),
        data_wait_seconds=np.full(10, 0.04),
        exposed_wait_seconds=exposed,
        loader_workers=workers,
        **more,
    )


def test_without_cores_known_who_loads_decides():
    finding = of_a_trace()

    assert suggested(finding) == "at least 1 worker"
    assert finding.gain.bound == pytest.approx(1 / 0.6)
    assert "unknown" in finding.summary


def test_waiting_that_kernels_hide_is_worth_nothing():
    assert of_a_trace(exposed=np.full(10, 0.001)) is None
    assert of_a_trace(exposed=np.full(10, 0.02)).gain.bound == pytest.approx(1 / 0.8)


def test_without_cores_known_workers_cannot_be_judged():
    answer = of_a_trace(workers=4.0, effective_cores=8.0)

    assert answer == Abstention(("job_cpu_cores",))
    assert of_a_trace(workers=None) == Abstention(("job_cpu_cores", "effective_cores"))


def test_threads_of_tensorflow_are_no_processes():
    finding = ask(waiting=0.8, framework="tensorflow")

    assert isinstance(finding, Finding)
    assert "tf.data" in finding.recommendations[0].text
    assert suggested(finding) == "5 parallel calls"
    assert "one element at a time" in finding.summary


def test_threads_of_tensorflow_that_run_in_parallel_are_enough():
    answer = check(
        step_seconds=np.full(100, 1.0),
        data_wait_seconds=np.full(100, 0.5),
        job_cpu_cores=readings(3.0),
        job_main_cpu_cores=readings(3.0),
        effective_cores=8.0,
        job_workers=readings(0.0),
        framework="tensorflow",
    )

    assert answer is None


def test_never_suggests_what_does_not_fit_in_shared_memory():
    busy = {"workers": 4.0, "busy": 0.95, "job": 4.4, "cores": 32.0}

    assert suggested(ask(**busy)) == "10 workers"
    room = {"shared_memory_used_share": readings(0.5)}
    assert suggested(ask(**busy, **room)) == "7 workers"
    assert ask(**busy, shared_memory_used_share=readings(0.85)) is None


def test_little_shared_memory_is_named():
    small = ask(framework="pytorch", shared_memory_total_bytes=64.0 * 1024**2)
    large = ask(framework="pytorch", shared_memory_total_bytes=64.0 * GIB)

    assert isinstance(small, Finding)
    assert isinstance(large, Finding)
    assert "64 MiB of /dev/shm" in small.recommendations[1].current
    assert len(large.recommendations) == 1


def test_loading_that_only_waits_needs_no_core_for_each_worker():
    """The training process sleeps on the network for 0.8 of each second."""
    assert suggested(ask(waiting=0.8, job=0.1, cores=2.0)) == "5 workers"


def test_a_busy_worker_that_often_has_no_core_is_busy():
    """Other jobs leave it half a core, and it waits for one in the remaining time."""
    crowded = {"workers": 1.0, "busy": 0.5, "job": 0.6, "waiting": 0.8}

    assert ask(**crowded) is None
    waits = readings(0.4)
    assert isinstance(ask(**crowded, worker_core_wait_share=waits), Finding)


def test_waiting_for_a_core_is_not_waiting_for_workers():
    waits = {"job_main_thread_core_wait_share": readings(0.3)}

    assert ask(waiting=0.12, **waits) == Abstention((CROWDED,))
    assert isinstance(ask(waiting=0.2, **waits), Finding)
