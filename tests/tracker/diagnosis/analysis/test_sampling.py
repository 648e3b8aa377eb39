from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import SECOND, START, stage, steps
from tracker.diagnosis.analysis.sampling import coverage, interval_seconds
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import SAMPLED, Evidence, Finding, Severity
from tracker.diagnosis.engine.measurements import Measurements, Window
from tracker.diagnosis.engine.rule import Rule
from tracker.diagnosis.signals import Samples

LOOP = steps(total=0.1, count=3000)  # five minutes


def always(job_cpu_cores: Samples) -> Finding:
    return Finding(
        summary="It is so.",
        severity=Severity.NOTICE,
        evidence=(Evidence("job_cpu_cores", "mean", 1.0, "cores"),),
        recommendations=(),
        disproof="Nothing.",
        quality=SAMPLED,
        corroboration=1.0,
    )


def rule() -> Rule:
    module = ModuleType("always_found")
    module.__doc__ = "It is always so.\n\nCatalogue: C1, always."
    vars(module).update(check=always)
    return Rule.from_module(module)


def read_at(seconds: np.ndarray) -> Measurements:
    readings = Samples(
        START + (np.asarray(seconds) * SECOND).astype(np.int64), np.ones(len(seconds))
    )
    return replace(stage(step_rows=LOOP), samples={"job_cpu_cores": readings})


def test_readings_every_second_lower_nothing():
    (found,) = diagnose(read_at(np.arange(1, 300)), rules=[rule()]).findings

    assert found.finding.quality == SAMPLED


def test_slow_readings_are_worth_less():
    (found,) = diagnose(read_at(np.arange(10, 300, 10)), rules=[rule()]).findings

    assert found.finding.quality == pytest.approx(0.8 * SAMPLED)


def test_a_signal_sampled_rarely_on_purpose_keeps_its_quality():
    measured = read_at(np.arange(10, 300, 10))
    often = read_at(np.arange(1, 300)).samples["job_cpu_cores"]
    both = {**measured.samples, "job_threads": often}

    (found,) = diagnose(replace(measured, samples=both), rules=[rule()]).findings

    assert found.finding.quality == SAMPLED


def test_a_window_that_is_not_half_covered_is_not_judged():
    diagnosis = diagnose(read_at(np.arange(1, 100)), rules=[rule()])

    assert diagnosis.unanswered == {"always-found": ("job_cpu_cores",)}


def test_windows_without_readings_count_neither_for_nor_against():
    (found,) = diagnose(read_at(np.arange(1, 200)), rules=[rule()]).findings

    assert found.persistence == 1.0


def test_one_missed_reading_is_no_hole():
    seconds = np.arange(2.0, 60, 2)
    readings = Samples(START + (seconds * SECOND).astype(np.int64), seconds)
    window = Window(START, START + 60 * SECOND)

    assert interval_seconds(readings.times) == 2
    assert coverage(readings, window, 1.0) == pytest.approx(1.0)


def test_two_readings_have_no_usual_interval_and_hide_nothing():
    readings = Samples(START + np.array([1, 50]) * SECOND, np.ones(2))

    assert interval_seconds(readings.times) == 0
    assert coverage(readings, Window(START, START + 60 * SECOND), 0.0) == 1.0
