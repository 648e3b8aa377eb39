from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from benchmarks.diagnosis.faults import CASES, Case, find_case
from benchmarks.diagnosis.job import Job
from benchmarks.diagnosis.page import page
from benchmarks.diagnosis.verdicts import (
    Found,
    Replayed,
    Share,
    Verdict,
    score_rules,
    verdict_of,
)

FAULT = Case("slow", "something slow", "D3", ("D2",))
HEALTHY = Case("well", "nothing")
RULES = [("D1", "waits"), ("D2", "costly"), ("D3", "few")]
KNOWN = {"D1", "D2", "D3"}


def found(number, *, confidence=0.8, primary=False, explained_by=""):
    return Found(
        number, number.lower(), "train", confidence, primary, explained_by, "Said."
    )


def replayed(case, *findings, seed=1):
    return Replayed(case, seed, "2026-01-02 12:00", 0.1, 300, 20_000, findings)


@pytest.mark.parametrize(
    ("primary", "verdict"),
    [
        ("D3", Verdict.RIGHT),
        ("D2", Verdict.ALSO_RIGHT),
        ("D1", Verdict.WRONG),
        (None, Verdict.SILENT),
    ],
)
def test_the_primary_cause_is_judged(primary, verdict):
    findings = [found(primary, primary=True)] if primary else [found("D3")]

    assert verdict_of(replayed(FAULT, *findings), KNOWN) == verdict


def test_a_fault_without_a_rule_is_not_counted_as_wrong():
    one = replayed(FAULT, found("D1", primary=True))

    assert verdict_of(one, {"D1", "D2"}) == Verdict.NO_RULE


def test_symptoms_guesses_and_statements_are_no_alarms():
    quiet = replayed(
        HEALTHY,
        found("D1", explained_by="few"),
        found("D2", confidence=0.4),
        found("C11", confidence=1.0),
    )

    assert quiet.false_alarms == []
    assert replayed(HEALTHY, found("D1")).false_alarms


def test_an_interval_is_wilsons():
    low, high = Share(19, 20).interval()

    assert low == pytest.approx(0.764, abs=0.001)
    assert high == pytest.approx(0.991, abs=0.001)
    assert str(Share(0, 0)) == "–"
    assert str(Share(20, 20)).startswith("20 of 20, 100 % (84–100 %)")


def test_rules_have_precision_and_recall():
    some = [
        replayed(FAULT, found("D3", primary=True), found("D1", explained_by="few")),
        replayed(FAULT, found("D1", primary=True)),
        replayed(HEALTHY, found("D3", primary=True)),
    ]

    waits, few = score_rules(some, RULES)

    assert (waits.number, few.number) == ("D1", "D3")
    assert few.precision == Share(1, 2)
    assert few.recall == few.primary == Share(1, 2)
    assert waits.precision == Share(0, 1)
    assert waits.recall == Share(0, 0)


def test_the_page_names_what_was_wrong():
    usual = find_case("no-workers")
    text = page(
        [
            replayed(usual, found("D1", primary=True)),
            replayed(find_case("healthy-usual"), found("D3")),
        ],
        rules=RULES,
        today=date(2026, 1, 2),
    )

    assert "- no-workers 1: expected D3, got D1 `d1`, 0.80: Said." in text
    assert "| healthy jobs with an alarm | 1 of 1, 100 % (21–100 %) |" in text
    assert "2 January 2026" in text
    assert "tiny-batch" in text


def test_cases_have_names_of_their_own_and_say_what_they_are():
    assert len({case.name for case in CASES}) == len(CASES)
    assert all(case.injected for case in CASES)
    assert sum(case.is_healthy for case in CASES) >= 10
    assert sum(not case.is_healthy and not case.needs_gpu for case in CASES) >= 20


def test_seeds_change_sizes_and_not_the_fault():
    job = Job(workers=0, prepare_cpu=0.02, quota_cores=1.0)
    other = job.varied(2)

    assert job.varied(1) == job
    assert job.varied(2) == other != job
    assert (other.workers, other.quota_cores) == (0, 1.0)
    # All times alike, so that what limits the job stays what it was.
    assert other.prepare_cpu / other.device == pytest.approx(0.02 / job.device)


def test_a_rule_that_lacks_a_signal_is_not_wrong():
    one = replace(replayed(FAULT, found("D1", primary=True)), unanswered=("D3",))

    assert verdict_of(one, KNOWN) == Verdict.UNANSWERED


def test_that_others_use_the_machine_is_no_false_alarm_where_they_did():
    quiet = replayed(HEALTHY, found("H9"))

    assert quiet.false_alarms
    assert not replace(quiet, other_cores=1.2).false_alarms
    # As many of many cores are nobody's trouble.
    assert replace(quiet, other_cores=1.2, machine_cores=16.0).false_alarms
