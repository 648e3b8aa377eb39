from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import SECOND, START, stage
from tracker.diagnosis.engine.finding import Abstention, Finding, Severity
from tracker.diagnosis.rules.loss_does_not_improve import check
from tracker.diagnosis.signals import Tracked

POINTS = 1000
NOISE = np.random.default_rng(2).normal(0.0, 0.01, POINTS)
FALLING = 1.0 / np.sqrt(np.arange(10, POINTS + 10))
FLAT = np.maximum(np.linspace(5.0, -4.0, POINTS), 1.0) + NOISE


def loss(values, *, seconds=7200):
    times = START + np.linspace(0, seconds, len(values)).astype(np.int64) * SECOND
    return Tracked(np.arange(len(values), dtype=np.float64), times, values)


ALARMS = [
    stage(losses={"train/loss": loss(FLAT)}),
    stage(losses={"train/loss": loss(np.full(POINTS, 2.3))}),
    stage(losses={"train/loss": loss(np.full(POINTS, 2.3), seconds=60)}),
]
SILENCES = [
    stage(losses={"train/loss": loss(FALLING)}),
    stage(losses={"train/loss": loss(FALLING, seconds=1800)}),
    stage(losses={"train/loss": loss(FALLING), "val/loss": loss(FLAT)}),
]


def test_a_loss_that_never_changes_is_found_at_once():
    constant = np.full(POINTS, 2.3)
    rounded = constant * (1.0 + 1e-7 * NOISE)
    reached = np.where(np.arange(POINTS) < 100, FALLING, 2.3)

    def answer(values):
        return check({"train/loss": loss(values, seconds=10)})

    assert isinstance(answer(constant), Finding)
    assert isinstance(answer(rounded), Finding)
    assert isinstance(answer(reached), Abstention)
    assert isinstance(answer(0.0 * constant), Abstention)


def late(share):
    """A loss that falls by 1 until the third quarter, and by `share` afterwards."""
    return np.repeat([1.0, 0.5, 0.0, -share], POINTS // 4) + 10.0


@pytest.mark.parametrize(
    ("values", "seconds", "is_found"),
    [
        pytest.param(late(0.009), 7200, True, id="just flat"),
        pytest.param(late(0.011), 7200, False, id="just falling"),
        pytest.param(late(0.0), 3700, True, id="just long enough"),
        pytest.param(late(0.0), 3500, False, id="just not"),
        pytest.param(late(-0.5), 7200, True, id="rising"),
    ],
)
def test_judges_near_each_limit(values, seconds, is_found):
    found = check({"train/loss": loss(values, seconds=seconds)})

    assert isinstance(found, Finding) == is_found


def test_a_flat_loss_is_not_judged_before_an_hour():
    assert check({"loss": loss(FLAT, seconds=1800)}) == Abstention(
        ("a loss over at least an hour",)
    )


def test_one_falling_loss_of_several_is_progress():
    assert check({"loss/a": loss(FLAT), "loss/b": loss(FALLING)}) is None


def test_a_loss_that_never_changes_is_a_fault_of_its_own():
    finding = check({"loss": loss(np.full(POINTS, 2.3026))})

    assert isinstance(finding, Finding)
    assert finding.title == "Loss does not change"
    assert finding.severity is Severity.WARNING
    assert finding.summary == "loss is 2.303 at every logged point."
    assert finding.spoils_the_run


def test_few_points_are_not_judged():
    few = check({"loss": loss(np.full(150, 2.3))})

    assert few == Abstention(("a loss of at least 200 points",))
    assert isinstance(check({"loss": loss(np.full(POINTS, np.nan))}), Abstention)


def test_an_open_finding_stays_above_the_limit():
    assert check({"loss": loss(late(0.015))}, already_open=True) is not None
    assert check({"loss": loss(late(0.025))}, already_open=True) is None
