from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import (
    START,
    stage,
    steps_in_epochs,
    with_facts,
    without_facts,
)
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.judgement import Label, label_of
from tracker.diagnosis.engine.measurements import Measurements
from tracker.diagnosis.rules import RULES
from tracker.diagnosis.signals import Samples

NAME = "epochs-begin-slowly"
RULE = next(rule for rule in RULES if rule.name == NAME)
RESTARTED = {"loader_workers": 4.0, "loader_persistent_workers": 0.0}


def in_epochs(
    gap: float, *, busy_between: float = 0.0, evaluating: float = 0.0, **more
) -> Measurements:
    """Five epochs of 10 s on a GPU that is busy during steps."""
    rows = steps_in_epochs([100] * 5, gap=gap)
    starts = rows.times[99::100] / 1e6
    seconds = START / 1e6 + 1 + np.arange(np.ceil((rows.times[-1] - START) / 1e6))
    between = np.any(
        (seconds[:, None] > starts) & (seconds[:, None] <= starts + gap), axis=1
    )
    if evaluating:
        ends = ((starts + evaluating) * 1e6).astype(np.int64)
        more["spans"] = {"evaluate": Samples(ends, np.full(len(ends), evaluating))}
    percent = np.where(between, busy_between, 95.0)
    return stage(step_rows=rows, gpus=1, gpu_percent=percent, **more)


ALARMS = [in_epochs(2.0), in_epochs(2.0, facts=RESTARTED)]
SILENCES = [in_epochs(0.2), in_epochs(3.0, evaluating=2.9)]


def found_in(measurements: Measurements, **more):
    findings = diagnose(measurements, rules=[RULE], **more).findings
    return findings[0] if findings else None


def unanswered(measurements: Measurements) -> bool:
    return NAME in diagnose(measurements, rules=[RULE]).unanswered


@pytest.mark.parametrize(("gap", "is_found"), [(0.37, False), (0.41, True)])
def test_time_between_epochs_counts_from_three_hundredths(gap, is_found):
    # Four gaps, relative to 50 s plus the gaps.
    found = found_in(in_epochs(gap, evaluating=0.01))

    assert (found is not None) == is_found


def test_an_open_finding_stays_above_the_lower_limit():
    measured = in_epochs(0.3, evaluating=0.01)

    assert found_in(measured, open_findings={(NAME, "")}) is not None


def test_time_in_named_phases_is_left_out():
    found = found_in(in_epochs(3.0, evaluating=2.0))

    assert found is not None
    assert found.finding.summary.startswith("Each epoch starts after a pause of 1 s")


def test_a_gpu_that_works_between_epochs_may_evaluate():
    assert unanswered(in_epochs(5.0, busy_between=90.0))


def test_abstains_without_a_gpu():
    assert unanswered(stage(step_rows=steps_in_epochs([100] * 5, gap=2.0)))


def test_is_less_sure_where_only_the_loader_speaks_for_it():
    rows = steps_in_epochs([100] * 5, gap=2.0)

    found = found_in(stage(step_rows=rows, facts=RESTARTED))

    assert found is not None
    assert label_of(found.confidence) is not Label.CONFIRMED


def test_workers_that_stay_are_not_blamed():
    restarted = in_epochs(2.0, facts=RESTARTED)
    stays = with_facts(restarted, loader_persistent_workers=1.0)

    first, second = found_in(restarted), found_in(stays)

    assert first is not None
    assert second is not None
    assert "4 workers restart" in first.finding.summary
    assert "anew" not in second.finding.summary
    assert first.confidence > second.confidence


def test_recommends_in_the_words_of_the_framework():
    torch = found_in(with_facts(in_epochs(2.0, facts=RESTARTED), framework="pytorch"))
    plain = found_in(without_facts(in_epochs(2.0), "framework"))

    assert torch is not None
    assert plain is not None
    assert (
        torch.finding.recommendations[0].code
        == "DataLoader(dataset, num_workers=4, persistent_workers=True)"
    )
    assert "Pool" in plain.finding.recommendations[0].code


def test_one_boundary_is_no_habit():
    rows = steps_in_epochs([100, 100], gap=5.0)

    assert found_in(stage(step_rows=rows, facts=RESTARTED)) is None


@pytest.mark.parametrize(("facts", "bound"), [(RESTARTED, 58 / 49.2), ({}, 58 / 50.8)])
def test_savings_include_slow_steps_at_the_ends_of_epochs(facts, bound):
    rows = steps_in_epochs([100] * 5, gap=2.0)
    seconds = rows.columns["step_seconds"].copy()
    for row in (100, 200, 300, 400):
        seconds[row - 1 : row + 1] += 0.2
    rows = replace(rows, columns={**rows.columns, "step_seconds": seconds})
    measured = in_epochs(2.0, facts=facts)

    found = found_in(replace(measured, steps=rows))

    assert found.finding.gain.bound == pytest.approx(bound, rel=0.005)
