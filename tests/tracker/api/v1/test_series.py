import csv
import math
from io import StringIO

import pytest

from tests.builders import START, write_series

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def get(reader, run):
    return lambda **query: reader.get(f"/api/v1/runs/{run.id}/series", query)


def test_returns_the_points_of_each_series(get, run):
    write_series(run, "train/loss", [2.0, 1.0])
    write_series(run, "train/lr", [0.5])

    answer = get(path=["train/loss", "train/lr"]).json()

    assert answer["axis"] == "step"
    assert [line["path"] for line in answer["series"]] == ["train/loss", "train/lr"]
    loss = answer["series"][0]
    assert (loss["exact"], loss["count"]) == (True, 2)
    assert (loss["x"], loss["mean"]) == ([0.0, 1.0], [2.0, 1.0])
    assert loss["mean"] == loss["minimum"] == loss["maximum"]


def test_nan_and_infinities_are_strings_in_json(get, run):
    write_series(run, "loss", [math.nan, math.inf, -math.inf, 1.0])

    [line] = get(path="loss").json()["series"]

    assert line["mean"] == ["NaN", "Infinity", "-Infinity", 1.0]


@pytest.mark.parametrize(
    ("axis", "x"),
    [
        ("step", [0.0, 1.0]),
        ("time", [START / 1_000, START / 1_000 + 1_000]),
        ("relative", [0.0, 1.0]),
    ],
)
def test_runs_over_each_axis(get, run, axis, x):
    write_series(run, "loss", [2.0, 1.0])

    [line] = get(path="loss", axis=axis).json()["series"]

    assert line["x"] == x


def test_a_range_and_a_number_of_buckets_thin_it(get, run):
    write_series(run, "loss", [float(number) for number in range(1_000)])

    [part] = get(path="loss", low=10, high=19).json()["series"]
    [thin] = get(path="loss", buckets=10).json()["series"]

    assert part["x"] == [float(step) for step in range(10, 20)]
    assert 5 <= len(thin["x"]) <= 20
    assert thin["exact"] is False
    assert (thin["minimum"][0], thin["maximum"][-1]) == (0.0, 999.0)


def test_a_series_the_run_lacks_has_no_points(get):
    [line] = get(path="absent").json()["series"]

    assert (line["count"], line["x"]) == (0, [])


def test_csv_is_read_by_a_spreadsheet_as_text_and_numbers(get, run):
    hostile = '=HYPERLINK("https://evil")'
    write_series(run, hostile, [math.nan, -1.0])

    response = get(path=hostile, format="csv")

    rows = list(csv.reader(StringIO(response.content.decode())))
    assert response["Content-Type"].startswith("text/csv")
    assert rows[0] == ["path", "step", "mean", "minimum", "maximum"]
    assert rows[1] == [f"'{hostile}", "0.0", "NaN", "NaN", "NaN"]
    assert rows[2][1:] == ["1.0", "-1.0", "-1.0", "-1.0"]


@pytest.mark.parametrize(
    "query",
    [
        pytest.param({}, id="no path"),
        pytest.param({"path": ""}, id="empty path"),
        pytest.param({"path": "a\0b"}, id="NUL"),
        pytest.param({"path": "x" * 1_025}, id="long path"),
        pytest.param({"path": ["x"] * 51}, id="many paths"),
        pytest.param({"path": "x", "axis": "mood"}, id="axis"),
        pytest.param({"path": "x", "low": "nan"}, id="low NaN"),
        pytest.param({"path": "x", "high": "1e999"}, id="high infinite"),
        pytest.param({"path": "x", "buckets": "0"}, id="no buckets"),
        pytest.param({"path": "x", "buckets": "9" * 5_000}, id="5,000 digits"),
        pytest.param({"path": "x", "format": "xml"}, id="format"),
    ],
)
def test_bad_input_is_refused_with_the_one_shape(get, query):
    response = get(**query)

    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_input"
