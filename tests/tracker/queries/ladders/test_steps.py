"""The changes of one run of a ladder against the previous one."""

from __future__ import annotations

import pytest

from tests.diagnoses import NOW, diagnosis, finding
from tracker.diagnosis.breakdown.step import StepBreakdown
from tracker.diagnosis.engine.measurements import Window
from tracker.queries.ladders.finding_changes import finding_changes
from tracker.queries.ladders.steps import (
    BOTH_MUST_COUNT,
    LONGEST_LABEL,
    ValueChange,
    changed_machine,
    changed_values,
    guess_quality,
    guess_stage,
    rung_labels,
    why_no_change,
)
from tracker.queries.ladders.verdicts import NOT_ENOUGH_STEPS
from tracker.queries.run.attributes import AttributeRow


def row(value: object, kind: str = "integer") -> AttributeRow:
    return AttributeRow("", kind, value, 0, None, None, None, None, None, NOW)


def breakdown(examples_per_step: float | None) -> StepBreakdown:
    return StepBreakdown(
        window=Window(0, 1),
        step_count=20,
        is_steady=True,
        median_step_seconds=0.1,
        mean_step_seconds=0.1,
        parts=(),
        steps_per_second=10.0,
        examples_per_step=examples_per_step,
        blocks=(),
        cpu_cores=None,
        cpu_percent=None,
        gpu_percent=None,
    )


def rules(findings) -> list[str]:
    return [found.rule for found in findings]


def test_rungs_are_called_by_what_was_changed():
    rungs = [("", "run-1"), ("decoded ahead\nand stored", "run-2")]

    assert rung_labels(rungs) == ["run-1", "decoded ahead"]


@pytest.mark.parametrize("note", ["", "x" * (LONGEST_LABEL + 1)])
def test_one_note_that_is_no_label_leaves_all_rungs_their_runs_names(note):
    rungs = [("the start", "a"), ("decoded ahead", "b"), (note, "c")]

    assert rung_labels(rungs) == ["a", "b", "c"]


def test_names_the_values_that_differ_come_or_go():
    before = {"params/lr": row(1), "params/old": row(2), "params/same": row(3)}
    after = {"params/lr": row(2), "params/new": row(4), "params/same": row(3)}

    assert changed_values(before, after) == (
        ValueChange("params/lr", 1, 2),
        ValueChange("params/new", None, 4),
        ValueChange("params/old", 2, None),
    )


def test_a_fact_that_is_not_known_of_both_is_no_other_machine():
    assert changed_machine({"facts/host": row("a")}, {}) == ()
    assert changed_machine({"facts/host": row("a")}, {"facts/host": row("b")}) == (
        ValueChange("facts/host", "a", "b"),
    )


def test_findings_go_come_and_stay():
    before = diagnosis(finding("slow"), finding("stays"), healthy=("late",))
    after = diagnosis(finding("stays"), finding("late"), healthy=("slow",))

    changes = finding_changes([before], [after])

    assert rules(changes.gone) == ["slow"]
    assert rules(changes.new) == ["late"]
    assert rules(changes.kept) == ["stays"]
    assert changes.found == changes.unjudged == ()


def test_a_rule_that_could_not_judge_makes_nothing_gone_and_nothing_new():
    before = diagnosis(finding("slow"), unanswered=("late",))
    after = diagnosis(finding("late"), unanswered=("slow",))

    changes = finding_changes([before], [after])

    assert changes.gone == changes.new == ()
    assert rules(changes.unjudged) == ["slow"]
    assert rules(changes.found) == ["late"]


def test_the_same_rule_in_another_stage_is_another_finding():
    before = diagnosis(finding("slow"), stage="train", healthy=())
    after = diagnosis(finding("slow"), stage="infer")

    changes = finding_changes([before], [after])

    assert rules(changes.found) == ["slow"]
    assert rules(changes.unjudged) == ["slow"]


def test_symptoms_count_as_findings():
    symptom = finding("symptom", symptoms=[finding("deeper")])
    before = diagnosis(finding("cause", symptoms=[symptom]))
    after = diagnosis(healthy=("cause", "symptom", "deeper"))

    gone = finding_changes([before], [after]).gone

    assert rules(gone) == ["cause", "symptom", "deeper"]


def test_a_finding_that_another_one_explains_now_is_kept():
    before = diagnosis(finding("symptom", symptoms=[finding("idle")]))
    chain = finding("cause", symptoms=[finding("symptom", symptoms=[finding("idle")])])

    changes = finding_changes([before], [diagnosis(chain)])

    assert rules(changes.kept) == ["symptom", "idle"]
    assert changes.unjudged == ()


def test_the_baseline_has_findings_but_no_new_ones():
    changes = finding_changes(None, [diagnosis(finding("slow"))])

    assert rules(changes.found) == ["slow"]
    assert changes.new == changes.kept == ()


def test_says_why_there_is_no_verdict():
    assert why_no_change(None, breakdown(16)) == NOT_ENOUGH_STEPS
    assert why_no_change(breakdown(16), breakdown(16)) == NOT_ENOUGH_STEPS
    assert why_no_change(breakdown(16), breakdown(None)) == BOTH_MUST_COUNT


@pytest.mark.parametrize(
    ("paths", "guess"),
    [
        pytest.param(
            {"train/loss": 4, "train/accuracy": 4}, "train/accuracy", id="accuracy"
        ),
        pytest.param(
            {"train/accuracy": 4, "val/accuracy": 2}, "val/accuracy", id="held out"
        ),
        pytest.param(
            {"train/accuracy": 4, "train/accuracy_on_test": 4},
            "train/accuracy_on_test",
            id="as a part of the name",
        ),
        pytest.param({"a/loss": 1, "b/loss": 4}, "b/loss", id="most runs have it"),
        pytest.param({"train/examples": 4, "closs": 2}, None, id="nothing like it"),
        pytest.param({}, None, id="nothing at all"),
    ],
)
def test_guesses_what_measures_quality(paths, guess):
    assert guess_quality(paths) == guess


@pytest.mark.parametrize(
    ("stages", "guess"),
    [
        ({"infer": 4, "Training": 2}, "Training"),
        ({"infer": 2, "main": 4}, "main"),
        ({}, None),
    ],
)
def test_compares_the_stage_that_trains(stages, guess):
    assert guess_stage(stages) == guess
