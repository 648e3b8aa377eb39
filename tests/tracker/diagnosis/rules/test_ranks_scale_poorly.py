from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import stage, steps
from tracker.diagnosis.engine.finding import Abstention, Finding, Severity
from tracker.diagnosis.rules.ranks_scale_poorly import check
from tracker.diagnosis.signals import EarlierRun

ALONE = EarlierRun(
    "one-gpu",
    ranks=1.0,
    step_seconds=0.1,
    examples_per_second=320.0,
    parts={"forward": 0.04, "backward": 0.05, "data wait": 0.001},
)


def measured(seconds: float):
    rows = steps(total=seconds, waiting=0.001)
    columns = {**rows.columns, "step_examples": np.full(300, 32.0)}
    return stage(
        step_rows=replace(rows, columns=columns),
        facts={"world_size": 8.0},
        phases={"forward": 0.04, "backward": seconds - 0.05},
        earlier={"run_of_fewer_ranks": ALONE},
    )


ALARMS = [measured(0.2)]
SILENCES = [measured(0.11)]


def ask(seconds: float, *, count: int = 300, ranks: float = 8.0, **more):
    times = np.full(count, seconds)
    return check(times, np.full(count, 32.0), ranks, ALONE, **more)


@pytest.mark.parametrize(
    ("efficiency", "severity"),
    [(0.81, None), (0.79, Severity.WARNING), (0.49, Severity.CRITICAL)],
)
def test_judges_near_each_limit(efficiency, severity):
    finding = ask(0.1 / efficiency)

    assert (finding.severity if isinstance(finding, Finding) else None) == severity


def test_an_open_finding_stays_above_the_limit():
    assert ask(0.1 / 0.83, already_open=True) is not None


def test_names_the_part_that_has_grown():
    phases = {"forward": np.full(300, 0.041), "backward": np.full(300, 0.15)}

    finding = ask(0.2, phase_seconds=phases, data_wait_seconds=np.full(300, 0.001))

    assert isinstance(finding, Finding)
    assert "backward grew most, by 100 ms" in finding.summary
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(2.0)


def test_judges_only_against_fewer_ranks():
    assert ask(0.2, ranks=1.0) == Abstention(("run_of_fewer_ranks",))
    assert ask(0.2, count=20) == Abstention(("at least 50 steps",))
