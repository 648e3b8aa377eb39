import struct

import pytest

from tests.builders import START, records_message, write, write_series

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def get(reader, run):
    def get(place="", **query):
        return reader.get(f"/api/v1/runs/{run.id}/records{place}", query)

    return get


def log(run, *values, path="logs/stdout", **fields):
    write(run, [records_message(path, values, **fields)])


def test_texts_come_with_their_positions_steps_and_times(get, run):
    log(run, "one", "größe", steps=[0, 2.5])

    answer = get(path="logs/stdout").json()

    assert answer == {
        "path": "logs/stdout",
        "kind": "text_series",
        "count": 2,
        "end": 2,
        "next": None,
        "positions": [0, 1],
        "steps": [0.0, 2.5],
        "times": [START / 1_000, START / 1_000 + 1_000],
        "values": ["one", "größe"],
    }


def test_histograms_come_with_edges_and_counts(get, run):
    even = struct.pack("<Bd5d", 1, 2.0, 0.0, 3.0, 1, 0, 5)
    log(run, even, path="grads", kind="histogram")

    answer = get(path="grads").json()

    assert answer["kind"] == "histogram_series"
    assert answer["values"] == [
        {"edges": [0.0, 1.0, 2.0, 3.0], "counts": [1.0, 0.0, 5.0], "others": 2.0}
    ]


def test_pages_lead_on_to_what_is_left(get, run):
    log(run, *(f"line {number}" for number in range(25)))

    lines, position = [], 0
    while position is not None:
        answer = get(path="logs/stdout", first=position, limit=10).json()
        lines += answer["values"]
        position = answer["next"]

    assert lines == [f"line {number}" for number in range(25)]


def test_the_last_ones_and_a_range_are_answered(get, run):
    log(run, *(f"line {number}" for number in range(25)))

    assert get(path="logs/stdout", last=2).json()["values"] == ["line 23", "line 24"]
    assert get(path="logs/stdout", last=99).json()["positions"][0] == 0
    answer = get(path="logs/stdout", low=3, high=4).json()
    assert (answer["values"], answer["next"]) == (["line 3", "line 4"], None)
    later = get(path="logs/stdout", axis="time", low=START / 1_000 + 23_500).json()
    assert later["values"] == ["line 24"]


def test_only_what_is_new_is_answered(get, run):
    log(run, "one")
    answer = get(path="logs/stdout")
    tag, end = answer["ETag"], answer.json()["end"]

    assert get(path="logs/stdout")["ETag"] == tag
    log(run, "two")

    assert get(path="logs/stdout")["ETag"] != tag
    assert get(path="logs/stdout", first=end).json()["values"] == ["two"]
    assert get(path="logs/stdout", first=2).json()["values"] == []


def test_an_answer_that_the_reader_holds_is_not_sent_again(reader, run):
    log(run, "one")
    address = f"/api/v1/runs/{run.id}/records"
    tag = reader.get(address, {"path": "logs/stdout"})["ETag"]

    answer = reader.get(
        address, {"path": "logs/stdout"}, headers={"If-None-Match": tag}
    )

    assert answer.status_code == 304


def test_text_is_found(get, run):
    log(run, "An Error", "fine", "error again")

    answer = get("/found", path="logs/stdout", text="error").json()

    assert answer["positions"] == [0, 2]
    assert (answer["end"], answer["next"]) == (3, None)
    first = get("/found", path="logs/stdout", text="error", limit=1).json()
    assert (first["positions"], first["next"]) == ([0], 1)


def test_a_log_is_downloaded_as_text(get, run):
    log(run, "\x1b[31mred\x1b[0m", "<script>")

    answer = get("/text", path="logs/stdout")

    assert b"".join(answer) == b"red\n<script>\n"
    assert answer["Content-Type"] == "text/plain"
    assert "attachment" in answer["Content-Disposition"]


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"path": "x\0"},
        {"path": "x", "first": -1},
        {"path": "x", "limit": 100_000},
        {"path": "x", "axis": "relative"},
        {"path": "x", "low": "NaN"},
    ],
    ids=str,
)
def test_an_invalid_query_is_refused(get, query):
    assert get(**query).status_code == 400


@pytest.mark.parametrize("place", ["", "/text"])
def test_a_path_without_records_is_not_found(get, run, place):
    write_series(run, "loss", [1.0])

    assert get(place, path="loss").status_code == 404
    assert get(place, path="nothing").status_code == 404


def test_others_see_nothing(strange_reader, run):
    log(run, "secret")

    for place in ("", "/found", "/text"):
        answer = strange_reader.get(
            f"/api/v1/runs/{run.id}/records{place}",
            {"path": "logs/stdout", "text": "secret"},
        )
        assert answer.status_code == 404


def test_the_list_of_attributes_names_them(reader, run):
    log(run, "one", "two")

    answer = reader.get(f"/api/v1/runs/{run.id}/attributes").json()

    (row,) = answer["attributes"]
    assert (row["kind"], row["value"]) == ("text_series", "two")
    assert (row["count"], row["first_step"], row["last_step"]) == (2, 0.0, 1.0)
