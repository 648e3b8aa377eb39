"""What is kept of cases that fail things: the page, and what passes."""

from __future__ import annotations

from benchmarks.faults import kills
from benchmarks.faults.case import POSTGRESQL, SQLITE, Case, Result, Size, line
from benchmarks.faults.history import Verdict
from benchmarks.faults.report import page
from benchmarks.faults.traffic import Judged


def nothing(_size, _database):
    raise AssertionError("no case is run here")


CASES = {
    "one": Case("the first case", nothing, (SQLITE, POSTGRESQL), 5),
    "two": Case("the second case", nothing, (SQLITE,), 5),
}


def result_of(name, database, lost, tmp_path):
    result = Result({"sent": 7, "lost": lost}, {"lost": 0})
    return line(name, database, Size(tmp_path, 5), result)


def rows(written):
    return [text for text in written.splitlines() if "case" in text and " 5 " in text]


def test_a_page_keeps_the_rows_of_cases_that_were_not_run_again(tmp_path):
    first = page(
        CASES,
        [
            result_of("one", SQLITE, 0, tmp_path),
            result_of("one", POSTGRESQL, 0, tmp_path),
            result_of("two", SQLITE, 0, tmp_path),
        ],
    )

    again = page(CASES, [result_of("one", POSTGRESQL, 3, tmp_path)], first)

    before, after = rows(first), rows(again)
    assert len(before) == 3
    assert (after[0], after[2]) == (before[0], before[2])
    assert "lost 3" in after[1]
    assert "**no**" in after[1]


def test_the_last_result_of_a_case_counts(tmp_path):
    results = [result_of("two", SQLITE, lost, tmp_path) for lost in (3, 0)]

    (row,) = rows(page(CASES, results))

    assert "| yes |" in row


def test_a_page_without_new_results_is_the_page_that_was_there(tmp_path):
    first = page(CASES, [result_of("two", SQLITE, 0, tmp_path)])

    assert page(CASES, [], first) == first


def test_an_answer_that_says_internal_error_does_not_pass():
    verdict = Verdict(**dict.fromkeys(Verdict.__dataclass_fields__, 0))
    figures = {"summed_wrongly": 0, "answers_500": 0}

    assert kills.result(Judged(verdict, figures)).passed
    assert not kills.result(Judged(verdict, {**figures, "answers_500": 1})).passed
