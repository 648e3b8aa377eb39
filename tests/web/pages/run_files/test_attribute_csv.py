"""Attributes as a table that scripts read."""

import csv
from dataclasses import replace
from datetime import UTC, datetime

from tracker.queries.run.attributes import AttributeRow
from web.csv_answer import written
from web.pages.run_files.attribute_csv import csv_rows

NOW = datetime(2026, 1, 2, 3, tzinfo=UTC)
VALUE = AttributeRow(
    path="note",
    kind="string",
    value='two\n"lines", and more',
    count=0,
    minimum=None,
    maximum=None,
    mean=None,
    first_step=None,
    last_step=None,
    updated_at=NOW,
)
SERIES = replace(
    VALUE,
    path="loss",
    kind="float_series",
    value=0.1,
    count=3,
    minimum=0.1,
    last_step=2,
)


def test_each_attribute_is_a_line_that_reads_back():
    text = b"".join(written(csv_rows([VALUE, SERIES]))).decode()

    note, loss = csv.DictReader(text.splitlines(keepends=True))

    assert note["value"] == VALUE.value
    assert (note["count"], note["minimum"]) == ("", "")
    assert (loss["value"], loss["count"], loss["minimum"]) == ("0.1", "3", "0.1")
    assert loss["updated_at"] == "2026-01-02T03:00:00+00:00"
