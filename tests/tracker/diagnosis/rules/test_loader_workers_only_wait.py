from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import rules_of, stage, steps
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import Finding
from tracker.diagnosis.rules.loader_workers_only_wait import check


def waiting(*, workers=4.0, busy=0.02, wait=0.06, facts=None, **sampled):
    return stage(
        step_rows=steps(total=0.08, waiting=wait),
        sampled={
            "job_cpu_cores": 0.2,
            "job_main_cpu_cores": 0.1,
            "job_workers": workers,
            "worker_cpu_cores": busy,
            **sampled,
        },
        facts={"effective_cores": 2.0, "loader_workers": workers, **(facts or {})},
    )


ALARMS = [waiting(), waiting(workers=1.0)]
SILENCES = [
    waiting(wait=0.001),
    waiting(busy=0.6),
    # One worker computes.
    waiting(worker_cpu_cores_max=0.9),
    # These wait for storage, or for a core.
    waiting(io_pressure_share=0.3),
    waiting(workers_blocked=2.0),
    waiting(facts={"data_is_on_network": 1.0}),
    waiting(worker_core_wait_share=0.3),
]


def ask(**how):
    found = waiting(**how).values()
    names = ("step_seconds", "data_wait_seconds", "loader_workers", "worker_cpu_cores")
    return check(**{name: found[name] for name in names})


@pytest.mark.parametrize(("busy", "is_found"), [(0.24, True), (0.26, False)])
def test_judges_near_the_limit(busy, is_found):
    assert isinstance(ask(busy=busy), Finding) == is_found


def test_the_number_of_cores_is_no_limit():
    finding = ask()

    assert isinstance(finding, Finding)
    # A worker needs 0.32 s for a batch, and training 0.02 s.
    assert finding.recommendations[0].suggested == "20 workers"


def test_memory_is_a_limit():
    limited = waiting(facts={"memory_limit_bytes": 3e9}, job_memory_bytes=1e9)
    finding = diagnose(limited).findings[0].finding

    assert finding.recommendations[0].suggested == "14 workers"


def test_it_is_the_cause_of_the_waiting():
    found = diagnose(waiting())

    assert rules_of(found)[0] == "loader-workers-only-wait"
    assert [j.rule for j in found.findings if not j.explained_by] == [
        "loader-workers-only-wait"
    ]
