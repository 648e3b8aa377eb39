from __future__ import annotations

import csv
import math
from io import StringIO

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tracker.series.tables import ArrowTable, CsvTable

COLUMNS = {"name": str, "step": float, "at": np.datetime64, "value": float}

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
times = arrays(np.int64, 3, elements=st.integers(0, 4 * 10**15))
floats = arrays(np.float64, 3)


def part(name, step, at, value):
    return {"name": name, "step": step, "at": at.view("<M8[us]"), "value": value}


def written(kind, parts):
    table = kind(COLUMNS)
    body = b"".join([table.add(part(*cells)) for cells in parts])
    return body + table.end(is_complete=True)


@given(st.lists(st.tuples(texts, floats, times, floats), max_size=3))
def test_arrow_gives_every_bit_back(parts):
    table = pa.ipc.open_stream(written(ArrowTable, parts)).read_all()

    assert table.column_names == list(COLUMNS)
    assert table["name"].to_pylist() == [p[0] for p in parts for _ in range(3)]
    for place, name in enumerate(COLUMNS):
        if place:
            expected = b"".join(cells[place].tobytes() for cells in parts)
            column = table[name].cast(pa.int64()) if name == "at" else table[name]
            assert column.to_numpy().tobytes() == expected


@given(st.lists(st.tuples(texts, floats, times, floats), max_size=3))
def test_csv_gives_every_number_back_and_runs_no_formula(parts):
    text = written(CsvTable, parts).decode()

    head, *rows = csv.reader(StringIO(text, newline=""))
    assert head == list(COLUMNS)
    assert len(rows) == 3 * len(parts)
    for number, (name, step, at, value) in enumerate(rows):
        cells = parts[number // 3]
        assert name in (cells[0], f"'{cells[0]}")
        assert not name.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
        for found, wanted in ((step, cells[1]), (value, cells[3])):
            expected = wanted[number % 3]
            assert float(found) == expected or math.isnan(expected)
        moment = np.datetime64(at.removesuffix("Z"), "us").astype(np.int64)
        assert moment == cells[2][number % 3]


def test_csv_names_what_a_spreadsheet_lacks():
    values = np.array([np.nan, np.inf, -np.inf, -0.0, 1e300])

    table = CsvTable({"value": float})

    assert table.add({"value": values}).decode().split() == [
        *("value", "NaN", "Infinity", "-Infinity", "-0.0", "1e+300")
    ]


def test_columns_that_are_views_into_others_are_written_as_they_are_seen():
    every_second = np.arange(20.0)[::2]
    table = ArrowTable({"value": float})

    body = table.add({"value": every_second}) + table.end(is_complete=True)

    found = pa.ipc.open_stream(body).read_all()["value"].to_pylist()
    assert found == every_second.tolist()


@pytest.mark.parametrize("kind", [CsvTable, ArrowTable])
def test_a_table_without_rows_still_has_its_columns(kind):
    body = written(kind, [])

    if kind is ArrowTable:
        assert pa.ipc.open_stream(body).schema.names == list(COLUMNS)
    else:
        assert body.decode().strip().split(",") == list(COLUMNS)


def test_incomplete_tables_are_refused_by_readers():
    table = ArrowTable({"value": float})
    body = table.add({"value": np.zeros(3)}) + table.end(is_complete=False)
    with pytest.raises(pa.ArrowInvalid):
        pa.ipc.open_stream(body).read_all()

    table = CsvTable({"value": float})
    table.add({"value": np.zeros(3)})
    with pytest.raises(ValueError, match="incomplete"):
        float(table.end(is_complete=False))


def test_moments_of_arrow_are_in_utc():
    moment = np.array([1_767_355_200_000_001] * 3)
    body = written(ArrowTable, [("a", np.zeros(3), moment, np.zeros(3))])

    found = pa.ipc.open_stream(body).read_all()["at"]

    assert str(found.type) == "timestamp[us, tz=UTC]"
