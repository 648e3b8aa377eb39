from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import GIB, readings, stage
from tracker.diagnosis.engine.finding import AGREEING, Finding, Severity
from tracker.diagnosis.rules.host_memory_is_short import check

JOB = {"job_memory_bytes": 30.0 * GIB}
LIMIT = {"memory_limit_bytes": 32.0 * GIB}


def using(facts=LIMIT, **sampled):
    return stage(sampled=JOB | sampled, facts=facts)


ALARMS = [
    using(memory_pressure_share=0.4),
    using(host_swap_in_bytes_per_second=50e6),
    using(cgroup_memory_used_bytes=31.5 * GIB, cgroup_page_cache_bytes=0.1 * GIB),
    using(shared_memory_used_share=0.97),
]
SILENCES = [
    using(memory_pressure_share=0.02, host_swap_in_bytes_per_second=0.0),
    # The limit is reached constantly, because the page cache fills all free memory.
    using(
        cgroup_memory_used_bytes=31.9 * GIB,
        cgroup_page_cache_bytes=12.0 * GIB,
        cgroup_memory_limit_hits=500.0,
    ),
]


def ask(**more):
    return check(readings(30 * GIB), **more)


@pytest.mark.parametrize(
    ("sign", "is_found"),
    [
        pytest.param({"memory_pressure_share": 0.11}, True, id="just pressure"),
        pytest.param({"memory_pressure_share": 0.09}, False, id="little pressure"),
        pytest.param({"host_swap_in_bytes_per_second": 1.1e6}, True, id="just swap"),
        pytest.param({"host_swap_in_bytes_per_second": 0.9e6}, False, id="old swap"),
        pytest.param({"shared_memory_used_share": 0.91}, True, id="just full"),
        pytest.param({"shared_memory_used_share": 0.89}, False, id="not quite full"),
    ],
)
def test_judges_near_each_limit(sign, is_found):
    found = ask(**{name: readings(value) for name, value in sign.items()})

    assert (found is not None) == is_found


@pytest.mark.parametrize(("used", "is_found"), [(31.0, True), (30.0, False)])
def test_page_cache_is_no_use(used, is_found):
    answer = ask(
        cgroup_memory_used_bytes=readings((used + 0.5) * GIB),
        cgroup_page_cache_bytes=readings(0.5 * GIB),
        memory_limit_bytes=32.0 * GIB,
    )

    assert (answer is not None) == is_found


def test_a_killed_process_is_critical():
    finding = ask(memory_pressure_share=readings(0.12), cgroup_oom_kills=readings(1.0))

    assert isinstance(finding, Finding)
    assert finding.severity == Severity.CRITICAL
    assert "killed 1 process" in finding.summary


def test_full_shared_memory_has_a_cure_of_its_own():
    finding = ask(shared_memory_used_share=readings(0.95), loader_workers=8.0)

    assert isinstance(finding, Finding)
    assert finding.title == "Shared memory is full"
    assert "--shm-size" in finding.recommendations[0].code
    assert finding.recommendations[1].suggested == "4 workers"


def test_two_signs_agree():
    finding = ask(
        memory_pressure_share=readings(0.2),
        host_swap_in_bytes_per_second=readings(5e6),
    )

    assert isinstance(finding, Finding)
    assert finding.corroboration == AGREEING


def test_an_open_finding_stays_above_the_lower_limit():
    assert ask(memory_pressure_share=readings(0.08), already_open=True) is not None
    assert ask(memory_pressure_share=readings(0.06), already_open=True) is None


@pytest.mark.parametrize(("gibibytes", "is_said"), [(12, True), (2, False)])
def test_a_large_worker_is_mentioned(gibibytes, is_said):
    finding = ask(
        memory_pressure_share=readings(0.2),
        worker_memory_bytes_max=readings(gibibytes * GIB),
    )

    assert isinstance(finding, Finding)
    assert ("One child process" in finding.summary) == is_said
    assert any(e.signal == "worker_memory_bytes_max" for e in finding.evidence)


def test_workers_are_not_mentioned_without_workers():
    finding = ask(memory_pressure_share=readings(0.2))

    assert isinstance(finding, Finding)
    assert "child process" not in finding.summary
