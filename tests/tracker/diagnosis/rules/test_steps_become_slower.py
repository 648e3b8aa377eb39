from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import SECOND, samples, stage, steps
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.hardware.contention import CROWDED
from tracker.diagnosis.rules.steps_become_slower import check

COUNT = 1000
NOISE = np.random.default_rng(1).normal(1.0, 0.04, COUNT)


def rising(share):
    return 0.1 * NOISE * np.linspace(1.0, 1.0 + share, COUNT)


def jumping(share, *, at=600):
    return 0.1 * NOISE * np.where(np.arange(COUNT) < at, 1.0, 1.0 + share)


def training(seconds):
    return stage(step_rows=steps(total=seconds, count=COUNT))


ALARMS = [training(rising(0.3)), training(jumping(0.3))]
SILENCES = [
    training(rising(0.0)),
    training(rising(-0.3)),
    training(0.1 * NOISE * (1 + 0.1 * np.sin(np.arange(COUNT) / 40))),
]


@pytest.mark.parametrize(
    ("seconds", "is_found"),
    [
        pytest.param(rising(0.065), True, id="just enough, most of it after warm-up"),
        pytest.param(rising(0.04), False, id="just too little"),
        pytest.param(jumping(0.06), True, id="just enough at once"),
        pytest.param(jumping(0.04), False, id="just too little at once"),
    ],
)
def test_judges_near_each_limit(seconds, is_found):
    assert (check(seconds) is not None) == is_found


def test_a_drift_is_found_in_nearly_no_steady_run():
    random = np.random.default_rng(5)
    found = [check(random.lognormal(-2.3, 0.2, COUNT)) is not None for _ in range(100)]

    assert sum(found) == 0


def test_says_when_steps_became_slower_at_once():
    finding = check(jumping(0.3))

    assert isinstance(finding, Finding)
    assert "29 %, in one jump near the 6" in finding.summary


def test_names_what_changed_along_with_it():
    seconds = rising(0.3)
    falling = samples(np.linspace(1900.0, 1500.0, 100))
    finding = check(
        seconds,
        phase_seconds={"forward": seconds * 0.9, "log": np.full(COUNT, 0.001)},
        gpus={0: {"gpu_sm_clock_mhz": falling}},
        job_memory_bytes=samples(np.linspace(1e9, 5e9, 100)),
        host_swap_in_bytes_per_second=samples(np.zeros(100)),
    )

    assert isinstance(finding, Finding)
    assert "Most of it is forward." in finding.summary
    assert "the GPU's clock fell by 15 %" in finding.summary
    assert "the job's memory grew" in finding.summary
    assert len(finding.recommendations) == 2


def test_batches_that_grow_on_purpose_are_no_fault():
    sizes = np.linspace(32.0, 64.0, COUNT)

    assert check(0.1 * NOISE * sizes / 32, step_examples=sizes) is None


def test_the_gain_is_the_pace_at_first():
    finding = check(jumping(0.5, at=500))

    assert isinstance(finding, Finding)
    assert finding.gain is not None
    assert 1.2 < finding.gain.bound < 1.4


def test_few_steps_are_not_judged():
    assert check(np.ones(100)) == Abstention(("at least 160 steps after warm-up",))


def test_an_open_finding_stays_above_the_limit():
    assert check(jumping(0.04), already_open=True) is not None
    assert check(jumping(0.02), already_open=True) is None


def test_stalls_do_not_raise_the_promise():
    """Steps drift by 8 %, and every 37th one stalls, which is another fault."""
    seconds = np.linspace(0.100, 0.108, 2_000)
    seconds[::37] += 8.0

    finding = check(seconds)

    assert isinstance(finding, Finding)
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(1.04, abs=0.005)


def test_steps_that_wait_longer_for_a_core_are_the_work_of_other_jobs():
    seconds = jumping(0.3)
    rows = steps(total=seconds, count=COUNT)
    ends = rows.times / SECOND
    jump = int((rows.times[600] - rows.times[0]) / SECOND)
    total = int((rows.times[-1] - rows.times[0]) / SECOND) + 2
    late = np.arange(total) > jump

    def found(**more):
        return check(seconds, step_end_seconds=ends, **more)

    waits = samples(np.where(late, 0.25, 0.0))
    assert found(job_main_thread_core_wait_share=waits) == Abstention((CROWDED,))
    crowd = {
        "host_cpu_percent": samples(np.where(late, 90.0, 30.0)),
        "host_cores": 2.0,
        "job_cpu_cores": samples(np.full(total, 0.4)),
    }
    assert found(**crowd) == Abstention((CROWDED,))
    assert isinstance(found(), Finding)


def test_jitter_that_grows_leaves_the_fastest_steps_as_they_are():
    random = np.random.default_rng(7)
    jitter = random.exponential(0.2, COUNT) * np.linspace(0.2, 1.0, COUNT)

    assert check(0.1 * (1.0 + jitter)) is None
    assert check(0.1 * (1.0 + jitter) * np.linspace(1.0, 1.3, COUNT)) is not None
