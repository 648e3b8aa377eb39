"""Diagnoses of several runs side by side."""

from __future__ import annotations

from tests.diagnoses import diagnosis, finding
from tracker.diagnosis.engine.finding import Evidence
from tracker.queries.compare.findings import (
    Answer,
    Became,
    compare_findings,
    count_changes,
)


def test_a_row_for_each_rule_that_found_something_in_any_run():
    rows = compare_findings(
        [
            [diagnosis(finding("slow"), healthy=("hot",))],
            [diagnosis(healthy=("slow",))],
        ],
        reference=0,
    )

    (row,) = rows
    assert (row.rule, row.stage, row.title) == ("slow", "train", "Slow")
    assert [cell.answer for cell in row.cells] == [Answer.FINDING, Answer.HEALTHY]
    assert row.cells[0].finding is not None


def test_marks_what_only_one_of_the_run_and_the_reference_has():
    having, well = [diagnosis(finding("slow"))], [diagnosis(healthy=("slow",))]

    (row,) = compare_findings([having, well, having], reference=1)

    assert [cell.differs for cell in row.cells] == [True, False, True]


def test_a_rule_that_could_not_judge_differs_from_nothing():
    having, unsure = [diagnosis(finding("slow"))], [diagnosis(unanswered=("slow",))]

    (row,) = compare_findings([having, unsure, []], reference=0)

    assert [cell.answer for cell in row.cells] == [
        Answer.FINDING,
        Answer.UNANSWERED,
        Answer.NOT_ASKED,
    ]
    assert not any(cell.differs for cell in row.cells)


def test_main_findings_come_first_then_the_surest():
    rows = compare_findings(
        [
            [
                diagnosis(
                    finding("unsure", confidence=0.4),
                    finding("main", is_primary=True, confidence=0.5),
                    finding("sure", confidence=0.9),
                )
            ]
        ],
        reference=0,
    )

    assert [row.rule for row in rows] == ["main", "sure", "unsure"]


def test_symptoms_are_compared_too_and_what_they_explain():
    symptom = finding("symptom", symptoms=[finding("deeper")])
    cause = finding("cause", symptoms=[symptom])

    rows = compare_findings([[diagnosis(cause)], []], reference=0)

    assert {row.rule for row in rows} == {"cause", "symptom", "deeper"}


def test_the_worst_finding_of_a_rule_is_what_it_says():
    found = [finding("hot", scope=f"gpu/{gpu}") for gpu in range(2)]

    (row,) = compare_findings([[diagnosis(*found)]], reference=0)

    assert row.cells[0].finding == found[0]


def test_no_findings_are_no_rows():
    assert compare_findings([[diagnosis(healthy=("slow",))], []], reference=0) == []


def waiting(value, limit=0.1):
    evidence = (
        Evidence("loader_workers", "as the loader says", 0.0, "processes"),
        Evidence("job_cpu_cores", "median", 1.0, "cores", 1.7),
        Evidence("data_wait_seconds", "share of step time", value, "share", limit),
    )
    return [diagnosis(finding("waits", evidence=evidence))]


def test_a_finding_that_is_still_there_says_whether_it_is_as_large():
    values = (0.65, 0.28, 0.71, 0.6502)

    (row,) = rows = compare_findings([waiting(value) for value in values], reference=0)

    assert [cell.became for cell in row.cells] == [
        Became.UNKNOWN,
        Became.SMALLER,
        Became.LARGER,
        Became.SAME,
    ]
    assert [cell.measured.value for cell in row.cells] == list(values)
    assert count_changes(rows, 1)[Became.SMALLER] == 1


def test_below_a_limit_the_lower_value_is_the_larger_fault():
    found = [waiting(value, limit=0.5) for value in (0.3, 0.4, 0.1)]

    (row,) = compare_findings(found, reference=0)

    assert [cell.became for cell in row.cells][1:] == [Became.SMALLER, Became.LARGER]


def test_findings_that_share_no_measure_are_the_same():
    having = [diagnosis(finding("waits"))]

    (row,) = compare_findings([waiting(0.65), having], reference=0)

    assert (row.cells[1].became, row.cells[1].measured) == (Became.SAME, None)


def test_leaving_a_good_state_is_a_loss_and_reaching_it_is_none():
    good, other = (
        [diagnosis(finding("gpu-is-the-limit"))],
        [diagnosis(healthy=("gpu-is-the-limit",))],
    )

    for reference, became in ((0, Became.LOST), (1, Became.REACHED)):
        (row,) = compare_findings([good, other], reference=reference)
        assert row.cells[1 - reference].became == became
        counts = count_changes([row], 1 - reference)
        assert (counts[Became.FIXED], counts[Became.NEW]) == (0, 0)
