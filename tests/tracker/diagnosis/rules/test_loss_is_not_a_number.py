from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import SECOND, START, stage
from tracker.diagnosis.engine.finding import Finding
from tracker.diagnosis.rules.loss_is_not_a_number import check
from tracker.diagnosis.signals import Tracked


def loss(*values):
    steps = np.arange(len(values), dtype=np.float64) * 10
    times = START + np.arange(len(values)) * SECOND
    return Tracked(steps, times, np.array(values, dtype=np.float64))


NUMBERS = [2.0, 1.5, 1.2, 1.1, 1.0]
NAN, INFINITE = float("nan"), float("inf")

ALARMS = [
    stage(losses={"train/loss": loss(*NUMBERS, NAN, NAN, NAN)}),
    stage(losses={"train/loss": loss(NAN, NAN)}),
]
SILENCES = [
    stage(losses={"train/loss": loss(*NUMBERS)}),
    stage(losses={"train/loss": loss(2.0, NAN, 1.5, INFINITE, 1.2)}),
]


@pytest.mark.parametrize(
    ("values", "is_found"),
    [
        pytest.param([1.0, NAN, NAN, NAN], True, id="just often enough"),
        pytest.param([1.0, NAN, NAN], False, id="just not"),
        pytest.param([INFINITE], True, id="never a number"),
        pytest.param([1.0, NAN, NAN, NAN, 1.0], False, id="it came back"),
        pytest.param([1.0, -INFINITE, NAN, INFINITE], True, id="mixed"),
    ],
)
def test_judges_near_its_limit(values, is_found):
    assert (check({"train/loss": loss(*values)}) is not None) == is_found


def test_says_since_when_and_of_which_loss_first():
    finding = check(
        {
            "val/loss": loss(1.0, 1.0, 1.0, NAN, NAN, NAN),
            "train/loss": loss(0.5, NAN, NAN, NAN),
        }
    )

    assert isinstance(finding, Finding)
    assert finding.summary == (
        "train/loss is NaN or infinite since step 10, for 3 points in a row."
        " It was 0.5 before. 1 other loss is NaN, too."
    )


def test_a_running_stage_should_be_stopped():
    running = check({"loss": loss(NAN)}, stage_state="running")
    ended = check({"loss": loss(NAN)}, stage_state="finished")

    assert isinstance(running, Finding)
    assert isinstance(ended, Finding)
    assert running.recommendations[0].text.startswith("Stop the run")
    assert not ended.recommendations[0].text.startswith("Stop")


def test_float16_is_suspected():
    finding = check({"loss": loss(NAN)}, torch_autocast="float16")

    assert isinstance(finding, Finding)
    assert [r.suggested for r in finding.recommendations] == ["", "bfloat16", ""]


def diverging(before, rate=None):
    values = np.concatenate([before, np.full(5, np.nan)])
    steps = np.arange(len(values), dtype=np.float64)
    times = (steps * 1e6).astype(np.int64)
    rates = (
        {} if rate is None else {"train/lr": Tracked(steps, times, 0 * steps + rate)}
    )
    return check({"train/loss": Tracked(steps, times, values)}, learning_rates=rates)


def test_a_loss_that_rose_before_had_too_high_a_learning_rate():
    finding = diverging(
        np.concatenate([np.linspace(2, 1, 60), 1.1 ** np.arange(40)]), 0.5
    )

    assert isinstance(finding, Finding)
    assert finding.title.startswith("Learning rate is too high")
    assert "The learning rate was 0.5." in finding.summary
    lower = finding.recommendations[0]
    assert (lower.current, lower.suggested) == ("0.5", "0.05")


def test_a_loss_that_swung_before_had_too_high_a_learning_rate():
    swings = (-1.0) ** np.arange(100) * np.geomspace(0.01, 0.6, 100)

    finding = diverging(1.0 + swings)

    assert isinstance(finding, Finding)
    assert "It oscillated more and more before" in finding.summary


def test_a_loss_that_fell_until_then_blames_no_learning_rate():
    finding = diverging(np.linspace(2, 1, 100), 0.5)

    assert isinstance(finding, Finding)
    assert not finding.title
    assert not finding.recommendations[0].current
