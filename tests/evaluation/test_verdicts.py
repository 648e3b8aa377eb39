from dataclasses import replace

import pytest

from evaluation.jobs import Expects, Label
from evaluation.score import below_floor, scores, summary
from evaluation.verdicts import Found, Replayed, Share, Verdict, verdict_of

CAUSE, OTHER, TRUE = "too-few-loader-workers", "steps-become-slower", "data-wait"
FAULT = Label(Expects.FAULT, frozenset({CAUSE}), frozenset({TRUE}))
HEALTHY = Label(Expects.HEALTHY)
SHORT = Label(Expects.NOT_ENOUGH_DATA)
NEIGHBORS = "others-use-the-same-hardware"


def found(rule, *, main=False, shown=True):
    return Found(rule, "train", 0.6, main, shown, "")


def replayed(label, *some, says_well=False, foreign=0.0):
    return Replayed("job", "alone", label, "", some, (), says_well, foreign, 2.0)


@pytest.mark.parametrize(
    ("some", "verdict"),
    [
        ([found(CAUSE, main=True), found(OTHER)], Verdict.RIGHT),
        ([found(TRUE, main=True), found(CAUSE)], Verdict.PARTLY),
        ([found(OTHER, main=True), found(CAUSE)], Verdict.WRONG),
        ([found(OTHER, main=True, shown=False)], Verdict.WRONG),
        ([found(TRUE, main=True)], Verdict.NOT_ENOUGH_DATA),
        ([], Verdict.NOT_ENOUGH_DATA),
    ],
)
def test_the_main_finding_decides_about_a_fault(some, verdict):
    assert verdict_of(replayed(FAULT, *some)) is verdict


def test_a_healthy_job_is_accused_by_any_finding_that_is_shown():
    assert verdict_of(replayed(HEALTHY)) is Verdict.RIGHT
    assert verdict_of(replayed(HEALTHY, found(OTHER))) is Verdict.WRONG
    assert verdict_of(replayed(HEALTHY, found(OTHER, shown=False))) is Verdict.RIGHT
    main = found(OTHER, main=True, shown=False)
    assert verdict_of(replayed(HEALTHY, main)) is Verdict.WRONG


def test_a_job_that_is_too_short_is_not_called_well():
    assert verdict_of(replayed(SHORT)) is Verdict.RIGHT
    assert verdict_of(replayed(SHORT, says_well=True)) is Verdict.WRONG


def test_that_others_use_the_machine_is_true_where_they_do():
    quiet = replayed(HEALTHY, found(NEIGHBORS, main=True), foreign=0.5)
    assert verdict_of(quiet) is Verdict.WRONG
    assert verdict_of(replace(quiet, foreign_cores=0.7)) is Verdict.RIGHT


def test_the_summary_separates_jobs_next_to_neighbors():
    accused = replace(replayed(HEALTHY, found(OTHER)), mode="neighbors")
    right = replayed(FAULT, found(CAUSE, main=True))
    made_up = replace(right, mode="synthetic")

    text = summary(
        {
            "tune": [accused, made_up],
            "tune/long": [],
            "test": [right, replayed(HEALTHY)],
            "test/long": [right],
        }
    )

    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines()]
    cells = {row[1]: row[2:9] for row in rows}
    assert cells["recordings"] == ["1", "0", "0", "1", "2", "1", "0"]
    one, nothing = "1 of 1", "–"
    assert [cell[:6] for cell in cells["fault found"]] == [
        *(nothing, nothing, nothing, one, one, one, nothing)
    ]
    alone = cells["healthy job accused, no neighbors"]
    beside = cells["healthy job accused, next to neighbors"]
    assert [cell[:6] for cell in alone] == [
        *(nothing, nothing, nothing, nothing, "0 of 1", nothing, nothing)
    ]
    assert [cell[:6] for cell in beside] == [one, *[nothing] * 6]


def test_intervals_are_those_of_wilson():
    low, high = Share(15, 26).interval()
    assert (round(low, 3), round(high, 3)) == (0.389, 0.745)
    assert str(Share(0, 0)) == "–"


def test_a_score_below_its_floor_is_named():
    some = [
        replayed(FAULT, found(CAUSE, main=True)),
        replayed(FAULT, found(OTHER, main=True)),
        replayed(HEALTHY, found(OTHER)),
    ]
    assert below_floor(some, {"alone": {"right": 1, "accused": 1}}) == []
    assert len(below_floor(some, {"alone": {"right": 2, "accused": 0}})) == 2


def test_the_table_counts_faults_and_healthy_jobs_apart():
    text = scores([replayed(FAULT, found(CAUSE, main=True)), replayed(HEALTHY)])
    assert "| faults: right | 1 of 1, 100 % (21–100 %) |" in text
    assert "| healthy jobs accused | 0 of 1, 0 % (0–79 %) |" in text
