from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import GIB, readings, stage, steps
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.gpu_is_too_large import check

EARLIER = {
    "earlier_runs": 4.0,
    "earlier_runs_gpu_p95_percent": 8.0,
    "earlier_runs_gpu_memory_share": 0.1,
}


def small(percent=9.0, **facts):
    return stage(
        step_rows=steps(total=1.0, count=400),
        gpus=1,
        gpu_percent=percent,
        gpu_memory=5 * GIB,
        facts=EARLIER | facts,
    )


ALARMS = [small()]
SILENCES = [
    small(60.0),
    small(earlier_runs_gpu_p95_percent=70.0),
    small(earlier_runs_gpu_memory_share=0.5),
]


def ask(busy=9.0, *, runs=2.0, earlier=5.0, seconds=400, **more):
    gpu = {
        "gpu_utilization_percent": readings(busy, seconds=seconds),
        "gpu_memory_used_bytes": readings(4.0 * GIB, seconds=seconds),
        "gpu_memory_total_bytes": 80.0 * GIB,
    }
    return check(
        {0: gpu},
        runs,
        earlier_runs_gpu_p95_percent=earlier,
        earlier_runs_gpu_memory_share=0.1,
        **more,
    )


@pytest.mark.parametrize(
    ("busy", "earlier", "is_found"),
    [
        pytest.param(19.0, 5.0, True, id="just little use"),
        pytest.param(21.0, 5.0, False, id="just enough use"),
        pytest.param(5.0, 21.0, False, id="used more before"),
        pytest.param(0.0, 5.0, False, id="not used at all"),
    ],
)
def test_judges_near_each_limit(busy, earlier, is_found):
    assert (ask(busy, earlier=earlier) is not None) == is_found


def test_two_runs_are_no_habit():
    assert isinstance(ask(runs=1.0), Abstention)


def test_a_short_run_says_nothing():
    assert ask(seconds=200) == Abstention(("samples over at least 5 min",))


def test_waiting_for_data_comes_first():
    finding = ask()

    assert isinstance(finding, Finding)
    assert "data-wait-dominates" in finding.comes_after
    assert "the last 3 runs" in finding.summary


def test_an_open_finding_stays_below_the_higher_limit():
    assert ask(23.0, already_open=True) is not None
    assert ask(26.0, already_open=True) is None
