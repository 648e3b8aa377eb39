from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import GIB, readings, samples, stage
from tracker.diagnosis.engine.finding import Abstention, Finding, Severity
from tracker.diagnosis.rules.gpu_memory_is_nearly_full import check

ALARMS = [stage(gpus=1, gpu_memory=78 * GIB)]
SILENCES = [stage(gpus=1, gpu_memory=40 * GIB)]

CAPACITY = 80.0 * GIB


def growing(first: float, last: float, *, seconds: int = 1200) -> np.ndarray:
    return np.linspace(first, last, seconds) * CAPACITY


@pytest.mark.parametrize(
    ("share", "severity"),
    [
        pytest.param(0.91, Severity.WARNING, id="just full"),
        pytest.param(0.96, Severity.WARNING, id="not quite critical"),
        pytest.param(0.98, Severity.CRITICAL, id="critical"),
    ],
)
def test_severity_grows_with_the_share(share, severity):
    finding = check(readings(share * CAPACITY), CAPACITY)

    assert isinstance(finding, Finding)
    assert finding.severity == severity


def test_silent_just_below_the_limit():
    assert check(readings(0.89 * CAPACITY), CAPACITY) is None


def test_one_peak_is_enough():
    used = np.full(60, 0.5 * CAPACITY)
    used[30] = 0.95 * CAPACITY

    assert isinstance(check(samples(used), CAPACITY), Finding)


def test_an_open_finding_stays_above_the_lower_limit():
    assert check(readings(0.88 * CAPACITY), CAPACITY, already_open=True) is not None
    assert check(readings(0.86 * CAPACITY), CAPACITY, already_open=True) is None


def test_forecasts_memory_that_keeps_growing():
    finding = check(samples(growing(0.4, 0.8)), CAPACITY)

    assert isinstance(finding, Finding)
    assert finding.title == "GPU memory will run out"
    until_full = next(
        e for e in finding.evidence if e.statistic == "time until GPU memory is full"
    )
    assert until_full.value == pytest.approx(600, rel=0.1)


def test_silent_about_growth_that_is_far_from_the_limit():
    assert check(samples(growing(0.1, 0.2)), CAPACITY) is None


def test_silent_about_growth_that_levels_off():
    used = 0.8 * CAPACITY * (1 - np.exp(-np.arange(1200) / 150))

    assert check(samples(used), CAPACITY) is None


def test_silent_about_memory_that_is_given_back():
    sawtooth = np.tile(growing(0.4, 0.8, seconds=200), 6)

    assert check(samples(sawtooth), CAPACITY) is None


def test_silent_about_growth_in_less_than_five_minutes():
    assert check(samples(growing(0.4, 0.8, seconds=240)), CAPACITY) is None


@pytest.mark.parametrize("framework", ["tensorflow", "jax"])
def test_does_not_judge_memory_that_was_reserved_in_advance(framework):
    answer = check(readings(0.95 * CAPACITY), CAPACITY, framework=framework)

    assert isinstance(answer, Abstention)


def test_does_not_judge_a_handful_of_readings():
    answer = check(readings(0.95 * CAPACITY, seconds=4), CAPACITY)

    assert isinstance(answer, Abstention)


def test_recommends_half_the_batch():
    finding = check(readings(0.95 * CAPACITY), CAPACITY, batch_size=64.0)

    assert isinstance(finding, Finding)
    batch = next(r for r in finding.recommendations if r.current)
    assert (batch.current, batch.suggested) == ("64", "32")


def kept(peak, *, reserved=0.9, used=0.95, **more):
    return check(
        readings(used * CAPACITY),
        CAPACITY,
        gpu_allocator_peak_bytes=readings(peak * CAPACITY),
        gpu_allocator_reserved_bytes=readings(reserved * CAPACITY),
        **more,
    )


def test_memory_that_is_only_kept_for_later_is_not_needed():
    assert kept(0.5) is None


def test_the_peak_of_tensors_and_other_memory_are_added():
    finding = kept(0.86)

    assert isinstance(finding, Finding)
    assert finding.evidence[0].signal == "gpu_allocator_peak_bytes"
    assert finding.evidence[0].value == pytest.approx(0.91)
    assert finding.quality == 1.0


def test_forecasts_by_what_tensors_use():
    finding = kept(
        0.8,
        used=0.85,
        reserved=0.82,
        gpu_allocator_allocated_bytes=samples(growing(0.4, 0.8)),
    )

    assert isinstance(finding, Finding)
    assert finding.title == "GPU memory will run out"


def test_the_cheapest_cure_comes_first():
    finding = kept(0.88, framework="pytorch", torch_autocast="bfloat16")

    assert isinstance(finding, Finding)
    codes = [way.code for way in finding.recommendations]
    assert "expandable_segments" in codes[0]
    assert not any("autocast" in code for code in codes)
