from __future__ import annotations

from dataclasses import replace

from tracker.diagnosis.engine.causes import arrange
from tracker.diagnosis.engine.finding import Finding, Gain, Severity
from tracker.diagnosis.engine.judgement import Judgement
from tracker.diagnosis.engine.measurements import Window


def judgement(
    rule: str,
    *explains: str,
    likely: float = 1.0,
    lost: float = 0.0,
    confidence: float = 0.8,
    scope: str = "",
    severity: Severity = Severity.WARNING,
    has_ended: bool = False,
) -> Judgement:
    finding = Finding(
        summary="",
        severity=severity,
        evidence=(),
        recommendations=(),
        disproof="",
        explains=explains,
        gain=Gain(likely, likely, "") if likely > 1 else None,
        lost_share=lost,
        spoils_the_run=has_ended,
    )
    return Judgement(rule, rule, scope, finding, Window(0, 1), 1.0, confidence)


def outline(judgements) -> list[tuple[str, str]]:
    return [(found.rule, found.explained_by) for found in arrange(judgements)]


def test_symptoms_hang_under_their_nearest_cause():
    found = [judgement("a"), judgement("b", "a"), judgement("c", "a", "b")]

    assert outline(found) == [("c", ""), ("b", "c"), ("a", "b")]


def test_a_deep_cause_explains_when_the_middle_is_missing():
    assert outline([judgement("a"), judgement("c", "a", "b")]) == [
        ("c", ""),
        ("a", "c"),
    ]


def test_a_finding_about_steps_counts_for_the_time_in_steps():
    steps = replace(judgement("steps", likely=2.0), time_share=0.3)
    epochs = judgement("epochs", likely=1.3)

    assert [found.rule for found in arrange([steps, epochs])] == ["epochs", "steps"]
    assert arrange([replace(steps, time_share=1.0), epochs])[0].rule == "steps"


def test_the_order_of_asking_does_not_matter():
    found = [judgement("c", "a", "b"), judgement("a"), judgement("b", "a")]

    assert outline(found) == outline(found[::-1])


def test_the_primary_cause_saves_the_most_time():
    found = [judgement("small", likely=1.1), judgement("large", likely=2.0)]

    first, second = arrange(found)

    assert (first.rule, first.is_primary) == ("large", True)
    assert not second.is_primary


def test_a_finding_that_ended_the_run_comes_before_a_slowdown():
    found = [judgement("slow", likely=3.0), judgement("ended", has_ended=True)]

    assert [each.rule for each in arrange(found)] == ["ended", "slow"]


def test_confidence_counts_as_much_as_gain():
    found = [
        judgement("sure", likely=1.5, confidence=0.9),
        judgement("guess", likely=1.6, confidence=0.3),
    ]

    assert arrange(found)[0].rule == "sure"


def test_severity_decides_between_findings_without_gain():
    found = [judgement("a"), judgement("b", severity=Severity.CRITICAL)]

    assert arrange(found)[0].rule == "b"


def test_a_symptom_is_never_primary_however_much_it_costs():
    found = [judgement("symptom", likely=9.0), judgement("cause", "symptom")]

    assert arrange(found)[0].rule == "cause"


def test_a_gpu_explains_no_other_gpu():
    found = [
        judgement("cause", "symptom", scope="gpu/0"),
        judgement("symptom", scope="gpu/0"),
        judgement("symptom", scope="gpu/1"),
    ]

    arranged = {(f.rule, f.scope): f.explained_by for f in arrange(found)}

    assert arranged["symptom", "gpu/0"] == "cause"
    assert arranged["symptom", "gpu/1"] == ""


def test_symptoms_of_every_gpu_hang_under_a_cause_of_the_stage():
    found = [
        judgement("cause", "symptom"),
        judgement("symptom", scope="gpu/0"),
        judgement("symptom", scope="gpu/1"),
    ]

    assert [rule for rule, _ in outline(found)] == ["cause", "symptom", "symptom"]


def test_a_symptom_of_several_gpus_appears_once():
    found = [
        judgement("cause", "symptom", scope="gpu/0"),
        judgement("cause", "symptom", scope="gpu/1"),
        judgement("symptom"),
    ]

    assert [rule for rule, _ in outline(found)] == ["cause", "symptom", "cause"]


def test_rules_that_explain_each_other_do_not_vanish():
    found = [judgement("a", "b"), judgement("b", "a")]

    assert sorted(rule for rule, _ in outline(found)) == ["a", "b"]


def test_a_ring_of_three_does_not_vanish():
    found = [judgement("a", "b"), judgement("b", "c"), judgement("c", "a")]

    assert sorted(rule for rule, _ in outline(found)) == ["a", "b", "c"]


def test_nothing_found_is_nothing_to_arrange():
    assert arrange([]) == []


def test_lost_time_counts_without_a_promised_gain():
    first, _ = arrange([judgement("small", likely=1.1), judgement("lost", lost=0.6)])

    assert first.rule == "lost"


def test_a_large_loss_is_not_folded_under_a_small_cause():
    """A cause of 2 % of the time does not explain a loss of 53 %."""
    found = [judgement("small", "large", likely=1.02), judgement("large", likely=1.4)]

    assert outline(found) == [("large", ""), ("small", "")]


def test_a_cause_of_unknown_size_explains_as_before():
    found = [judgement("cause", "large"), judgement("large", likely=1.4)]

    assert outline(found) == [("cause", ""), ("large", "cause")]
