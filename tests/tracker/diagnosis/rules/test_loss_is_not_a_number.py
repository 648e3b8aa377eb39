from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import SECOND, START, stage
from tracker.diagnosis.finding import Finding
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
