"""Tables of a series: rows of many libraries as JSON."""

from __future__ import annotations

import json
import math
from datetime import date

import numpy as np
import pytest
from PIL import Image

import agent
from seamark.recording.file_contents import to_content
from seamark.recording.media.tables import MAX_IMAGES, MAX_ROWS
from tests.agent.conftest import wait_until
from tests.agent.recording.media.test_media import records


def content(*arguments, **options):
    table = agent.Table(*arguments, **options)
    return to_content(table, fallback="t", name=None, media_type=None)


def stored(*arguments, **options):
    found = json.loads(content(*arguments, **options).data())
    return found["columns"], found["rows"]


def test_dictionaries_have_the_columns_of_all_of_them():
    rows = [{"id": 1, "label": "cat"}, {"id": 2, "score": 0.5}]

    assert stored(rows) == (
        ["id", "label", "score"],
        [[1, "cat", None], [2, None, 0.5]],
    )
    assert stored(rows, columns=["score", "id"]) == (
        ["score", "id"],
        [[None, 1], [0.5, 2]],
    )


def test_cells_are_plain_values():
    cells = [True, np.float32(0.5), np.int64(7), math.nan, -math.inf, "ä", None]

    columns = list("abcdefgh")
    _, [row] = stored([[*cells, date(2026, 1, 2)]], columns)

    assert row == [True, 0.5, 7, "NaN", "-Infinity", "ä", None, "2026-01-02"]


def test_rows_of_an_array():
    assert stored(np.array([[1, 2], [3, 4]]), ["a", "b"])[1] == [[1, 2], [3, 4]]


def test_data_frames_of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b b": ["x", "y"]})

    assert stored(frame) == (["a", "b b"], [[1, "x"], [2, "y"]])


def test_tables_of_pyarrow():
    pyarrow = pytest.importorskip("pyarrow")

    assert stored(pyarrow.table({"a": [1, None], "b": ["x", "y"]})) == (
        ["a", "b"],
        [[1, "x"], [None, "y"]],
    )


def test_data_frames_of_polars():
    polars = pytest.importorskip("polars")

    assert stored(polars.DataFrame({"a": [1, 2]})) == (["a"], [[1], [2]])


def test_images_are_part_of_the_table():
    pixels = np.zeros((2, 2), np.uint8)
    row = [pixels, Image.new("L", (2, 2)), agent.Image(pixels)]

    _, [cells] = stored([row], ["a", "b", "c"])

    assert all(
        cell["image"].startswith("data:image/png;base64,iVBOR") for cell in cells
    )


def test_images_beyond_the_limit_are_named():
    pixels = np.zeros((1, 1), np.uint8)

    _, rows = stored([[pixels]] * (MAX_IMAGES + 1), ["a"])

    assert "image" in rows[-2][0]
    assert rows[-1] == [f"(image; a table has up to {MAX_IMAGES})"]


def test_changes_after_the_call_are_not_stored():
    rows = [[1], [2]]
    found = content(rows, ["a"])
    rows[0][0] = 5
    rows.append([3])

    assert json.loads(found.data())["rows"] == [[1], [2]]


INVALID = {
    "rows without columns": ([[1]], {}, "needs columns"),
    "a short row": ([[1, 2], [3]], {"columns": ["a", "b"]}, "rows of 2 cells"),
    "no columns": ([], {"columns": []}, "columns"),
    "a number": (5, {"columns": ["a"]}, "cannot be read"),
    "rows of numbers": ([1, 2], {"columns": ["a"]}, "cannot be read"),
}


@pytest.mark.parametrize(("data", "options", "why"), INVALID.values(), ids=INVALID)
def test_other_data_is_refused(data, options, why):
    with pytest.raises(agent.UnsupportedValue, match=why):
        content(data, **options)


def test_a_run_stores_a_table_per_step_and_warns_of_cut_ones(tracker, caplog):
    with agent.init("r", monitor=False) as run:
        for step in range(2):
            run["x"].append(agent.Table([[1]] * (MAX_ROWS + 1), ["a"]), step=step)
        run["single"] = agent.Table([{"a": 1}])
        wait_until(lambda: len(records(tracker, "x")) == 2 and len(tracker.stored) == 2)

    media_type = "application/vnd.seamark.table+json"
    assert [each[:3] for each in records(tracker, "x")] == [
        ("file", 0.0, media_type),
        ("file", 1.0, media_type),
    ]
    assert caplog.text.count("only the first 10,000 of 10,001 rows are stored") == 1
    assert {message["name"] for message in tracker.of_kind("file")} == {
        "single.table.json"
    }
