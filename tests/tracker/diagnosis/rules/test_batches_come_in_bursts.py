from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, stage, steps
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import AGREEING, Finding, Severity
from tracker.diagnosis.rules.batches_come_in_bursts import check


def every(period: int, wait: float, *, count: int = 400) -> np.ndarray:
    return np.where(np.arange(count) % period == 0, wait, 0.0)


def bursts(period: int, wait: float, **more):
    waits = every(period, wait)
    return stage(
        step_rows=steps(total=0.1 + waits, waiting=waits, count=400),
        sampled={"job_cpu_cores": 2.0, "job_workers": 4.0, "worker_cpu_cores": 0.5},
        facts={"effective_cores": 8.0, "loader_workers": 4.0},
        **more,
    )


ALARMS = [bursts(4, 0.3)]
SILENCES = [
    bursts(10, 0.3),
    # The wait follows a checkpoint.
    bursts(4, 0.3, phases={"checkpoint": every(4, 0.1)}),
]


def ask(waits, *, total=0.1, **more):
    return check(step_seconds=total + waits, data_wait_seconds=waits, **more)


def test_one_long_wait_in_five_steps_is_a_burst():
    assert isinstance(ask(every(5, 0.1)), Finding)
    assert ask(every(6, 0.1)) is None
    assert ask(every(6, 0.1), already_open=True) is not None


@pytest.mark.parametrize(("wait", "is_found"), [(0.027, False), (0.033, True)])
def test_short_waits_are_none(wait, is_found):
    assert isinstance(ask(every(4, wait), total=0.01), Finding) == is_found


def test_steps_that_all_wait_are_no_burst():
    assert ask(np.full(400, 0.05)) is None


def test_busy_workers_are_slow_and_not_uneven():
    assert ask(every(4, 0.3), worker_cpu_cores=readings(0.9)) is None


def test_a_phase_of_every_step_does_not_explain_long_waits():
    assert ask(every(4, 0.3), phase_seconds={"log": np.full(400, 0.001)}) is not None


def test_the_period_of_the_workers_is_named():
    finding = ask(every(4, 0.3), loader_workers=4.0, loader_prefetch_factor=2.0)

    assert isinstance(finding, Finding)
    assert finding.severity is Severity.CRITICAL
    assert finding.corroboration == AGREEING
    assert "every 4 steps" in finding.summary
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(0.175 / 0.1)


@pytest.mark.parametrize(
    ("framework", "line"),
    [
        ("pytorch", "DataLoader(dataset, num_workers=4, prefetch_factor=4)"),
        ("tensorflow", "dataset.prefetch(tf.data.AUTOTUNE)"),
        ("jax", "worker_buffer_size=4"),
    ],
)
def test_recommends_in_the_words_of_the_framework(framework, line):
    finding = ask(
        every(4, 0.3),
        loader_workers=4.0,
        loader_prefetch_factor=2.0,
        framework=framework,
    )

    assert isinstance(finding, Finding)
    assert line in finding.recommendations[0].code
    assert finding.recommendations[0].current == "2 batches ahead"


def test_it_is_the_cause_of_the_waiting():
    roots = [j.rule for j in diagnose(bursts(4, 0.3)).findings if not j.explained_by]

    assert roots == ["batches-come-in-bursts"]


def test_workers_that_only_wait_are_too_few_and_not_uneven():
    asked = {"loader_workers": 4.0, "worker_cpu_cores": readings(0.02)}

    assert ask(every(4, 0.3), **asked) is None
    assert ask(every(5, 0.3), **asked | {"loader_workers": 2.0}) is not None
