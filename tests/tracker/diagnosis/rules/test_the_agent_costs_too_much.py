from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, samples, stage
from tracker.diagnosis.engine.finding import Finding, Severity
from tracker.diagnosis.rules.the_agent_costs_too_much import check

ALARMS = [stage(sampled={"agent_cpu_share": 0.03, "agent_tick_late_seconds": 0.2})]
SILENCES = [
    stage(sampled={"agent_cpu_share": 0.003}),
    # Late because the machine is busy.
    stage(sampled={"agent_cpu_share": 0.003, "agent_tick_late_seconds": 3.0}),
]


@pytest.mark.parametrize(
    ("used", "severity"),
    [
        pytest.param(0.009, None, id="just cheap enough"),
        pytest.param(0.011, Severity.NOTICE, id="just too much"),
        pytest.param(0.2, Severity.WARNING, id="far too much"),
    ],
)
def test_severity_grows_with_the_cost(used, severity):
    finding = check(readings(used))

    assert (finding.severity if finding else None) == severity


@pytest.mark.parametrize(("used", "is_found"), [(0.0149, False), (0.0151, True)])
def test_a_gpu_raises_the_allowed_cpu_time(used, is_found):
    gpus = {0: {"gpu_power_watts": readings(300.0)}}

    assert bool(check(readings(used), gpus=gpus)) is is_found


def test_shows_how_late_ticks_come():
    finding = check(readings(0.02), agent_tick_late_seconds=readings(0.5))

    assert isinstance(finding, Finding)
    assert "500 ms late" in finding.summary


def test_an_open_finding_stays_above_the_lower_limit():
    held, open_ = check(readings(0.009), already_open=True), check(readings(0.02))

    assert held.evidence[0].is_held
    assert held.evidence[0].release == pytest.approx(0.008)
    assert not open_.evidence[0].is_held
    assert check(readings(0.007), already_open=True) is None


def test_the_start_of_the_agent_does_not_count():
    """Its first sample includes imports and reading the repository."""
    start = np.full(30, 0.005)
    start[0] = 0.3

    assert check(samples(start)) is None
