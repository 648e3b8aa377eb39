"""What is said of cases that fail things: the row, and what passes."""

from __future__ import annotations

from benchmarks.faults import kills
from benchmarks.faults.__main__ import CASES, NUMBERS
from benchmarks.faults.case import SQLITE, Case, Result, Size
from benchmarks.faults.history import Verdict
from benchmarks.faults.report import HEADINGS, head, row
from benchmarks.faults.traffic import Judged


def nothing(_size, _database):
    raise AssertionError("no case is run here")


CASE = Case(
    "the first case", nothing, (SQLITE,), 5, number="SF-99", in_full="500 rounds"
)


def cells(lost, tmp_path, threshold=0):
    result = Result({"sent": 7, "lost": lost}, {"lost": threshold})
    text = row("one", CASE, SQLITE, Size(tmp_path, 5), result, seconds=2.4)
    found = [cell.strip() for cell in text.strip("|").split("|")]
    return dict(zip(HEADINGS, found, strict=True))


def test_a_row_has_a_cell_for_each_heading(tmp_path):
    said = cells(0, tmp_path)

    assert said["case"] == "SF-99 one"
    assert (said["amount"], said["in full"]) == ("5 rounds, 4 clients", "500 rounds")
    assert (said["what was done"], said["what was found"]) == ("sent 7", "lost 0")
    assert (said["seconds"], said["holds"]) == ("2", "yes")
    assert {line.count("|") for line in head().splitlines()} == {len(HEADINGS) + 1}


def test_what_is_not_as_it_must_be_stands_out(tmp_path):
    said = cells(3, tmp_path)

    assert said["what was found"] == "**lost 3, not 0**"
    assert said["holds"] == "**no**"


def test_a_case_is_called_by_its_number_too():
    assert NUMBERS["SF-01"] == "web-killed"
    assert len(NUMBERS) == sum(bool(case.number) for case in CASES.values())


def test_an_answer_that_says_internal_error_does_not_pass():
    verdict = Verdict(**dict.fromkeys(Verdict.__dataclass_fields__, 0))
    figures = {"summed_wrongly": 0, "answers_500": 0}

    assert kills.result(Judged(verdict, figures)).passed
    assert not kills.result(Judged(verdict, {**figures, "answers_500": 1})).passed
