from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import stage, steps
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.engine.measurements import Measurements
from tracker.diagnosis.rules.faster_but_worse import check
from tracker.diagnosis.signals import EarlierRun, Tracked


def losses(rows, level: float, *, seed: int = 0):
    noise = 0.01 * np.random.default_rng(seed).standard_normal(len(rows))
    return {"val/loss": Tracked(rows.numbers, rows.times, level + noise)}


def measured(
    *, level: float = 0.6, batch: float = 64.0, step: float = 0.1, count: int = 300
) -> Measurements:
    before, after = steps(total=0.1, count=300), steps(total=step, count=count)
    columns = {**after.columns, "step_examples": np.full(count, batch)}
    earlier = EarlierRun(
        "baseline",
        step_seconds=0.1,
        examples_per_second=160.0,
        step_times=before.times,
        step_examples=np.full(300, 16.0),
        losses=losses(before, 0.5),
    )
    return stage(
        step_rows=replace(after, columns=columns),
        losses=losses(after, level, seed=1),
        earlier={"rung_before": earlier},
    )


ALARMS = [measured()]
SILENCES = [measured(level=0.5), measured(level=0.4), measured(batch=16.0)]


def ask(**differs):
    found = measured(**differs).values()
    names = (
        *("step_seconds", "step_examples", "step_times", "losses"),
        "rung_before",
    )
    return check(**{name: found[name] for name in names})


@pytest.mark.parametrize(
    ("differs", "is_found"),
    [
        pytest.param({"level": 0.515}, True, id="just worse"),
        pytest.param({"level": 0.505}, False, id="just not worse"),
        pytest.param({"batch": 16.6}, True, id="just faster"),
        pytest.param({"batch": 16.4}, False, id="just not faster"),
    ],
)
def test_judges_near_each_limit(differs, is_found):
    assert isinstance(ask(**differs), Finding) == is_found


def test_says_both_losses_and_how_much_faster():
    finding = ask()

    assert isinstance(finding, Finding)
    assert finding.summary.startswith("This run processes 4.00 times as many examples")
    assert "after equal time; it was" in finding.summary
    assert finding.evidence[0].value == pytest.approx(0.1, abs=0.01)


def test_runs_without_a_loss_in_common_cannot_be_judged():
    found = measured().values()

    answer = check(
        found["step_seconds"],
        found["step_examples"],
        found["step_times"],
        {"train/loss": found["losses"]["val/loss"]},
        found["rung_before"],
    )
    assert isinstance(answer, Abstention)


def test_a_run_that_is_much_shorter_cannot_be_judged():
    assert isinstance(ask(count=10), Abstention)
