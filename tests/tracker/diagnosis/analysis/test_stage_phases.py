from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import GIB, SECOND, START, samples, stage
from tracker.diagnosis.analysis.stage_phases import find_regimes
from tracker.diagnosis.analysis.steady import find_steady_part
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.measurements import Measurements, Steps, clean


def levels(*parts: tuple[float, int], noise: float = 0.0) -> np.ndarray:
    values = np.concatenate([np.full(seconds, level) for level, seconds in parts])
    random = np.random.default_rng(7)
    return np.abs(values + random.normal(0.0, noise, len(values)))


def script(cpu: np.ndarray, **gpu: np.ndarray) -> Measurements:
    """A stage without steps on 8 cores, with one sample per second."""
    of_gpu = {name: samples(values) for name, values in gpu.items()}
    return clean(
        Measurements(
            samples={"job_cpu_cores": samples(cpu)},
            facts={"effective_cores": 8.0},
            gpus={0: of_gpu} if gpu else {},
        )
    )


def regimes(measurements: Measurements) -> list[tuple[float, float]]:
    """Return the periods in seconds since the start."""
    return [
        ((window.start - START) / SECOND, (window.end - START) / SECOND)
        for window in find_regimes(measurements)
    ]


def test_a_stage_that_does_one_thing_is_one_part():
    cpu = levels((6.0, 300), noise=0.5)

    assert regimes(script(cpu)) == [pytest.approx((1, 300), abs=1)]


def test_consecutive_phases_of_a_stage_are_separated():
    cpu = levels((7.0, 60), (2.0, 200), (0.0, 40), noise=0.1)
    percent = levels((0.0, 60), (90.0, 200), (0.0, 40))

    found = regimes(script(cpu, gpu_utilization_percent=percent))

    # The last period is idle.
    assert found == [pytest.approx((0, 60), abs=3), pytest.approx((60, 260), abs=3)]


def test_memory_and_power_tell_where_utilization_does_not():
    cpu = levels((7.0, 300), noise=0.1)
    found = regimes(
        script(
            cpu,
            gpu_utilization_percent=levels((95.0, 300)),
            gpu_memory_used_bytes=levels((4.0 * GIB, 100), (60.0 * GIB, 200)),
            gpu_power_mean_watts=levels((120.0, 100), (400.0, 200), noise=5.0),
        )
    )

    assert found == [pytest.approx((0, 100), abs=3), pytest.approx((100, 300), abs=3)]


def test_alternating_work_is_one_phase():
    cpu = levels(*[(7.0, 40), (1.0, 40)] * 4)
    percent = levels(*[(0.0, 40), (95.0, 40)] * 4)

    found = regimes(script(cpu, gpu_utilization_percent=percent))

    assert found == [pytest.approx((1, 320), abs=2)]


def test_a_pause_between_equal_work_belongs_to_it():
    cpu = levels((6.0, 100), (0.0, 60), (6.0, 100))

    assert regimes(script(cpu)) == [pytest.approx((1, 260), abs=2)]


def test_a_slow_rise_is_no_change():
    cpu = levels((6.0, 600), noise=0.2)
    memory = np.linspace(10.0, 75.0, 600) * GIB

    found = regimes(
        script(
            cpu,
            gpu_utilization_percent=levels((80.0, 600), noise=4.0),
            gpu_memory_used_bytes=memory,
        )
    )

    assert found == [pytest.approx((1, 600), abs=1)]


def test_use_that_flickers_is_one_part():
    percent = np.tile([0.0, 100.0, 100.0, 0.0, 0.0], 60)

    found = regimes(script(levels((2.0, 300)), gpu_utilization_percent=percent))

    assert found == [pytest.approx((1, 300), abs=1)]


def test_a_day_is_looked_at_as_a_whole():
    hours = 3_600
    cpu = levels((7.0, 2 * hours), (3.0, 10 * hours), noise=0.3)

    found = regimes(script(cpu))

    assert found == [
        pytest.approx((0, 2 * hours), abs=200),
        pytest.approx((2 * hours, 12 * hours), abs=200),
    ]


def test_nothing_measured_has_no_parts():
    assert find_regimes(Measurements()) == []
    assert find_regimes(script(levels((0.0, 100)))) == []


def seconds_of(part) -> float:
    assert part is not None
    return part.window.seconds


def test_the_longest_part_is_judged_and_the_newest_while_the_stage_runs():
    cpu = levels((7.0, 300), (2.0, 100), noise=0.1)

    assert seconds_of(find_steady_part(script(cpu))) == pytest.approx(300, abs=3)
    newest = find_steady_part(script(cpu), has_ended=False)
    assert seconds_of(newest) == pytest.approx(100, abs=3)


def test_parts_that_are_too_short_to_be_judged_are_judged_together():
    cpu = levels((7.0, 45), (2.0, 45), noise=0.05)

    assert seconds_of(find_steady_part(script(cpu))) == pytest.approx(90, abs=1)


def test_an_earlier_phase_does_not_dilute_a_finding():
    percent = levels((95.0, 100), (2.0, 200))
    cpu = levels((1.0, 100), (7.9, 200))
    mixed = stage(
        step_rows=Steps.none(),
        sampled={"job_cpu_cores": cpu},
        facts={"effective_cores": 8.0},
        gpus=1,
        gpu_percent=percent,
    )

    window = diagnose(mixed).window

    assert window is not None
    assert (window.start - START) / SECOND == pytest.approx(100, abs=3)
