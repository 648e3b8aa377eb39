"""Tables that spreadsheets and scripts read."""

import csv
import io
import math
from datetime import UTC, datetime

import pytest

from web.csv_answer import CUT_SHORT, written


def read(rows):
    text = b"".join(written(rows)).decode()
    # Open as a CSV file: keep line breaks within a cell.
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "\r\n"])
def test_no_text_is_a_formula(start):
    assert read([[f"{start}1", [f"{start}1", "a"]]]) == [
        [f"'{start}1", f"'{start}1, a"]
    ]


def test_what_is_no_text_keeps_its_face():
    moment = datetime(2026, 1, 2, 3, tzinfo=UTC)

    assert read([[-1.5, -2, math.nan, True, None, moment]]) == [
        ["-1.5", "-2", "nan", "true", "", "2026-01-02T03:00:00+00:00"]
    ]


def test_one_that_was_cut_short_says_so():
    def rows():
        yield ["name"]
        yield ["a"]
        raise ConnectionError

    assert read(rows()) == [["name"], ["a"], [CUT_SHORT]]
