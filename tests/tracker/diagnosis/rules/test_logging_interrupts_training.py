from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, stage
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.logging_interrupts_training import check

ALARMS = [stage(phases={"forward": 0.04, "log": 0.02})]
SILENCES = [
    stage(phases={"forward": 0.04, "log": 0.001}),
    stage(phases={"log": 0.02}, gpus=1, gpu_percent=99.0),
]


def ask(seconds, **more):
    phases = {"log": np.broadcast_to(np.asarray(seconds, float), 100)}
    return check(np.full(100, 1.0), phases, **more)


@pytest.mark.parametrize(
    ("seconds", "is_found"),
    [pytest.param(0.031, True, id="just"), pytest.param(0.029, False, id="just not")],
)
def test_judges_near_its_limit(seconds, is_found):
    assert (ask(seconds) is not None) == is_found


def test_is_not_judged_where_logging_is_no_phase():
    assert isinstance(check(np.ones(9), {"forward": np.ones(9)}), Abstention)


def test_logging_beside_a_busy_gpu_costs_nothing():
    assert ask(0.2, busiest_gpu_percent=readings(99.0)) is None
    assert ask(0.2, busiest_gpu_percent=readings(50.0)) is not None


def test_recommends_what_is_left_to_do():
    each, seldom = ask(0.1), ask(np.where(np.arange(100) % 20, 0.0, 2.0))

    assert isinstance(each, Finding)
    assert isinstance(seldom, Finding)
    assert each.recommendations[0].suggested == "every 50 steps"
    assert "in 100 % of the steps" in each.summary
    assert "in 5 % of the steps" in seldom.summary
    assert not any(r.suggested for r in seldom.recommendations)


def test_an_open_finding_stays_above_the_limit():
    assert ask(0.025, already_open=True) is not None
    assert ask(0.015, already_open=True) is None
