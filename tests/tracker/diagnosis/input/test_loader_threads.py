from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import rules_of, stage, steps
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import Finding
from tracker.diagnosis.input.loader_threads import find_threads


def threads(*, process=0.98, main=0.02, waiting=0.06, workers=0.0, cores=4.0):
    return stage(
        step_rows=steps(total=0.1, waiting=waiting),
        sampled={
            "job_cpu_cores": process,
            "job_main_cpu_cores": process,
            "job_main_thread_cpu_cores": main,
        },
        facts={"effective_cores": cores, "loader_workers": workers},
    )


SILENT = [
    {"waiting": 0.002},
    # The main thread loads the data itself.
    {"main": 0.95},
    # Threads that release the lock run in parallel.
    {"process": 2.4},
    {"workers": 4.0},
    {"cores": 1.0},
]


def ask(**how):
    measured = threads(**how)
    values = measured.values()
    return find_threads(
        **{
            name: values[name]
            for name in (
                "step_seconds",
                "data_wait_seconds",
                "effective_cores",
                "job_main_cpu_cores",
                "job_main_thread_cpu_cores",
                "loader_workers",
            )
        }
    )


@pytest.mark.parametrize(
    ("how", "is_found"),
    [
        ({"process": 0.71}, True),
        ({"process": 0.69}, False),
        ({"process": 1.14}, True),
        ({"process": 1.16}, False),
        ({"main": 0.34}, True),
        ({"main": 0.36}, False),
    ],
)
def test_judges_near_each_limit(how, is_found):
    assert isinstance(ask(**how), Finding) == is_found


@pytest.mark.parametrize("how", SILENT)
def test_other_ways_to_load_are_no_threads_that_share_a_core(how):
    assert ask(**how) is None


def test_advises_processes_as_many_as_cores():
    finding = ask()

    assert isinstance(finding, Finding)
    assert finding.recommendations[0].current == "threads"
    assert finding.recommendations[0].suggested == "4 worker processes"
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(0.1 / 0.04)


def test_it_is_the_cause_of_the_waiting():
    found = diagnose(threads())

    assert rules_of(found)[0] == "one-core-does-the-work"
    assert [j.rule for j in found.findings if not j.explained_by] == [
        "one-core-does-the-work"
    ]
