"""Charts of series, one or many in an answer."""

import json
import struct
from urllib.parse import urlencode

import numpy as np
import orjson
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.builders import (
    SECOND,
    START,
    make_project,
    make_run,
    points_message,
    records_message,
    write,
    write_series,
)
from tests.web.figures.plotly_schema import check_schema, numbers
from tests.web.sample_run import settle

pytestmark = pytest.mark.django_db

NAN, INF = float("nan"), float("inf")


@pytest.fixture
def run(member):
    run = make_run(make_project(member))
    write_series(run, "train/loss", [3.0, 2.0, 1.0])
    write_series(run, "val/loss", [4.0, 3.0], steps=[0, 2])
    return run


@pytest.fixture
def browser(client_of, member):
    return client_of(member)


def ask(browser, run, *charts, held=(), **shared):
    """Request charts, each with its query as a dictionary; return bodies and response."""
    query = [*shared.items(), *(("chart", urlencode(c, doseq=True)) for c in charts)]
    versions = ", ".join(f'W/"{version}"' for version in held)
    answer = browser.get(
        f"/runs/{run.id}/figures/charts?{urlencode(query)}",
        headers={"If-None-Match": versions} if versions else {},
    )
    return cut(answer.content), answer


def cut(body):
    bodies = []
    while body:
        (length,) = struct.unpack("<I", body[:4])
        bodies.append(body[4 : 4 + length])
        body = body[4 + length :]
    return bodies


def header(body):
    start = 8 + int.from_bytes(body[4:8], "little")
    return json.loads(body[8:start])


def test_several_series_are_lines_of_one_chart(browser, run):
    address = f"/runs/{run.id}/figures/series?path=train/loss&path=val/loss"

    figure = orjson.loads(browser.get(address).content)

    check_schema(figure)
    assert [line["name"] for line in figure["lines"]] == ["train/loss", "val/loss"]
    first, second = figure["data"]
    assert first["line"]["color"] != second["line"]["color"]
    assert numbers(second["x"]).tolist() == [0, 2]


def test_many_charts_come_in_one_answer_in_the_order_asked(browser, run):
    bodies, answer = ask(
        browser, run, {"path": "val/loss"}, {"path": ["train/loss", "val/loss"]}
    )

    assert answer["Content-Type"] == "application/vnd.seamark.figures"
    names = [
        [line["name"] for line in header(body)["figure"]["lines"]] for body in bodies
    ]
    assert names == [["val/loss"], ["train/loss", "val/loss"]]


def test_many_charts_take_as_many_statements_as_few(browser, member):
    run = make_run(make_project(member))
    paths = [f"train/series_{n:02}" for n in range(30)]
    write(run, [points_message(path, [1.0, 2.0]) for path in paths])

    def statements(some):
        with CaptureQueriesContext(connection) as captured:
            ask(browser, run, *({"path": path} for path in some))
        return len(captured)

    assert statements(paths[2:]) == statements(paths[:2])


def test_what_the_reader_holds_is_not_sent_again(browser, run):
    charts = [{"path": "train/loss"}, {"path": "val/loss"}]
    bodies, _ = ask(browser, run, *charts)
    versions = [header(body)["version"] for body in bodies]

    _, nothing = ask(browser, run, *charts, held=versions)
    some, _ = ask(browser, run, *charts, held=versions[:1])

    assert nothing.status_code == 304
    assert not nothing.content
    assert [bool(body) for body in some] == [False, True]


def test_an_end_alone_is_another_chart_than_the_whole(browser, run):
    (end,), _ = ask(browser, run, {"path": "train/loss"}, low=1.5)
    (whole,), _ = ask(browser, run, {"path": "train/loss"})

    assert header(end)["version"] != header(whole)["version"]
    assert end != whole


def test_only_what_is_new_is_sent(browser, run):
    write_series(run, "train/long", np.arange(800.0))
    (whole,), _ = ask(browser, run, {"path": "train/long"})
    write_series(run, "train/long", [800.0], steps=[800])

    (new,), _ = ask(
        browser, run, {"path": "train/long", "since": header(whole)["since"]}
    )

    assert "figure" not in header(new)
    assert len(new) < 600 < len(whole)


def test_a_chart_has_an_axis_of_its_own_kind(browser, run):
    bodies, _ = ask(
        browser, run, {"path": "train/loss", "own": "log"}, {"path": "train/loss"}
    )

    kinds = [header(b)["figure"]["layout"]["yaxis"]["type"] for b in bodies]
    assert kinds == ["log", "linear"]


def test_another_series_gives_the_places(browser, run):
    write_series(run, "train/epoch", [0.0, 1.0], steps=[0, 2])

    figure = orjson.loads(
        browser.get(
            f"/runs/{run.id}/figures/series?path=train/loss&axis=series&over=train/epoch"
        ).content
    )

    check_schema(figure)
    assert numbers(figure["data"][0]["x"]).tolist() == [0, 0.5, 1]
    assert figure["layout"]["xaxis"]["title"]["text"] == "train/epoch"


@pytest.mark.parametrize(
    "option", ["", "&log=1", "&clip=1", "&logx=1", "&smoothing=0.9"]
)
@pytest.mark.parametrize(
    "values",
    [
        pytest.param([NAN] * 50, id="only NaN"),
        pytest.param([INF, -INF] * 30, id="only infinite"),
        pytest.param([1e308, -1e308, 5e-324] * 20, id="as large as can be"),
        pytest.param([0.0, -0.0] * 20, id="zero"),
        pytest.param([], id="nothing"),
    ],
)
def test_no_value_breaks_a_chart(browser, run, values, option):
    if values:
        write_series(run, "odd", values)

    answer = browser.get(f"/runs/{run.id}/figures/series?path=odd{option}")

    assert answer.status_code == 200
    check_schema(orjson.loads(answer.content))


def test_a_chart_of_very_many_points_is_as_small_as_any(browser, run):
    for first in range(0, 1_000_000, 100_000):
        values = np.ones(100_000)
        values[77] = 900
        write_series(run, "train/huge", values, steps=first + np.arange(100_000))
    settle(run)

    (body,), _ = ask(browser, run, {"path": "train/huge"})
    figure = header(body)["figure"]

    assert len(body) < 40_000
    assert "layout" in figure
    (zoomed,), _ = ask(
        browser, run, {"path": "train/huge"}, low="700070", high="700090"
    )
    assert len(zoomed) < 3_000


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("", id="no chart"),
        pytest.param("chart=", id="no path"),
        pytest.param("chart=path%3Da%2500", id="NUL"),
        pytest.param("chart=path%3Da&axis=series", id="no series for the axis"),
        pytest.param("&".join(["chart=path%3Da"] * 41), id="too many"),
    ],
)
def test_refuses_what_it_does_not_understand(browser, run, query):
    answer = browser.get(
        f"/runs/{run.id}/figures/charts?{query}",
        headers={"Accept": "application/json"},
    )

    assert answer.status_code == 400
    assert orjson.loads(answer.content)["error"]["code"] == "invalid_input"


def test_a_stranger_finds_nothing(client_of, stranger, run):
    address = f"/runs/{run.id}/figures/charts?chart=path%3Dtrain/loss"
    assert client_of(stranger).get(address).status_code == 404


def note(run, text, *, step, stage="train", seconds=1):
    times = [START + seconds * SECOND]
    write(run, [records_message(f"notes/{stage}", [text], steps=[step], times=times)])


def marks(browser, run, rest):
    answer = browser.get(f"/runs/{run.id}/figures/series?{rest}")
    return orjson.loads(answer.content)["marks"]


def test_what_the_script_noted_is_a_mark_on_every_chart_of_its_own_series(browser, run):
    note(run, "new data", step=1, stage="preprocess")
    note(run, "rate halved", step=2, seconds=2)
    write_series(run, "monitoring/train/job/cpu_cores", [1.0, 2.0])

    for path in ("train/loss", "val/loss"):
        found = marks(browser, run, f"path={path}")
        assert [(mark["text"], mark["x"]) for mark in found] == [
            ("new data", 1.0),
            ("rate halved", 2.0),
        ]
        assert {mark["id"] for mark in found} == {None}
    # Monitoring series have their own steps, but the same time axis.
    measured = "path=monitoring/train/job/cpu_cores"
    assert marks(browser, run, measured) == []
    (first, _) = marks(browser, run, f"{measured}&axis=time")
    assert first["x"] == (START + SECOND) / 1e3


def test_a_chart_is_drawn_anew_once_something_was_noted(browser, run):
    bodies, _ = ask(browser, run, {"path": "train/loss"})
    version = header(bodies[0])["version"]
    note(run, "new data", step=1)

    again, _ = ask(browser, run, {"path": "train/loss"}, held=[version])

    assert again[0]


def test_of_very_many_notes_the_newest_are_shown(browser, run):
    texts = [f"note {number}" for number in range(300)]
    write(run, [records_message("notes/train", texts)])

    found = marks(browser, run, "path=train/loss")

    assert [found[0]["text"], found[-1]["text"]] == ["note 100", "note 299"]


def test_a_chart_says_that_several_ranks_wrote_its_series(browser, run):
    write_series(run, "train/loss", [2.9, 2.1, 1.1], rank=1)
    settle(run)
    ((first, second), _) = ask(
        browser, run, {"path": "train/loss"}, {"path": "val/loss"}
    )

    (note,) = header(first)["figure"]["notes"]
    assert note.startswith("train/loss was logged by ranks 0 and 1 in parallel")
    assert header(second)["figure"]["notes"] == []
