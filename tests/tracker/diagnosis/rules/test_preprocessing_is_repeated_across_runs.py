from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import stage
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.preprocessing_is_repeated_across_runs import check


def measured(runs: float, name: str = "preprocess"):
    return stage(
        sampled={"job_cpu_cores": 1.0},
        facts={
            "stage_name": name,
            "same_stage_runs": runs,
            "stage_seconds": 300.0,
            "stage_share_of_run": 0.5,
            "same_stage_seconds": 600.0,
        },
    )


ALARMS = [measured(2.0)]
SILENCES = [measured(1.0), measured(9.0, "train")]


def ask(runs=4.0, *, name="tokenize", seconds=300.0, share=0.5):
    return check(
        name,
        same_stage_runs=runs,
        stage_seconds=seconds,
        stage_share_of_run=share,
        same_stage_seconds=runs * 300.0,
    )


@pytest.mark.parametrize(
    ("differs", "is_found"),
    [
        ({"runs": 2.0}, True),
        ({"runs": 1.0}, False),
        ({"seconds": 11.0}, True),
        ({"seconds": 9.0}, False),
        ({"share": 0.06}, True),
        ({"share": 0.04}, False),
        ({"name": "infer"}, False),
    ],
)
def test_judges_near_each_limit(differs, is_found):
    assert isinstance(ask(**differs), Finding) == is_found


def test_sums_up_what_it_has_cost():
    finding = ask()

    assert isinstance(finding, Finding)
    assert finding.summary.startswith("5 runs of this project ran this stage")
    assert "25 min in total" in finding.summary


def test_without_its_own_time_it_cannot_judge():
    lacks = ("same_stage_runs", "stage_seconds")

    assert check("preprocess", same_stage_runs=4.0) == Abstention(lacks)
    assert check("preprocess", stage_seconds=300.0) == Abstention(lacks)
