"""What is counted of tests, and when a promise is shown."""

from __future__ import annotations

from collections import Counter

from hypothesis.statistics import describe_statistics

from benchmarks.promises.__main__ import Outcome, row_of
from benchmarks.promises.cases import SQLITE, Case
from benchmarks.promises.counting import examples_in

CASE = Case("numbers", ["tests/a.py"], examples=5, counted="numbers", in_full="9")


def row(case=CASE, *, tried=7, failed=0, skipped=0, ended_well=True):
    tests = Counter(passed=2, failed=failed, skipped=skipped)
    outcome = Outcome(
        tests, Counter(numbers=tried), [], seconds=1.0, ended_well=ended_well
    )
    return row_of("BI-99", case, SQLITE, outcome, 5)


def test_examples_are_counted_as_hypothesis_says_them():
    cases = [
        {"status": status, "runtime": 0.0, "drawtime": 0.0, "events": []}
        for status in ("valid", "valid", "interesting", "invalid", "overrun")
    ]
    phase = {"test-cases": cases, "duration-seconds": 1.0, "distinct-failures": 0}
    said = describe_statistics(
        {"generate-phase": phase, "reuse-phase": phase, "stopped-because": "enough"}
    )

    assert examples_in(said) == 6
    assert examples_in("") == 0


def test_a_promise_holds_if_something_was_tried_and_nothing_failed():
    found = row()

    assert found.holds is True
    assert "7 numbers" in found.figures
    assert found.run == "numbers: 2 tests, 5 examples of each; in full 9"


def test_a_promise_does_not_hold_if_a_test_failed_was_skipped_or_tried_nothing():
    assert row(failed=1).holds is False
    assert row(skipped=1).holds is False
    assert row(tried=0).holds is False
    assert row(ended_well=False).holds is False


def test_tests_that_have_a_list_of_their_own_count_as_tests():
    found = row(Case("lengths", ["tests/a.py"]), tried=0)

    assert found.holds is True
    assert found.run == "lengths: 2 tests"
