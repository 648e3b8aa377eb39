from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import GIB, readings, stage
from tracker.diagnosis.engine.finding import AGREEING, Abstention, Finding, Severity
from tracker.diagnosis.rules.gpu_memory_is_fragmented import check


def holding(reserved, peak, *, retries=5.0):
    allocator = {
        "gpu_allocator_reserved_bytes": reserved * GIB,
        "gpu_allocator_allocated_bytes": 10.0 * GIB,
        "gpu_allocator_peak_bytes": peak * GIB,
        "gpu_allocator_retries": retries,
        "gpu_allocator_inactive_split_bytes": 20.0 * GIB,
    }
    return stage(gpus=1, gpu=allocator)


ALARMS = [holding(76.0, 40.0)]
SILENCES = [
    holding(76.0, 74.0),
    holding(76.0, 40.0, retries=0.0),
    holding(12.0, 4.0),
]


def ask(reserved, peak, *, retries=1.0, split=0.0, **more):
    return check(
        readings(reserved * GIB),
        readings(peak * GIB / 2),
        readings(retries),
        80.0 * GIB,
        gpu_allocator_peak_bytes=readings(peak * GIB),
        gpu_allocator_inactive_split_bytes=readings(split * GIB),
        **more,
    )


@pytest.mark.parametrize(
    ("reserved", "peak", "retries", "severity"),
    [
        pytest.param(61.0, 40.0, 1.0, Severity.WARNING, id="half as much again"),
        pytest.param(59.0, 40.0, 1.0, None, id="a little less"),
        pytest.param(79.0, 39.0, 1.0, Severity.CRITICAL, id="twice as much"),
        pytest.param(23.0, 10.0, 1.0, None, id="little of the card"),
        pytest.param(61.0, 40.0, 0.0, None, id="nothing was lacking"),
    ],
)
def test_judges_near_each_limit(reserved, peak, retries, severity):
    finding = ask(reserved, peak, retries=retries)

    assert (finding.severity if isinstance(finding, Finding) else None) == severity


def test_pieces_that_cannot_be_given_back_make_it_surer():
    finding = ask(70.0, 40.0, split=20.0)

    assert isinstance(finding, Finding)
    assert finding.corroboration == AGREEING


def test_without_the_peak_it_is_less_sure():
    finding = check(readings(70 * GIB), readings(30 * GIB), readings(2.0), 80.0 * GIB)

    assert isinstance(finding, Finding)
    assert finding.quality < 0.8


def test_an_unknown_card_is_not_judged():
    answer = check(readings(1.0), readings(1.0), readings(1.0), 0.0)

    assert isinstance(answer, Abstention)


def test_an_open_finding_stays_above_the_lower_limit():
    assert ask(57.0, 40.0, already_open=True) is not None
    assert ask(55.0, 40.0, already_open=True) is None
