"""Verdicts on changes of throughput."""

from __future__ import annotations

import pytest

from tracker.queries.ladders.verdicts import (
    Change,
    Materiality,
    Verdict,
    climb,
    distinct,
)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param(
            Change(1.8, 1.7, 1.9), "1.8× faster (1.7–1.9)", id="one digit is enough"
        ),
        pytest.param(
            Change(1.08, 1.05, 1.11), "1.08× faster (1.05–1.11)", id="small gains"
        ),
        pytest.param(
            Change(4.201, 4.2, 4.202), "4.20× faster (4.20–4.20)", id="narrow interval"
        ),
        pytest.param(
            Change(0.5, 0.4, 0.625), "2.0× slower (1.6–2.5)", id="half as fast"
        ),
        pytest.param(
            Change(1.1, 0.95, 1.3),
            "no measurable change (0.95–1.30×)",
            id="interval holds 1",
        ),
        pytest.param(
            Change(1.02, 1.01, 1.03),
            "no measurable change (1.01–1.03×)",
            id="certain but tiny",
        ),
    ],
)
def test_a_change_says_what_it_amounts_to(change, sentence):
    assert change.sentence == sentence


@pytest.mark.parametrize(
    ("change", "materiality"),
    [
        (Change(1.081, 1.07, 1.09), Materiality.MATERIAL),
        (Change(1.079, 1.07, 1.09), Materiality.MODERATE),
        (Change(0.91, 0.9, 0.92), Materiality.MATERIAL),
        (Change(0.95, 0.94, 0.96), Materiality.MODERATE),
        (Change(1.029, 1.02, 1.03), Materiality.NONE),
        (Change(1.5, 0.9, 2.0), Materiality.NONE),
    ],
)
def test_a_change_is_material_moderate_or_none(change, materiality):
    assert change.materiality is materiality


def test_slower_needs_certainty_too():
    assert Change(0.9, 0.7, 1.05).verdict is Verdict.SAME
    assert Change(0.9, 0.8, 0.95).verdict is Verdict.SLOWER


def test_equal_numbers_get_the_most_digits():
    assert distinct(1.0, 1.0, 1.0) == ("1.00", "1.00", "1.00")


def test_a_climb_names_both_ends_and_the_biggest_step():
    summary = climb(
        [
            ("baseline", None, None),
            ("decoded ahead", Change(2.1, 2.0, 2.2), Change(2.1, 2.0, 2.2)),
            ("two workers", Change(1.5, 1.4, 1.6), Change(3.1, 3.0, 3.2)),
        ]
    )

    assert summary is not None
    assert summary.sentence == (
        "baseline → two workers: 3.1× faster;"
        " the biggest step was “decoded ahead” (2.1×)"
    )
    assert summary.did_most


def test_steps_whose_intervals_meet_are_named_together():
    summary = climb(
        [
            ("baseline", None, None),
            ("decoded ahead", Change(2.1, 2.0, 2.2), Change(2.1, 2.0, 2.2)),
            ("two workers", Change(1.3, 1.2, 1.4), Change(2.7, 2.6, 2.8)),
            ("larger batch", Change(2.0, 1.9, 2.1), Change(5.4, 5.2, 5.6)),
        ]
    )

    assert summary is not None
    assert summary.biggest_labels == ("decoded ahead", "larger batch")
    assert summary.sentence.endswith(
        "the biggest steps were “decoded ahead” and “larger batch”"
    )
    assert not summary.did_most


def test_the_biggest_of_many_may_be_less_than_half():
    step, whole = Change(1.5, 1.49, 1.51), Change(3.2, 3.1, 3.3)
    summary = climb(
        [
            ("baseline", None, None),
            ("one", step, step),
            ("two", Change(1.4, 1.39, 1.41), whole),
            ("three", Change(1.45, 1.44, 1.46), whole),
        ]
    )

    assert summary is not None
    assert [label for _, label in summary.biggest_steps] == ["one"]
    assert not summary.did_most


def test_a_climb_ends_at_the_last_rung_that_could_be_judged():
    summary = climb(
        [
            ("baseline", None, None),
            ("workers", Change(2.0, 1.9, 2.1), Change(2.0, 1.9, 2.1)),
            ("still starting", None, None),
        ]
    )

    assert summary is not None
    assert summary.to_label == "workers"


def test_a_climb_without_any_faster_step_praises_none():
    summary = climb(
        [
            ("baseline", None, None),
            ("larger batch", Change(0.5, 0.4, 0.6), Change(0.5, 0.4, 0.6)),
        ]
    )

    assert summary is not None
    assert summary.sentence == "baseline → larger batch: 2.0× slower"


@pytest.mark.parametrize(
    "rungs",
    [
        pytest.param([], id="no rungs"),
        pytest.param([("baseline", None, None)], id="the baseline alone"),
        pytest.param(
            [("baseline", None, None), ("workers", None, None)], id="nothing judged"
        ),
    ],
)
def test_nothing_measured_is_no_climb(rungs):
    assert climb(rungs) is None
