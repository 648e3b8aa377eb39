"""Points of many runs over HTTP, in the formats of charts, programs and spreadsheets."""

from __future__ import annotations

import csv
import json
import math
from io import StringIO

import numpy as np
import pyarrow as pa
import pytest
from django.core.signals import request_finished
from django.db import close_old_connections, connection
from django.test.utils import CaptureQueriesContext

from tests.builders import START, Process, make_project, make_run, points_message
from tests.builders import write as log
from tests.builders import write_series as write
from tests.tracker.api.v1.answers import decoded, put_together
from tests.tracker.series.examples import SECOND, noise
from tracker.api import tables
from tracker.api.v1 import points as endpoint
from tracker.errors import Unavailable
from tracker.models import Attribute, JournalEntry, Run, SeriesChunk
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

PROJECT = "/api/v1/projects/ada-workspace/vision"
FORMATS = ["json", "binary", "csv", "arrow"]


def let_go(response):
    """Close a response like a server, but keep the test's transaction open."""
    request_finished.disconnect(close_old_connections)
    response.close()
    request_finished.connect(close_old_connections)


@pytest.fixture
def other(project):
    return make_run(project, "other")


@pytest.fixture
def get(reader):
    """Return a function that requests series of runs, with any other parameters."""

    def ask(*runs, path="loss", of="series", headers=None, **query):
        return reader.get(
            f"{PROJECT}/{of}",
            {"run": [str(run.id) for run in runs], "path": path, **query},
            headers=headers or {},
        )

    return ask


@pytest.fixture
def lines(get):
    """Return a function that returns lines in one shape, for every format."""

    def ask(*runs, kind, **query):
        response = get(*runs, format=kind, **query)
        assert response.status_code == 200, response.content
        return decoded(response, kind)

    return ask


@pytest.mark.parametrize("kind", FORMATS)
def test_lines_of_many_runs_come_path_by_path_in_the_order_asked(
    lines, run, other, kind
):
    for number, some in enumerate([run, other]):
        write(some, "loss", [number, number + 0.5])
        write(some, "rate", [number + 10.0])

    found = lines(other, run, path=["rate", "loss"], kind=kind)

    assert [(line.run, line.path) for line in found] == [
        (str(some.id), path) for path in ("rate", "loss") for some in (other, run)
    ]
    assert [line.mean.tolist() for line in found] == [[11], [10], [1, 1.5], [0, 0.5]]


@pytest.mark.parametrize("kind", FORMATS)
def test_no_format_hides_a_spike(lines, run, kind):
    values = noise(20_000)
    # Neither is a float32, so rounding in the wrong direction would cut the spike.
    values[7_777], values[12_345] = 99.1, -99.1
    write(run, "loss", values)
    compact_run(run.id)

    [line] = lines(run, buckets=100, kind=kind)

    assert line.maximum.max() >= 99.1
    assert line.minimum.min() <= -99.1
    assert line.maximum.max() == pytest.approx(99.1)
    assert (line.minimum <= line.mean).all()
    assert (line.mean <= line.maximum).all()
    assert 50 < len(line.x) <= 101


@pytest.mark.parametrize("kind", FORMATS)
def test_values_that_are_not_finite_are_kept(lines, run, kind):
    values = [math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7e308, 0.1]
    write(run, "loss", values)

    [line] = lines(run, kind=kind)

    assert line.mean.tolist() == pytest.approx(values, rel=0, abs=0, nan_ok=True)


@pytest.mark.parametrize("kind", FORMATS)
def test_exact_points_have_all_their_digits(lines, run, kind):
    values = np.linspace(1, 1 + 1e-9, 50)
    steps = np.arange(50) / 3
    write(run, "loss", values, steps=steps)

    [line] = lines(run, kind=kind)

    assert line.mean.tolist() == values.tolist()
    assert line.x.tolist() == steps.tolist()


@pytest.mark.parametrize("kind", FORMATS)
def test_a_series_that_does_not_exist_has_no_points(lines, run, kind):
    found = lines(run, path="absent", kind=kind)

    assert sum(len(line.x) for line in found) == 0


@pytest.mark.parametrize("axis", ["time", "relative"])
def test_binary_and_json_agree_on_every_axis(lines, run, axis):
    write(run, "loss", noise(5_000), times=START + np.arange(5_000) * 123_457)

    [json_line] = lines(run, axis=axis, kind="json")
    [binary] = lines(run, axis=axis, kind="binary")

    assert binary.x.tolist() == json_line.x.tolist()
    assert np.allclose(binary.mean, json_line.mean)


def test_arrow_has_moments_where_the_axis_is_time(get, run):
    write(run, "loss", [1.0], times=[START + 1])

    response = get(run, axis="time", format="arrow")

    table = pa.ipc.open_stream(response.content).read_all()
    assert table["time"].cast(pa.int64()).to_pylist() == [START + 1]


def test_lines_share_a_column_where_their_steps_are_the_same(get, run, other):
    write(run, "loss", noise(900))
    write(other, "loss", noise(900, seed=1))

    body = get(run, other, format="binary").content

    length = int.from_bytes(body[4:8], "little")
    head = json.loads(body[8 : 8 + length])
    assert body[:4] == b"SMP\x01"
    assert [column[0] for column in head["columns"]] == ["i4", "f8", "f8"]
    assert {line["x"] for line in head["series"]} == {0}
    assert all(offset % 8 == 0 for _, offset, _ in head["columns"])


def test_pages_of_series_lead_to_each_other(get, run, monkeypatch):
    monkeypatch.setattr(endpoint, "MAX_BUCKETS", 1_000)
    names = [f"series/{number}" for number in range(5)]
    for number, name in enumerate(names):
        write(run, name, [number])

    seen, query = [], {"cursor": 0}
    while True:
        response = get(run, path=names, **query)
        answer = response.json()
        assert len(answer["series"]) <= 2
        seen += [line["path"] for line in answer["series"]]
        if answer["next"] is None:
            assert "Link" not in response
            break
        assert f"cursor={answer['next']}>" in response["Link"]
        query = {"cursor": answer["next"]}

    assert seen == names


def write_many(run, count):
    """Log `count` series, named 000 and so on, each with the same two points."""
    one = points_message("", [0.0, 1.0])
    paths = [f"{number:03}" for number in range(count)]
    log(run, [{**one, "paths": paths, "values": one["values"] * count}])


@pytest.mark.parametrize("kind", ["json", "binary"])
def test_the_cursor_of_a_response_is_always_accepted(get, run, kind):
    count = endpoint.MAX_HELD + 16
    write_many(run, count)
    # With so few buckets, more series would fit in one response.
    asked = {"format": kind, "buckets": 10_000 // count, "path": []}
    first, held = put_together(get(run, since="", **asked), kind, None)

    again = get(run, since=first["since"], **asked)

    assert again.status_code == 200
    assert len(held) == endpoint.MAX_HELD
    assert first["next"] is not None
    head, _ = put_together(again, kind, held)
    assert {line["keep"] for line in head["series"]} == {2}


def test_series_that_a_live_run_adds_neither_repeat_nor_hide_any(get, run, other):
    for path in "bdf":
        write(run, path, [1.0])
        write(other, path, [1.0])
    seen, cursor = [], "0"
    for added in "acegi":
        answer = get(run, other, path=[], buckets=5_000, cursor=cursor).json()
        seen += [(line["path"], line["run"]) for line in answer["series"]]
        cursor = answer["next"]
        if cursor is None:
            break
        write(run, added, [1.0])

    assert cursor is None
    assert len(set(seen)) == len(seen)
    assert {path for path, _ in seen} >= set("bdf")
    assert len([path for path, _ in seen if path in "bdf"]) == 6


def test_a_cursor_of_another_list_is_refused(get, run, other):
    write(run, "a", [1.0])
    write(other, "a", [1.0])
    of_all = get(run, other, path=[], buckets=10_000).json()["next"]

    for query in ({"path": "a", "cursor": of_all}, {"path": [], "cursor": "1"}):
        response = get(run, other, **query)

        assert response.status_code == 400
        assert "start again" in response.json()["error"]["message"]


def test_a_page_beyond_the_last_is_empty(get, run):
    assert get(run, cursor=7).json()["series"] == []


def statements(ask):
    with CaptureQueriesContext(connection) as captured:
        response = ask()
    return response, [query["sql"] for query in captured]


def test_the_count_of_statements_does_not_grow(get, project):
    runs = [make_run(project, f"run-{number}") for number in range(6)]
    for some in runs:
        for path in ("a", "b"):
            write(some, path, noise(300))
        compact_run(some.id)
        write(some, "a", [1.0], steps=[300])
    get(runs[0], path="a", buckets=9)  # fills the caches before statements are counted

    _, of_one = statements(lambda: get(runs[0], path="a"))
    answer, of_all = statements(lambda: get(*runs, path=["a", "b"]))

    assert len(answer.json()["series"]) == 12
    assert len(of_all) == len(of_one)


def test_a_matching_etag_reads_no_series(get, run):
    write(run, "loss", [1.0])
    etag = get(run)["ETag"]

    answer, asked = statements(lambda: get(run, headers={"If-None-Match": etag}))

    assert answer.status_code == 304
    for table in (Attribute, JournalEntry, SeriesChunk):
        assert not any(table._meta.db_table in statement for statement in asked)


@pytest.mark.parametrize("of", ["series", "points"])
def test_one_run_that_is_not_theirs_is_a_run_there_is_not(
    get, run, stranger, reader, of
):
    hidden = make_run(make_project(stranger, "secret"))
    write(run, "loss", [1.0])

    for absent in (hidden, Run(name="none")):
        response = get(run, absent, of=of, format="csv")
        assert response.status_code == 404
        assert response.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize("of", ["series", "points"])
def test_runs_of_other_projects_of_the_workspace_are_read_along(get, run, of):
    beside = make_run(make_project(run.project.workspace.members.get(), "next"))
    write(run, "loss", [1.0])
    write(beside, "loss", [2.0])

    response = get(run, beside, of=of, format="csv")
    answer = b"".join(response).decode()

    assert str(run.id) in answer
    assert str(beside.id) in answer


def test_another_workspaces_reader_gets_nothing(strange_reader, run):
    write(run, "loss", [1.0])

    response = strange_reader.get(
        f"{PROJECT}/series", {"run": str(run.id), "path": "loss"}
    )

    assert response.status_code == 404


def test_a_held_answer_is_not_told_to_who_may_not_read_it(get, strange_reader, run):
    etag = get(run)["ETag"]

    response = strange_reader.get(
        f"{PROJECT}/series",
        {"run": str(run.id), "path": "loss"},
        headers={"If-None-Match": etag},
    )

    assert response.status_code == 404


def test_without_a_path_every_series_is_answered(get, run, other):
    for number, path in enumerate(["b", "a"]):
        write(run, path, [number])
    write(other, "a", [2, 3])

    first = json.loads(get(run, other, path=[], buckets=5_000).content)
    rest = json.loads(get(run, other, path=[], cursor=first["next"]).content)

    assert rest["next"] is None
    found = first["series"] + rest["series"]
    assert [(line["path"], line["count"]) for line in found[2:]] == [("b", 1)]
    assert {(line["run"], line["path"], line["count"]) for line in found[:2]} == {
        (str(run.id), "a", 1),
        (str(other.id), "a", 2),
    }


@pytest.mark.parametrize(
    "query",
    [
        pytest.param({"path": ["x"] * 201}, id="many paths"),
        pytest.param({"run": ["1"]}, id="no id"),
        pytest.param({"buckets": 10_001}, id="many buckets"),
        pytest.param({"format": "xml"}, id="format"),
        pytest.param({"cursor": -1}, id="cursor"),
        pytest.param({"path": [], "cursor": "-" * 36 + ":a"}, id="cursor of no run"),
        pytest.param({"since": "x" * 9_000}, id="long since"),
    ],
)
def test_bad_input_is_refused_with_the_one_shape(get, run, query):
    response = get(run, **query)

    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_input"


def test_too_many_runs_are_refused_with_the_limit(reader, run):
    response = reader.get(
        f"{PROJECT}/series", {"run": [str(run.id)] * 101, "path": "loss"}
    )

    assert response.status_code == 400
    assert "100" in response.json()["error"]["message"]


# Incremental responses.


@pytest.mark.parametrize("of", ["series", "points"])
def test_an_answer_is_sent_again_only_when_something_arrived(get, run, of):
    def ask(kind="csv", etag=""):
        response = get(run, of=of, format=kind, headers={"If-None-Match": etag})
        let_go(response)
        return response

    write(run, "loss", [1.0])
    etag = ask()["ETag"]

    same = ask(etag=etag)
    other_question = ask("arrow", etag)
    compact_run(run.id)
    moved = ask(etag=etag)
    write(run, "loss", [2.0], steps=[1])
    after = ask(etag=etag)

    assert [same.status_code, moved.status_code] == [304, 304]
    assert not same.content
    assert same["ETag"] == etag
    assert [other_question.status_code, after.status_code] == [200, 200]
    assert after["ETag"] != etag


def test_the_etag_notices_points_of_a_process_that_goes_on(get, run):
    process = Process(run.project, run.name)
    process.open()
    etags = set()
    for step in range(4):
        process.send([points_message("loss", [0.0], steps=[step])])
        etags.add(get(run)["ETag"])

    assert len(etags) == 4


@pytest.mark.parametrize("kind", ["json", "binary"])
def test_only_what_is_new_is_sent(lines, get, run, other, kind):
    write(run, "loss", noise(100))
    write(other, "loss", noise(100))
    first = get(run, other, format=kind, since="")
    head, held = put_together(first, kind, None)
    write(run, "loss", [7.5], steps=[100])

    second = get(run, other, format=kind, since=head["since"])

    head, now = put_together(second, kind, held)
    assert [line["keep"] for line in head["series"]] == [100, 100]
    assert [len(new) for new in head["new"]] == [1, 0]
    assert len(second.content) < len(first.content) / 2
    assert now[0].mean.tolist() == [*noise(100).tolist(), 7.5]


@pytest.mark.parametrize("since", ["", "what?", "AAAA", "A" * 44, "ä"])
def test_an_unknown_cursor_gets_all_points(get, run, since):
    write(run, "loss", noise(10))

    [line] = get(run, since=since).json()["series"]

    assert (line["keep"], len(line["x"])) == (0, 10)


# All points.


def rows_of(response, kind):
    body = b"".join(response.streaming_content)
    if kind == "arrow":
        table = pa.ipc.open_stream(body).read_all()
        times = table["time"].cast(pa.int64()).to_pylist()
        names = ("run", "path", "step", "value")
        columns = [table[name].to_pylist() for name in names]
        return list(zip(*columns[:3], times, columns[3], strict=True))
    rows = list(csv.reader(StringIO(body.decode())))
    assert rows[0] == ["run", "path", "step", "time", "value"]
    return [
        (
            run,
            path,
            float(step),
            int(np.datetime64(time.removesuffix("Z"), "us").astype(int)),
            float(value),
        )
        for run, path, step, time, value in rows[1:]
    ]


@pytest.mark.parametrize("kind", ["csv", "arrow"])
def test_all_points_come_in_order_wherever_they_lie(get, run, other, kind, monkeypatch):
    monkeypatch.setattr("tracker.queries.series.all_points.CHUNKS_AT_ONCE", 2)
    values = noise(60_000)
    steps = np.arange(60_000) / 2
    late = np.arange(0, 60_000, 7)
    first = np.setdiff1d(np.arange(60_000), late)
    write(run, "loss", values[first], steps=steps[first], times=START + first)
    compact_run(run.id)
    write(
        run,
        "loss",
        values[late[:5_000]],
        steps=steps[late[:5_000]],
        times=START + late[:5_000],
    )
    compact_run(run.id)
    rest = late[5_000:]
    write(run, "loss", values[rest], steps=steps[rest], times=START + rest)
    write(other, "=1+1", [math.nan, math.inf])

    response = get(run, other, of="points", path=["loss", "=1+1"], format=kind)

    rows = rows_of(response, kind)
    loss = [row for row in rows if row[1] == "loss"]
    assert [row[2] for row in loss] == steps.tolist()
    assert [row[3] for row in loss] == (START + np.arange(60_000)).tolist()
    assert [row[4] for row in loss] == values.tolist()
    assert {row[0] for row in loss} == {str(run.id)}
    hostile = rows[60_000:]
    assert [row[1] for row in hostile] == ["'=1+1" if kind == "csv" else "=1+1"] * 2
    assert math.isnan(hostile[0][4])
    assert hostile[1][4] == math.inf


@pytest.mark.parametrize("kind", ["csv", "arrow"])
def test_all_points_of_nothing_are_a_table_without_rows(get, run, kind):
    assert rows_of(get(run, of="points", path="absent", format=kind), kind) == []


def test_all_points_of_a_range(get, run):
    write(run, "loss", noise(30_000))
    compact_run(run.id)

    by_step = rows_of(get(run, of="points", low=9_000, high=9_002), "csv")
    by_time = rows_of(get(run, of="points", axis="relative", low=5, high=6), "csv")

    assert [row[2] for row in by_step] == [9_000, 9_001, 9_002]
    assert [row[3] for row in by_time] == [START + 5 * SECOND, START + 6 * SECOND]


@pytest.mark.parametrize("kind", ["csv", "arrow"])
def test_an_export_that_breaks_off_cannot_be_taken_for_the_whole(
    get, run, kind, caplog, monkeypatch
):
    monkeypatch.setattr("tracker.queries.series.all_points.CHUNKS_AT_ONCE", 1)
    write(run, "loss", noise(40_000))
    compact_run(run.id)
    response = get(run, of="points", format=kind)
    parts = iter(response.streaming_content)
    body = next(parts)

    SeriesChunk.objects.all().delete()
    body += b"".join(parts)

    assert "ended early" in caplog.text
    if kind == "arrow":
        with pytest.raises(pa.ArrowInvalid):
            pa.ipc.open_stream(body).read_all()
    else:
        assert body.endswith(b"incomplete: ask again\r\n")


def test_only_a_few_exports_run_at_once_and_each_leaves_its_place(
    get, run, monkeypatch
):
    monkeypatch.setattr(tables, "WAIT_SECONDS", 0)
    write(run, "loss", [1.0])
    running = [get(run, of="points") for _ in range(tables.EXPORTS_AT_ONCE)]

    refused = get(run, of="points")
    assert refused.status_code == 503
    assert refused.json()["error"]["code"] == Unavailable.code

    for response in running:
        let_go(response)
        let_go(response)
    assert len(rows_of(get(run, of="points"), "csv")) == 1
