from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import readings, stage
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.gpu_power_is_capped import check


def limited(share, limit):
    return stage(
        gpus=1,
        gpu_percent=98.0,
        gpu={
            "gpu_limited_power_share": share,
            "gpu_power_limit_watts": limit,
            "gpu_power_limit_default_watts": 700.0,
            "gpu_sm_clock_mhz": 1200.0,
            "gpu_sm_clock_max_mhz": 1980.0,
        },
    )


ALARMS = [limited(0.8, 400.0)]
SILENCES = [
    limited(0.9, 700.0),  # dense work at the default limit is normal
    limited(0.0, 400.0),  # lowered limit without an effect
]


def ask(share=0.5, *, limit=400.0, default=700.0, busy=95.0, **more):
    return check(
        readings(busy),
        readings(share),
        default,
        gpu_power_limit_watts=readings(limit),
        **more,
    )


@pytest.mark.parametrize(
    ("share", "limit", "is_found"),
    [
        pytest.param(0.11, 400.0, True, id="just limited"),
        pytest.param(0.09, 400.0, False, id="hardly limited"),
        pytest.param(0.5, 680.0, True, id="just capped"),
        pytest.param(0.5, 690.0, False, id="as good as the default"),
        pytest.param(0.5, 750.0, False, id="above the default"),
    ],
)
def test_judges_near_each_limit(share, limit, is_found):
    assert (ask(share, limit=limit) is not None) == is_found


@pytest.mark.parametrize(
    ("requested", "is_from_elsewhere"),
    [(400.0, False), (700.0, True), (None, False)],
)
def test_a_limit_that_differs_from_the_requested_one_comes_from_elsewhere(
    requested, is_from_elsewhere
):
    finding = ask(gpu_power_limit_requested_watts=requested)

    first = finding.recommendations[0]
    assert ("comes from elsewhere" in first.text) == is_from_elsewhere
    assert bool(first.code) != is_from_elsewhere
    assert first.suggested == "700 W"


def test_names_the_default_to_set_back_to():
    finding = ask()

    assert isinstance(finding, Finding)
    first = finding.recommendations[0]
    assert (first.current, first.suggested) == ("400 W", "700 W")


def test_the_limit_at_the_start_will_do():
    answer = check(
        readings(95.0), readings(0.5), 700.0, gpu_power_limit_at_start_watts=400.0
    )

    assert isinstance(answer, Finding)


def test_an_unknown_limit_is_not_judged():
    assert isinstance(check(readings(95.0), readings(0.5), 700.0), Abstention)


def test_an_idle_gpu_is_not_judged():
    assert isinstance(ask(busy=1.0), Abstention)


def test_an_open_finding_stays_above_the_lower_limit():
    assert ask(0.08, already_open=True) is not None
    assert ask(0.06, already_open=True) is None
