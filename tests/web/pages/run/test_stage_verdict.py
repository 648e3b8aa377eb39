"""Verdicts on a stage without certain findings."""

from dataclasses import replace

import pytest

from tests.diagnoses import diagnosis, finding
from tracker.diagnosis.breakdown.categories import Ledger, Use
from tracker.diagnosis.engine.finding import NO_EARLIER_RUN, NO_GPU, TOO_SHORT
from tracker.diagnosis.engine.judgement import Label
from tracker.queries.diagnoses.diagnoses import Lack, RuleElsewhere, UnansweredRule
from web.pages.run.stage_sections import StageSection, why_cleared
from web.pages.run.stage_verdict import verdict_of
from web.pages.run.unanswered_rules import (
    by_what_is_missing,
    group_by_missing_data,
    of_gpus,
)

LOADER, PHASE = "for batch in run.loader(loader):", 'with run.phase("forward"):'
STEP = Lack("step_seconds", "Wall time of one step.", LOADER)
WAIT = Lack("data_wait_seconds", "Waiting for the batch.", LOADER)
PHASES = Lack("phase_seconds", "Time in each phase.", PHASE)
SHORT = Lack("", TOO_SHORT, "")


def lacking(name, *lacks):
    return UnansweredRule(name, name, list(lacks))


def ledger(**seconds):
    return Ledger(0, {use: seconds.get(use.value, 0.0) for use in Use})


def test_rules_are_grouped_by_the_lines_that_would_answer_them():
    rules = [
        lacking("short", SHORT),
        lacking("waits", STEP, WAIT),
        lacking("slow", STEP),
        lacking("logs", STEP, PHASES),
        lacking("brief", SHORT),
        lacking("late", STEP),
    ]

    groups = group_by_missing_data(rules)

    assert [(g.codes, [rule.name for rule in g.rules]) for g in groups] == [
        ((LOADER,), ["waits", "slow", "late"]),
        ((), ["short", "brief"]),
        ((LOADER, PHASE), ["logs"]),
    ]
    assert [group.needs for group in groups[:2]] == ["wall time of one step", TOO_SHORT]


def test_a_group_without_code_has_advice():
    short = Lack("", TOO_SHORT, "", "Let it run.")

    groups = group_by_missing_data([lacking("idle", short), lacking("waits", STEP)])

    assert [(g.codes, g.advice) for g in groups] == [
        ((), "Let it run."),
        ((LOADER,), ""),
    ]


@pytest.mark.parametrize(
    ("healthy", "unanswered", "is_well"),
    [(2, 28, False), (3, 5, False), (23, 6, True), (1, 0, True)],
)
def test_silence_of_few_is_not_called_well(healthy, unanswered, is_well):
    found = diagnosis(
        healthy=tuple(f"h{n}" for n in range(healthy)),
        unanswered=tuple(f"u{n}" for n in range(unanswered)),
    )

    verdict = verdict_of(found)

    assert (verdict.is_well, verdict.asked) == (is_well, healthy + unanswered)


def test_why_little_is_known_names_the_commonest_reasons():
    found = replace(
        diagnosis(healthy=("a",)),
        unanswered=[
            lacking("logs", PHASES),
            lacking("short", SHORT),
            lacking("brief", SHORT),
            *(lacking(f"{n}", STEP) for n in range(3)),
        ],
    )

    reasons = verdict_of(found).reasons

    assert [(len(r.rules), r.needs) for r in reasons] == [
        (3, "wall time of one step"),
        (2, TOO_SHORT),
    ]


@pytest.mark.parametrize(
    ("seconds", "label"),
    [
        pytest.param(
            ledger(computing=86, initialization=14), "initialization", id="large"
        ),
        pytest.param(ledger(computing=95, initialization=5), None, id="small"),
        pytest.param(ledger(computing=50, unknown=50), None, id="not measured"),
        pytest.param(ledger(), None, id="nothing"),
        pytest.param(None, None, id="no ledger yet"),
    ],
)
def test_the_largest_loss_is_named_where_it_is_notable(seconds, label):
    loss = verdict_of(replace(diagnosis(healthy=("a",)), ledger=seconds)).loss

    assert (loss.label if loss else None) == label


def test_a_stage_with_a_sure_fault_has_no_verdict_of_silence():
    sure = diagnosis(finding("slow", label=Label.LIKELY), healthy=("a",))

    assert StageSection(None, sure).verdict is None
    assert StageSection(None, diagnosis()).verdict is None


def test_weak_evidence_or_a_large_loss_in_steps_leaves_the_verdict_in_doubt():
    well = diagnosis(healthy=("a", "b", "c"))
    weak = replace(well, findings=[finding("slow", label=Label.POSSIBLE)])
    idle = replace(well, ledger=ledger(computing=60.0, idle_in_steps=40.0))
    start = replace(well, ledger=ledger(computing=60.0, initialization=40.0))

    doubts = [StageSection(None, d).is_in_doubt for d in (well, weak, idle, start)]
    assert doubts == [False, True, True, False]


def test_only_what_lacks_nothing_but_a_gpu_needs_one():
    rules = [
        RuleElsewhere("heat", "Heat", NO_GPU),
        RuleElsewhere("worse", "Worse", NO_EARLIER_RUN),
    ]

    assert of_gpus(rules) == rules[:1]
    assert [g.needs for g in by_what_is_missing(rules)] == [NO_GPU, NO_EARLIER_RUN]


def test_a_cleared_finding_says_what_was_answered_since():
    gone = finding("slow", is_open=False)
    healthy = diagnosis(healthy=("slow",))
    asked = replace(diagnosis(), unanswered=[lacking("slow", SHORT)])

    assert "of the whole stage" in why_cleared(gone, healthy)
    assert "latest check" in why_cleared(gone, replace(healthy, is_final=False))
    assert TOO_SHORT in why_cleared(gone, asked)
    assert "elsewhere" in why_cleared(gone, diagnosis(finding("slow", scope="gpu/1")))
    assert "no result" in why_cleared(gone, diagnosis())


def test_healthy_rules_that_had_cleared_are_told_once():
    found = diagnosis(healthy=("slow", "well"))
    section = StageSection(None, replace(found, cleared=[finding("slow")]))

    assert [rule.name for rule in section.healthy] == ["well"]


def test_the_main_finding_is_open_beside_certain_ones_although_it_is_only_possible():
    main = replace(finding("slow", label=Label.POSSIBLE), is_primary=True)
    other = finding("late", label=Label.POSSIBLE)
    sure = finding("cold", label=Label.LIKELY)

    beside = StageSection(None, diagnosis(main, other, sure))
    alone = StageSection(None, diagnosis(main, other))

    assert [f.rule for f in beside.sure] == ["slow", "cold"]
    assert [f.rule for f in beside.possible] == ["late"]
    assert [f.rule for f in alone.possible] == ["slow", "late"]
