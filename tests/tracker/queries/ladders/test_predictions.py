"""Predicted gains of findings, their outcomes, and the remaining gain."""

from __future__ import annotations

import pytest

from tests.diagnoses import diagnosis, finding
from tracker.diagnosis.engine.finding import Gain
from tracker.queries.ladders.finding_changes import finding_changes
from tracker.queries.ladders.predictions import (
    INPUT_RULE,
    Outcome,
    Prediction,
    left_gain,
    outcome_of,
    prediction_of,
)
from tracker.queries.ladders.verdicts import Change


def worth(rule: str, likely: float, **fields):
    return finding(rule, gain=Gain(2 * likely, likely, ""), **fields)


def test_predicts_by_the_finding_that_has_gone():
    before = [diagnosis(worth("slow", 1.2, is_primary=True), worth("other", 1.3))]
    after = [diagnosis(worth("slow", 1.2, is_primary=True), healthy=("other",))]

    found = prediction_of(before, "train", finding_changes(before, after))

    assert found == Prediction("other", "Other", 2.6, 1.3, is_fixed=True)


def test_a_side_effect_is_not_the_prediction_of_a_step():
    before = [diagnosis(worth("slow", 1.5, is_primary=True), worth("small", 1.2))]
    after = [diagnosis(worth("slow", 1.5, is_primary=True), healthy=("small",))]

    found = prediction_of(before, "train", finding_changes(before, after))

    assert found == Prediction("slow", "Slow", 3.0, 1.5, is_fixed=False)


def test_a_fixed_finding_counts_before_an_equal_open_one():
    before = [diagnosis(worth("slow", 1.5, is_primary=True), worth("same", 1.5))]
    after = [diagnosis(worth("slow", 1.5, is_primary=True), healthy=("same",))]

    found = prediction_of(before, "train", finding_changes(before, after))

    assert found is not None
    assert found.rule == "same"


def test_the_fixed_finding_with_the_largest_speedup_counts():
    symptom = worth("symptom", 1.1, symptoms=[worth("deeper", 1.6)])
    cause = worth("cause", 1.2, is_primary=True, symptoms=[symptom])
    before = [diagnosis(cause)]
    after = [diagnosis(healthy=("cause", "symptom", "deeper"))]

    found = prediction_of(before, "train", finding_changes(before, after))

    assert found is not None
    assert found.rule == "deeper"


def test_while_none_has_gone_the_primary_one_was_tried():
    before = [
        diagnosis(worth("elsewhere", 9.0, is_primary=True), stage="infer"),
        diagnosis(worth("other", 1.2), worth("slow", 1.5, is_primary=True)),
    ]
    kept = finding_changes(before, before)
    lost = finding_changes(before, [diagnosis(unanswered=("slow",))])

    assert prediction_of(before, "train", kept) == Prediction(
        "slow", "Slow", 3.0, 1.5, is_fixed=False
    )
    unknown = prediction_of(before, "train", lost)
    assert unknown is not None
    assert unknown.is_fixed is None


@pytest.mark.parametrize(
    "before",
    [
        pytest.param([], id="not diagnosed"),
        pytest.param([diagnosis()], id="no findings"),
        pytest.param([diagnosis(finding("slow"))], id="none is primary"),
        pytest.param(
            [diagnosis(finding("slow", is_primary=True, gain=None))], id="no gain"
        ),
        pytest.param(
            [diagnosis(worth("slow", 1.029, is_primary=True))],
            id="less than can be measured",
        ),
    ],
)
def test_predicts_nothing_without_a_gain(before):
    assert prediction_of(before, "train") is None


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        (Change(2.2, 2.1, 2.3), Outcome.BEYOND_BOUND),
        (Change(1.7, 1.6, 1.8), Outcome.AS_LIKELY),
        (Change(1.5, 1.4, 1.6), Outcome.UNCERTAIN),
        (Change(1.2, 1.1, 1.3), Outcome.LESS),
        (None, None),
    ],
)
def test_compares_by_the_interval(change, outcome):
    promised = Prediction("slow", "Slow", bound=2.0, likely=1.5)

    assert outcome_of(promised, change) is outcome
    assert outcome_of(None, change) is None


def test_a_promise_is_not_put_to_the_test_while_the_finding_is_there():
    kept = Prediction("slow", "Slow", bound=2.0, likely=1.5, is_fixed=False)

    assert outcome_of(kept, Change(2.2, 2.1, 2.3)) is Outcome.UNTRIED


def left(*findings, healthy=(INPUT_RULE,), **fields):
    return left_gain([diagnosis(*findings, healthy=healthy, **fields)], "train")


def test_adds_up_what_causes_promise():
    cause = worth("cause", 1.3, symptoms=[worth("symptom", 1.3)])

    found = left(cause, worth("other", 1.1))

    assert found is not None
    assert found.share == pytest.approx(0.4)
    assert found.titles == ("Cause", "Other")
    assert found.unanswered == 0
    assert not found.advises_stop


def test_the_remaining_wait_is_found_in_nested_symptoms():
    waiting = worth(INPUT_RULE, 1.3)
    cause = worth("cause", 1.3, symptoms=[worth("symptom", 1.3, symptoms=[waiting])])

    found = left(cause, healthy=())

    assert found is not None
    assert found.share == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("findings", "stops"),
    [
        pytest.param([], True, id="nothing found"),
        pytest.param([worth("small", 1.049)], True, id="just too little"),
        pytest.param([worth("small", 1.051)], False, id="just enough"),
        pytest.param([worth("a", 1.03), worth("b", 1.03)], False, id="together"),
        pytest.param([finding("unknown", gain=None)], False, id="unknown gain"),
        pytest.param(
            [finding("note", gain=None, severity="notice")], True, id="a notice"
        ),
    ],
)
def test_advises_to_stop_when_little_is_left(findings, stops):
    found = left(*findings)

    assert found is not None
    assert found.advises_stop is stops


def test_the_remaining_gain_counts_rules_without_enough_data():
    found = left(unanswered=("slow", "late"))

    assert found is not None
    assert found.unanswered == 2


def test_the_remaining_gain_is_unknown_without_judged_rules():
    assert left(healthy=()) is None
    assert left(stage="infer") is None
    assert left_gain([], "train") is None
