from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import SECOND, stage, steps_in_epochs, with_facts
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.measurements import Measurements
from tracker.diagnosis.rules import RULES
from tracker.diagnosis.signals import Samples

NAME = "preprocessing-is-repeated"
RULE = next(rule for rule in RULES if rule.name == NAME)


def between(*seconds: float, name: str = "preprocess") -> Measurements:
    """Epochs of 10 s, each with preprocessing before it."""
    rows = steps_in_epochs([100] * len(seconds), gap=3.0)
    starts = rows.times[::100] - SECOND
    return stage(step_rows=rows, spans={name: Samples(starts, np.array(seconds))})


def in_steps(seconds: float | np.ndarray, *, name: str = "preprocess") -> Measurements:
    rows = steps_in_epochs([100] * 3, waiting=0.05)
    return stage(step_rows=rows, phases={name: seconds})


ALARMS = [
    between(2.0, 2.1, 2.0, 1.95),
    # Other jobs on the machine delay some of them.
    between(2.4, 1.5, 1.4, 2.0, 1.6, 1.5),
    in_steps(0.03),
]
SILENCES = [
    between(0.3, 0.3, 0.3),
    in_steps(0.001),
    # A lower cost each time means that the result is cached.
    between(2.5, 0.5, 0.5),
]


def found_in(measurements: Measurements, **more):
    findings = diagnose(measurements, rules=[RULE], **more).findings
    return findings[0] if findings else None


@pytest.mark.parametrize(("seconds", "is_found"), [(0.0072, False), (0.0082, True)])
def test_repetitions_count_from_a_twentieth_of_the_time(seconds, is_found):
    # Two of three epochs are repetitions, with half a second between them.
    assert (found_in(in_steps(seconds)) is not None) == is_found


def test_an_open_finding_stays_above_the_lower_limit():
    assert found_in(in_steps(0.006), open_findings={(NAME, "")}) is not None


def test_costs_that_differ_are_not_the_same_work():
    epoch = np.repeat([0.03, 0.02, 0.04], 100)

    assert found_in(in_steps(epoch)) is None


def test_names_how_often_and_how_much():
    found = found_in(between(2.0, 2.0, 2.0))

    assert found is not None
    assert found.finding.recommendations[0].current == "3 times"
    assert "2 s around each of 3 epochs" in found.finding.summary
    assert found.finding.explains == ()


def test_random_augmentation_is_left_out():
    measured = in_steps(0.03, name="augment")

    assert NAME in diagnose(measured, rules=[RULE]).unanswered


def test_a_stage_that_preprocesses_is_where_it_belongs():
    assert found_in(with_facts(in_steps(0.03), stage_name="preprocess")) is None


def test_spans_that_are_no_epochs_are_different_work():
    rows = steps_in_epochs([100] * 3, gap=3.0)
    ends = rows.times[::10]
    spans = {"preprocess": Samples(ends, np.full(len(ends), 1.0))}

    assert found_in(stage(step_rows=rows, spans=spans)) is None
