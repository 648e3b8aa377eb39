from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import GIB, START, samples, stage, steps
from tracker.diagnosis.engine.finding import (
    AGREEING,
    CONTRADICTED,
    Abstention,
    Finding,
    Severity,
)
from tracker.diagnosis.rules.host_memory_keeps_growing import check

LONG = steps(total=1.0, count=1200)


def memory(first, last, *, seconds=1200):
    return np.linspace(first, last, seconds) * GIB


ALARMS = [stage(step_rows=LONG, sampled={"job_memory_bytes": memory(8, 16)})]
SILENCES = [
    stage(step_rows=LONG, sampled={"job_memory_bytes": 20.0 * GIB}),
    # A cache that fills up.
    stage(
        step_rows=LONG,
        sampled={
            "job_memory_bytes": 20 * GIB * (1 - np.exp(-np.arange(1200) / 100)),
        },
    ),
]


def ask(first, last, *, seconds=1200, **more):
    return check(samples(memory(first, last, seconds=seconds)), **more)


@pytest.mark.parametrize(
    ("last", "is_found"),
    [
        pytest.param(12.4, True, id="just more than 1 % a minute"),
        pytest.param(11.8, False, id="just less"),
    ],
)
def test_judges_near_the_limit(last, is_found):
    assert (ask(10, last) is not None) == is_found


def test_slow_growth_counts_where_the_limit_is_near():
    finding = ask(28, 30, memory_limit_bytes=31.0 * GIB)

    assert isinstance(finding, Finding)
    assert finding.severity == Severity.CRITICAL
    assert "it reaches the limit in" in finding.summary


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        (1.0, 3.0, "It grows in the loader workers: the largest of them by"),
        (1.0, 1.0, "It does not grow in the loader workers."),
        (1.0, 1.05, "per minute."),
    ],
    ids=["in workers", "elsewhere", "hardly"],
)
def test_says_whether_the_workers_grow(first, last, said):
    finding = ask(8, 16, worker_memory_bytes_max=samples(memory(first, last)))

    assert isinstance(finding, Finding)
    assert said in finding.summary
    assert ("loader workers" in finding.summary) == ("loader workers" in said)


def test_ten_minutes_are_the_least():
    assert ask(8, 16, seconds=590) == Abstention(("samples over at least 10 min",))


def test_small_processes_may_double():
    assert ask(0.1, 0.3) is None


@pytest.mark.parametrize(
    ("container", "corroboration"),
    [
        pytest.param(memory(10, 18), AGREEING, id="the container's use grows along"),
        pytest.param(memory(10, 10), CONTRADICTED, id="only files are mapped"),
    ],
)
def test_the_container_agrees_or_not(container, corroboration):
    finding = ask(8, 16, cgroup_memory_used_bytes=samples(container))

    assert isinstance(finding, Finding)
    assert finding.corroboration == corroboration


def test_workers_are_not_mentioned_without_workers():
    finding = ask(8, 16, loader_workers=0.0)

    assert isinstance(finding, Finding)
    assert not any("worker" in way.text for way in finding.recommendations)


def test_an_open_finding_stays_above_the_lower_limit():
    assert ask(10, 11.8, already_open=True) is not None
    assert ask(10, 11.2, already_open=True) is None


def short(values, *, first_step=0.0):
    """A stage with steps of 0.1 s and one sample per second."""
    ends = START / 1e6 + first_step + np.arange(1, 10 * len(values)) * 0.1
    return check(samples(values), step_end_seconds=ends)


def test_a_short_stage_leaks_where_each_step_takes_the_same():
    finding = short(np.linspace(0.1, 0.8, 40) * GIB)

    assert isinstance(finding, Finding)
    assert finding.severity is Severity.NOTICE
    assert isinstance(short(np.linspace(0.1, 0.8, 17) * GIB), Finding)
    assert isinstance(short(np.linspace(0.1, 0.8, 15) * GIB), Abstention)
    assert short(np.linspace(0.1, 0.15, 40) * GIB) is None


def test_the_memory_of_the_start_is_no_growth():
    loaded = np.minimum(np.linspace(0.1, 1.6, 40), 0.8) * GIB
    assert short(loaded) is None
    # Growth for half a minute before the first step, and none after it.
    waiting = np.concatenate([np.linspace(0.1, 0.8, 30), np.full(40, 0.8)]) * GIB
    assert short(waiting, first_step=30.0) is None


def test_a_short_stage_without_steps_is_not_judged():
    growing = samples(np.linspace(0.1, 0.8, 40) * GIB)

    assert isinstance(check(growing), Abstention)
