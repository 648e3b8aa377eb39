"""Bundles of comparison charts, and the page's preload addresses."""

from __future__ import annotations

from html import unescape
from urllib.parse import urlencode, urlsplit

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.builders import (
    Process,
    make_run,
    points_message,
    write_series,
    write_values,
)
from tests.web.pages.charts.test_series_figures import cut, header
from tracker.models import Attribute, Run
from tracker.series.compaction import compact_run
from web.pages.charts.compared_charts import FIRST_CHARTS, FIRST_LETTERS
from web.pages.charts.figure_bundles import MAX_CHARTS, MAX_LINES_AT_ONCE

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs(project):
    runs = [make_run(project, name, "finished") for name in ("first", "second")]
    for number, run in enumerate(runs):
        write_series(run, "train/loss", [2.0 + number, 1.0])
        write_series(run, "val/loss", [3.0, 2.0])
        write_values(run, {"params/lr": 0.1 * number})
    return runs


@pytest.fixture
def visitor(client_of, member):
    return client_of(member)


@pytest.fixture
def get(visitor, project):
    def get(runs, *, name="compare-figures", held=(), figures=(), **query):
        address = reverse(name, args=[project.workspace.slug, project.slug])
        asked = {
            "runs": ",".join(str(run.id) for run in runs),
            "figure": [urlencode(figure, doseq=True) for figure in figures],
            **query,
        }
        headers = {"If-None-Match": ", ".join(f'W/"{one}"' for one in held)}
        return visitor.get(address, asked, headers=headers if held else None)

    return get


def lines_in(body):
    return [line["name"] for line in header(body)["figure"]["lines"]]


def test_charts_come_in_the_order_asked(get, runs):
    write_series(runs[1], "test/loss", [1.0, 2.0])
    figures = [{"path": path} for path in ("val/loss", "test/loss", "train/loss")]

    answer = get(runs, figures=figures)

    assert answer["Content-Type"] == "application/vnd.seamark.figures"
    lines = [lines_in(body) for body in cut(answer.content)]
    assert lines == [["first", "second"], ["second"], ["first", "second"]]


@pytest.mark.parametrize("asked", [{}, {"chart": "params/lr"}, {"over": "val/loss"}])
def test_each_is_what_it_is_alone(get, runs, asked):
    figure = {"path": "train/loss", "part": "1" if "chart" in asked else "0"}
    alone = get(runs, name="compare-figure", **figure, **asked).json()

    _, body = cut(get(runs, figures=[{"path": "val/loss"}, figure], **asked).content)

    together = header(body)["figure"]
    for one in (alone, together):
        one.pop("data")
    assert together["layout"] == alone["layout"]
    assert [line["name"] for line in together["lines"]] == [
        line["name"] for line in alone["lines"]
    ]


def test_several_series_in_one_chart_are_told_apart_by_dashes(get, runs):
    paths = ["train/loss", "val/loss"]

    body = get(runs, name="compare-figure", path=paths).json()

    assert [
        (line["name"], line["run"], line["colour"], line["dash"])
        for line in body["lines"]
    ] == [
        ("first · train/loss", "first", "var(--run-0)", "solid"),
        ("second · train/loss", "second", "var(--run-1)", "solid"),
        ("first · val/loss", "first", "var(--run-0)", "dash"),
        ("second · val/loss", "second", "var(--run-1)", "dash"),
    ]
    assert body["slots"] == [[0], [1], [0], [1]]
    alone, joined = cut(
        get(runs, figures=[{"path": "train/loss"}, {"path": paths}]).content
    )
    assert lines_in(alone) == ["first", "second"]
    assert lines_in(joined) == [line["name"] for line in body["lines"]]


def test_means_of_several_series_are_lines_of_their_own(get, runs):
    query = {"path": ["train/loss", "val/loss"], "together": "params/gone"}

    body = get(runs, name="compare-figure", **query).json()

    assert [line["name"] for line in body["lines"]] == [
        "without params/gone · train/loss (2 runs)",
        "without params/gone · val/loss (2 runs)",
    ]


def test_a_chart_of_too_many_lines_names_the_series_it_leaves_out(get, runs, project):
    many = [make_run(project, f"run-{n:03}", "finished") for n in range(98)]
    paths = ["train/loss", "val/loss", "left/out"]

    body = get([*runs, *many], name="compare-figure", path=paths).json()

    assert len(body["lines"]) == 4
    assert "Not shown (limit of 200 lines per chart): left/out." in body["notes"]
    assert (
        get(runs, name="compare-figure", path=list(map(str, range(51)))).status_code
        == 400
    )


def test_one_chart_is_logarithmic_by_itself(get, runs):
    figures = [{"path": "train/loss", "own": "log"}, {"path": "train/loss"}]

    def axes(**query):
        bodies = cut(get(runs, figures=figures, **query).content)
        return [header(body)["figure"]["layout"]["yaxis"]["type"] for body in bodies]

    assert axes() == ["log", "linear"]
    assert axes(log="1") == ["linear", "log"]


def test_many_take_as_many_statements_as_few(get, runs):
    paths = [f"train/series_{n}" for n in range(30)]
    for path in paths:
        write_series(runs[0], path, [1.0, 2.0])

    def statements(some):
        with CaptureQueriesContext(connection) as captured:
            get(runs, figures=[{"path": path} for path in some])
        return len(captured)

    assert statements(paths[2:]) == statements(paths[:2])


def test_what_the_reader_holds_is_not_sent_again(get, runs):
    figures = [{"path": "train/loss"}, {"path": "val/loss"}]
    versions = [
        header(body)["version"] for body in cut(get(runs, figures=figures).content)
    ]

    assert get(runs, figures=figures, held=versions).status_code == 304
    some = cut(get(runs, figures=figures, held=versions[:1]).content)
    assert [bool(body) for body in some] == [False, True]


@pytest.mark.parametrize(
    "change",
    [
        {"log": "1"},
        {"axis": "relative"},
        {"smoothing": "0.5"},
        {"colours": "4.5"},
        {"together": "params/lr"},
        {"low": "0", "high": "1"},
    ],
)
def test_what_is_drawn_otherwise_has_another_version(get, runs, change):
    figures = [{"path": "train/loss"}]
    [before] = cut(get(runs, figures=figures).content)
    [after] = cut(get(runs, figures=figures, **change).content)

    assert header(before)["version"] != header(after)["version"]


def test_another_name_is_another_version(get, runs):
    figures = [{"path": "train/loss"}]
    [before] = cut(get(runs, figures=figures).content)
    Run.objects.filter(id=runs[0].id).update(name="renamed")

    [after] = cut(get(runs, figures=figures).content)

    assert header(before)["version"] != header(after)["version"]


def log_twice(project, path):
    """Have two processes of one run log to a path at once."""
    for rank in (0, 1):
        process = Process(project, "ranks", rank=rank)
        process.open()
        process.send([points_message(path, [1.0, 2.0])])
    compact_run(process.run.id)
    return process.run


def test_runs_in_which_several_wrote_a_series_at_once_are_named(get, project, runs):
    shared = log_twice(project, "train/loss")
    figures = [{"path": "train/loss"}, {"path": "val/loss"}]

    notes = [
        header(body)["figure"]["notes"]
        for body in cut(get([*runs, shared], figures=figures).content)
    ]

    assert notes[1] == []
    assert notes[0] == [
        "Logged by ranks 0 and 1 in parallel, so a step may have several points: ranks."
    ]
    divided = get([*runs, shared], figures=figures, chart="params/lr")
    assert header(cut(divided.content)[0])["figure"]["notes"] == []


def test_that_several_write_a_series_is_another_version(get, project, runs):
    figures = [{"path": "train/loss"}]
    shared = log_twice(project, "train/loss")
    [after] = cut(get([*runs, shared], figures=figures).content)
    Attribute.objects.update(writers=None)
    [before] = cut(get([*runs, shared], figures=figures).content)

    assert header(before)["version"] != header(after)["version"]


def test_there_are_no_more_than_a_screen_shows(get, project, runs):
    many = [make_run(project, f"run-{n:03}", "finished") for n in range(100)]
    few = [{"path": f"train/{n}"} for n in range(MAX_LINES_AT_ONCE // 100)]

    assert get(runs).status_code == 400
    assert get(runs, figures=[{"path": "x"}] * (MAX_CHARTS + 1)).status_code == 400
    assert get(many, figures=few).status_code == 200
    assert get(many, figures=[*few, {"path": "one more"}]).status_code == 400
    assert get(runs, figures=[{"path": "x", "part": "y"}]).status_code == 400


class TestFirstFigures:
    """Preload addresses of a page's first charts."""

    def asked(self, answer):
        query = QueryDict(urlsplit(answer.context["first_figures"]).query)
        return [QueryDict(one).dict() for one in query.getlist("figure")]

    def test_are_those_at_the_top_in_one_answer(self, get, visitor, runs):
        page = get(runs, name="compare", log="1")

        assert self.asked(page) == [{"path": "train/loss"}, {"path": "val/loss"}]
        address = page.context["first_figures"]
        assert address in unescape(page.content.decode())
        bodies = cut(visitor.get(address).content)
        assert [lines_in(body) for body in bodies] == [["first", "second"]] * 2
        kinds = [header(one)["figure"]["layout"]["yaxis"]["type"] for one in bodies]
        assert kinds == ["log", "log"]

    def test_are_of_each_part_where_runs_are_divided(self, get, runs):
        page = get(runs, name="compare", chart="params/lr", text="train")

        assert self.asked(page) == [
            {"path": "train/loss", "part": "0"},
            {"path": "train/loss", "part": "1"},
        ]

    def test_are_no_more_than_a_window_shows(self, get, project, runs):
        for n in range(20):
            write_series(runs[0], f"more/{n:02}", [1.0, 2.0])

        assert len(self.asked(get(runs, name="compare"))) == FIRST_CHARTS
        many = [make_run(project, f"run-{n:03}", "finished") for n in range(98)]
        found = self.asked(get([*runs, *many], name="compare"))
        assert len(found) == MAX_LINES_AT_ONCE // 100

    def test_of_endless_names_are_no_endless_address(self, get, runs):
        for n in range(12):
            write_series(runs[0], f"more/{n:02}" + "<" * 900, [1.0, 2.0])

        address = get(runs, name="compare", text="more").context["first_figures"]
        assert len(address) < FIRST_LETTERS + 1_000

    def test_of_nothing_or_other_tabs_are_not_asked_for(self, get, runs):
        nothing = get(runs, name="compare", text="nothing is called so")
        table = get(runs, name="compare", tab="table")

        for page in (nothing, table):
            assert 'data-part="first-figures"' not in page.content.decode()
