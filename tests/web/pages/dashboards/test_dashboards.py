"""Dashboard endpoints: list, page and permissions."""

from __future__ import annotations

import re
from datetime import timedelta
from types import SimpleNamespace
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from tests.builders import (
    SECOND,
    START,
    Process,
    make_member,
    make_run,
    points_message,
    write_series,
    write_values,
)
from tests.tracker.queries.findings import add_finding
from tests.tracker.queries.ledgers import add_ledger
from tests.web.figures.plotly_schema import numbers
from tracker.actions.dashboards import create_dashboard
from tracker.actions.runs.tags import change_tags
from tracker.actions.runs.trash import move_many_to_trash
from tracker.boards.board import Board, Place, RunSet, Widget, board_from
from tracker.models import Dashboard, Role, Run, SavedView
from tracker.series.compaction import compact_run
from web.pages.dashboards import widget_drawing

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
CHART, VALUE, TABLE, TEXT = "c0c0c0c0", "aaaaaaaa", "bbbbbbbb", "dddddddd"


@pytest.fixture
def runs(project):
    made = [
        make_run(project, name, "finished", started_at=START + place * SECOND)
        for place, name in enumerate(("slow", "fast"))
    ]
    for place, run in enumerate(made):
        write_series(run, "train/loss", [1.0, 0.5 - place / 4])
        write_values(run, {"params/lr": 0.1 * (place + 1)})
        compact_run(run.id)
    return made


@pytest.fixture
def visitor(client_of, member):
    return client_of(member)


@pytest.fixture
def viewer(client_of, member):
    return client_of(make_member("grace", Role.VIEWER, workspace=member.workspace))


@pytest.fixture
def listed(project):
    return reverse("dashboards", args=[project.workspace.slug, project.slug])


def widget(widget_id: str, kind: str, place: Place, **settings) -> Widget:
    return Widget(id=widget_id, kind=kind, place=place, settings=settings)


@pytest.fixture
def dashboard(project, runs, member):
    widgets = (
        widget(CHART, "chart", Place(0, 0, 6, 4), metrics=["train/loss"]),
        widget(VALUE, "value", Place(6, 0, 3, 2), metric="train/loss", over="lowest"),
        widget(TABLE, "table", Place(0, 4, 12, 4), columns=["params/lr"]),
        widget(TEXT, "text", Place(9, 0, 3, 2), text="**hello**"),
    )
    board = Board(widgets=widgets)
    return create_dashboard(project, "overview", board, user_id=member.user_id)


def body(visitor, dashboard, widget_id: str) -> str:
    address = reverse("widget-body", args=[dashboard.id, widget_id])
    return visitor.get(address).content.decode()


def post(visitor, page_name, /, *arguments, version=1, htmx=True, **fields):
    address = reverse(page_name, args=arguments)
    return visitor.post(
        address, {"version": version, **fields}, headers=HTMX if htmx else {}
    )


def board_of(dashboard) -> Board:
    return board_from(Dashboard.objects.get(id=dashboard.id).content)


# The list


def test_an_empty_list_says_what_a_dashboard_is(visitor, viewer, listed):
    assert "Start with an example" in visitor.get(listed).content.decode()
    assert "Start with an example" not in viewer.get(listed).content.decode()


def test_lists_dashboards_with_what_is_on_them(visitor, listed, dashboard):
    shown = visitor.get(listed).content.decode()

    assert reverse("dashboard", args=[dashboard.id]) in shown
    assert "4 widgets" in shown


def test_an_example_is_made_of_what_the_project_logs(visitor, listed, runs):
    response = visitor.post(listed, {"name": "Overview", "example": "1"})

    made = Dashboard.objects.get()
    assert response["Location"] == reverse("dashboard", args=[made.id])
    kinds = {each.kind: each.settings for each in board_of(made).widgets}
    assert kinds["chart"] == {"metrics": ["train/loss"]}
    assert kinds["value"]["over"] == "lowest"
    assert kinds["table"]["columns"] == ["train/loss", "params/lr"]
    for each in board_of(made).widgets:
        assert (
            visitor.get(reverse("widget-body", args=[made.id, each.id])).status_code
            == 200
        )


def test_an_example_of_an_empty_project_can_be_made_too(visitor, listed):
    visitor.post(listed, {"name": "Overview", "example": "1"})

    made = Dashboard.objects.get()
    assert visitor.get(reverse("dashboard", args=[made.id])).status_code == 200


def test_a_dashboard_can_be_about_the_runs_of_an_address(visitor, listed, runs):
    ids = f"{runs[1].id},{runs[0].id},{uuid4()},nonsense"
    assert "For 2 runs" in visitor.get(listed, {"runs": ids}).content.decode()

    visitor.post(listed, {"name": "Two", "runs": ids})

    assert board_of(Dashboard.objects.get()).run_set == RunSet(
        runs=(runs[1].id, runs[0].id)
    )


def test_a_refused_name_says_why(visitor, listed, dashboard):
    response = visitor.post(listed, {"name": "overview"})

    assert response.status_code == 400
    assert "already the name of a dashboard" in response.content.decode()


# The page


def test_shows_a_frame_for_each_widget(visitor, dashboard):
    shown = visitor.get(reverse("dashboard", args=[dashboard.id])).content.decode()

    assert shown.count('data-part="widget"') == 4
    assert reverse("widget-body", args=[dashboard.id, CHART]) in shown
    assert 'aria-label="train/loss"' in shown
    assert "the newest 10 runs" in shown


def test_a_chart_has_a_line_for_each_run(visitor, dashboard):
    figure = visitor.get(reverse("widget-figure", args=[dashboard.id, CHART])).json()

    assert {trace["name"] for trace in figure["data"]} == {"fast", "slow"}
    assert "fast" in body(visitor, dashboard, CHART)


def test_a_chart_can_be_over_another_series(visitor, project, member, runs):
    write_series(runs[0], "train/epoch", [0.0, 7.0])
    settings = {"metrics": ["train/loss"], "axis": "series", "over": "train/epoch"}
    board = Board(widgets=(widget(CHART, "chart", Place(), **settings),))
    made = create_dashboard(project, "epochs", board, user_id=member.user_id)

    figure = visitor.get(reverse("widget-figure", args=[made.id, CHART])).json()

    [line] = [trace for trace in figure["data"] if trace["name"] == "slow"]
    assert numbers(line["x"]).tolist() == [0.0, 7.0]
    assert any("fast" in note for note in figure["notes"])  # has no such series


def chart_of(project, member, **settings):
    board = Board(widgets=(widget(CHART, "chart", Place(), **settings),))
    return create_dashboard(project, "a chart", board, user_id=member.user_id)


def test_runs_with_the_same_value_are_drawn_as_one_line(visitor, project, member, runs):
    write_series(make_run(project, "third", "finished"), "train/loss", [1.0, 3.0])
    for run in runs:
        write_values(run, {"params/optimizer": "adam"})
    made = chart_of(project, member, metrics=["train/loss"], group="params/optimizer")

    figure = visitor.get(reverse("widget-figure", args=[made.id, CHART])).json()

    assert [read["name"] for read in figure["lines"]] == ["adam (2 runs)", "not set"]
    legend = body(visitor, made, CHART)
    assert 'aria-label="Groups"' in legend
    assert 'title="fast"' not in legend


def test_axes_have_the_chosen_ends_until_a_reader_zooms(visitor, project, member, runs):
    made = chart_of(
        project, member, metrics=["train/loss"], x_low=0.5, x_high=1.5, y_low=0
    )
    address = reverse("widget-figure", args=[made.id, CHART])

    layout = visitor.get(address).json()["layout"]
    zoomed = visitor.get(address, {"low": "0.25", "high": "1"}).json()["layout"]

    assert layout["xaxis"]["range"] == [0.5, 1.5]
    assert layout["yaxis"]["range"][0] == 0
    assert zoomed["xaxis"]["range"] == [0.25, 1]


def test_matches_beyond_the_first_six_are_counted(visitor, project, member, runs):
    for number in range(8):
        write_series(runs[0], f"val/{number}", [1.0])
    made = chart_of(project, member, pattern="^val/")

    assert "2 more series match." in body(visitor, made, CHART)


def test_a_chart_names_the_runs_in_which_several_wrote_at_once(
    visitor, project, dashboard, runs
):
    for rank in (0, 1):
        process = Process(project, runs[0].name, rank=rank)
        process.open()
        process.send([points_message("train/loss", [1.0, 2.0])])
    compact_run(runs[0].id)

    figure = visitor.get(reverse("widget-figure", args=[dashboard.id, CHART])).json()

    [note] = figure["notes"]
    assert note.startswith("Logged by")
    assert note.endswith(f": {runs[0].name}.")


def test_the_figure_is_not_sent_again_while_nothing_is_new(visitor, dashboard, runs):
    address = reverse("widget-figure", args=[dashboard.id, CHART])
    tag = visitor.get(address)["ETag"]

    assert visitor.get(address, headers={"If-None-Match": tag}).status_code == 304
    write_series(runs[0], "train/loss", [0.1], steps=[2])
    assert visitor.get(address, headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.parametrize("shown", [CHART, VALUE, TABLE])
def test_a_widget_is_not_drawn_again_while_nothing_is_new(
    visitor, dashboard, runs, monkeypatch, shown
):
    monkeypatch.setattr(widget_drawing, "time", SimpleNamespace(time=lambda: 0.0))
    address = reverse("widget-body", args=[dashboard.id, shown])
    with CaptureQueriesContext(connection) as whole:
        tag = visitor.get(address)["ETag"]

    with CaptureQueriesContext(connection) as idle:
        again = visitor.get(address, headers={"If-None-Match": tag})

    assert again.status_code == 304
    assert len(idle) < len(whole)
    write_values(runs[0], {"params/lr": 7.0})
    write_series(runs[0], "train/loss", [0.01], steps=[2])
    compact_run(runs[0].id)
    later = visitor.get(address, headers={"If-None-Match": tag})
    # A chart draws its new points by itself.
    assert later.status_code == (304 if shown == CHART else 200)


def test_a_widget_is_looked_up_again_for_what_people_change(
    visitor, member, project, runs, monkeypatch
):
    now = 0.0
    clock = SimpleNamespace(time=lambda: now)
    monkeypatch.setattr(widget_drawing, "time", clock)
    columns = widget(TABLE, "table", Place(), columns=["tags"])
    board = create_dashboard(
        project, "tags", Board(widgets=(columns,)), user_id=member.user_id
    )
    address = reverse("widget-body", args=[board.id, TABLE])
    tag = visitor.get(address)["ETag"]
    change_tags(project, [runs[0].id], add=["for the paper"], remove=[])

    now = widget_drawing.LOOK_SECONDS
    later = visitor.get(address, headers={"If-None-Match": tag})

    assert "for the paper" in later.content.decode()


def test_a_value_names_the_best_run(visitor, dashboard):
    shown = body(visitor, dashboard, VALUE)

    assert "0.25" in shown
    assert re.search(
        r'title="fast"[^>]*><bdi class="cut".*>fast</span></bdi></a>', shown
    )


@pytest.fixture
def tile(project, runs, member, visitor):
    """Return a function that shows a value, by default next to "fast" alone."""
    only_fast = RunSet(first=1, order="name")

    def tile(run_set=only_fast, **settings):
        value = widget(VALUE, "value", Place(), metric="train/loss", **settings)
        board = Board(widgets=(value,), run_set=run_set)
        name = f"tile {Dashboard.objects.count()}"
        made = create_dashboard(project, name, board, user_id=member.user_id)
        return body(visitor, made, VALUE)

    return tile


def test_a_value_is_of_all_matching_runs_and_links_its_run(tile, runs):
    slow, fast = runs

    shown = tile()
    assert "highest of 2 runs:" in shown
    assert f'href="/runs/{slow.id}/"' in shown
    assert ">0.5<" in shown
    assert f'href="/runs/{fast.id}/"' in tile(over="lowest")
    assert ">0.375<" in tile(over="mean")
    assert ">0.3<" not in tile(RunSet(query="params/lr < 0.15"), over="lowest")


def test_a_value_of_the_shown_runs_says_so(tile, runs):
    shown = tile(RunSet(first=2), include="shown")

    assert "highest of the 2 newest runs:" in shown
    assert ">0.25<" in tile(include="shown")
    assert ">0.25<" in tile(over="first")
    assert "highest of 2 runs:" in tile(RunSet(runs=tuple(run.id for run in runs)))


def test_a_value_is_compared_with_a_run_that_is_not_shown(tile, runs):
    slow = str(runs[0].id)

    assert "no longer among these runs" in tile(include="shown", reference=slow)
    shown = tile(over="lowest", reference=slow)
    assert "vs. <bdi>slow</bdi>" in shown
    assert "no longer among these runs" not in shown


def test_numeric_columns_have_the_labels_of_the_runs_table(visitor, dashboard):
    shown = body(visitor, dashboard, TABLE)

    head = '<th scope="col" class="number" title="params/lr"><bdi>lr</bdi></th>'
    assert head in shown


def test_a_legend_of_groups_names_the_parameter_and_counts_runs(
    visitor, project, runs, member
):
    chart = widget(
        CHART, "chart", Place(0, 0, 6, 4), metrics=["train/loss"], group="params/lr"
    )
    grouped = create_dashboard(
        project, "grouped", Board(widgets=(chart,)), user_id=member.user_id
    )

    legend = re.sub("<[^>]+>", "|", body(visitor, grouped, CHART).split("<figure")[0])
    texts = [text.strip() for text in legend.split("|") if text.strip()]
    assert texts[-5:] == ["lr", "0.1", "(1 run)", "0.2", "(1 run)"]


def test_a_table_has_a_row_for_each_run(visitor, dashboard):
    shown = body(visitor, dashboard, TABLE)

    assert shown.count('scope="row"') == 2
    assert "0.2" in shown


@pytest.fixture
def measured(project, runs, member):
    """A dashboard of diagnosis results, and attributes with the same names."""
    add_ledger(runs[0], computing=5_400.0, idle=1_800.0, energy=7.2e6)
    add_ledger(runs[1], computing=900.0, idle=2_700.0)
    add_finding(runs[0], "Waits for <data>", severity="critical")
    write_values(runs[1], {"energy": 77})
    columns = ["gpu_idle", "gpu_hours", "energy", "finding", "made_by", '"energy"']
    idle = {"metric": "gpu_idle", "over": "lowest", "reference": str(runs[1].id)}
    widgets = (
        widget(TABLE, "table", Place(0, 0, 12, 4), columns=columns),
        widget(VALUE, "value", Place(0, 4, 3, 2), **idle),
    )
    board = Board(widgets=widgets)
    return create_dashboard(project, "measured", board, user_id=member.user_id)


def test_a_table_shows_what_the_columns_of_runs_do(visitor, measured):
    shown = body(visitor, measured, TABLE)

    rows = [re.sub("<[^>]+>", "|", row) for row in shown.split("<tr>")[2:]]
    cells = [[cell for cell in row.split("|") if cell.strip()] for row in rows]
    assert [row[-6:] for row in cells if "slow" in row] == [
        ["25 %", "2", "2 kWh", "Waits for &lt;data&gt;", "ada", "–"]
    ]
    assert [row[-6:] for row in cells if "fast" in row] == [
        ["75 %", "1", "–", "–", "ada", "77"]
    ]
    assert "GPU idle" in shown


def test_a_value_can_be_one_that_every_run_has(visitor, measured):
    shown = body(visitor, measured, VALUE)
    page = visitor.get(reverse("dashboard", args=[measured.id])).content.decode()

    assert "25 %" in shown
    assert re.search(
        r'title="slow"[^>]*><bdi class="cut".*>slow</span></bdi></a>', shown
    )
    assert "\N{MINUS SIGN}50 points" in shown
    assert "GPU idle" in page


def test_a_value_that_no_run_has_says_so(visitor, project, runs, member):
    board = Board(widgets=(widget(VALUE, "value", Place(0, 0, 3, 2), metric="cpu"),))
    made = create_dashboard(project, "empty", board, user_id=member.user_id)

    assert "No run has this value" in body(visitor, made, VALUE)


def test_a_table_marks_a_silent_run(visitor, dashboard, project):
    make_run(project, "live")
    run = make_run(project, "quiet")
    heard = timezone.now() - timedelta(minutes=5)
    Run.objects.exclude(name="live").update(last_seen_at=heard)

    shown = body(visitor, dashboard, TABLE)

    assert (
        shown.count("running, but not responding for 5 min") == 2
    )  # a hint, and a text
    row = shown.split(f'href="/runs/{run.id}/"')[1].split("</tr>")[0]
    assert "chip--warning" in row
    assert "hx-get" in shown


def test_a_text_is_markdown(visitor, dashboard):
    assert "<strong>hello</strong>" in body(visitor, dashboard, TEXT)


GONE = {
    "no such metric": (widget(CHART, "chart", Place(), metrics=["gone"]), "None of"),
    "no series": (
        widget(CHART, "chart", Place(), metrics=["params/lr"]),
        "not a numeric series",
    ),
    "no series to count": (
        widget(CHART, "chart", Place(), metrics=["train/loss"], axis="series"),
        "Enter the series",
    ),
    "no such value": (widget(CHART, "value", Place(), metric="gone"), "None of these"),
    "no such ladder": (
        widget(CHART, "ladder", Place(), ladder=str(uuid4())),
        "was deleted",
    ),
    "no ledger": (widget(CHART, "ledger", Place()), "No time breakdown yet"),
    "no text": (widget(CHART, "text", Place(), text=" "), "No text yet"),
    "an unknown kind": (widget(CHART, "film", Place()), "does not support"),
    "strange settings": (
        widget(CHART, "chart", Place(), metrics=["a"], axis="up"),
        "Invalid widget settings",
    ),
    "runs that are gone": (
        Widget(
            id=CHART,
            kind="chart",
            settings={"metrics": ["train/loss"]},
            run_set=RunSet(runs=(uuid4(),)),
        ),
        "in the trash or deleted, or you cannot access them",
    ),
    "a query that finds none": (
        Widget(
            id=CHART,
            kind="chart",
            settings={"metrics": ["train/loss"]},
            run_set=RunSet(query="params/lr > 9"),
        ),
        "No runs match",
    ),
    "a query that is none": (
        Widget(
            id=CHART,
            kind="chart",
            settings={"metrics": ["train/loss"]},
            run_set=RunSet(query="params/lr >"),
        ),
        "Runs could not be loaded",
    ),
}


def test_runs_in_the_trash_stay_on_a_widget_that_is_changed(visitor, project, member):
    runs = [make_run(project, f"chosen {number}", "finished") for number in range(2)]
    ids = tuple(run.id for run in runs)
    value = Widget(
        id=VALUE,
        kind="value",
        settings={"metric": "train/loss", "reference": str(ids[0])},
        run_set=RunSet(runs=ids),
    )
    made = create_dashboard(
        project, "chosen", Board(widgets=(value,)), user_id=member.user_id
    )
    move_many_to_trash(project, ids)
    edit = reverse("widget-edit", args=[made.id, VALUE])

    form = visitor.get(edit).content.decode()
    found = {
        name: re.findall(rf'name="{name}" value="([^"]*)"', form)
        for name in ("run", "set-metric", "set-reference")
    }
    found |= {"set-summary": "last", "set-over": "lowest"}
    post(visitor, "widget-edit", made.id, VALUE, runs_of="list", title="new", **found)

    assert "chosen 0 (in the trash)" in form
    widget = board_of(made).widget(VALUE)
    assert (widget.title, widget.run_set.runs) == ("new", ids)
    assert widget.settings["reference"] == str(ids[0])


@pytest.mark.parametrize(("broken", "why"), GONE.values(), ids=GONE)
@pytest.mark.usefixtures("runs")
def test_a_widget_that_shows_nothing_says_why(visitor, project, member, broken, why):
    board = Board(widgets=(broken,))
    made = create_dashboard(project, "broken", board, user_id=member.user_id)

    assert visitor.get(reverse("dashboard", args=[made.id])).status_code == 200
    assert why in body(visitor, made, CHART)


def test_a_widget_that_was_removed_says_so(visitor, dashboard):
    address = reverse("widget-body", args=[dashboard.id, "00000000"])

    assert visitor.get(address).status_code == 404
    assert "was removed" in visitor.get(address).content.decode()


def test_a_widget_asks_again_soon_while_its_runs_are_live_and_seldom_otherwise(
    visitor, dashboard, project
):
    from tracker.models import Run

    Run.objects.update(ended_at="2020-01-01T00:00:00Z")
    assert 'hx-trigger="every 60s"' in body(visitor, dashboard, CHART)

    make_run(project, "growing")

    assert 'hx-trigger="every 10s"' in body(visitor, dashboard, CHART)
    assert "hx-trigger" not in body(visitor, dashboard, TEXT)


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", '"><img src=x>', "{{7*7}}", "__proto__"]
)
def test_strange_names_are_shown_as_they_are(visitor, project, member, name, listed):
    run = make_run(project, name, "finished")
    write_series(run, name, [1.0, 2.0])
    board = Board(
        widgets=(
            Widget(id=CHART, kind="chart", title=name, settings={"metrics": [name]}),
            Widget(id=VALUE, kind="value", settings={"metric": name}),
            Widget(id=TABLE, kind="table", settings={"columns": [name]}),
            Widget(id=TEXT, kind="text", settings={"text": name}),
        )
    )
    made = create_dashboard(project, name, board, user_id=member.user_id)

    pages = [
        visitor.get(listed).content.decode(),
        visitor.get(reverse("dashboard", args=[made.id])).content.decode(),
        *(body(visitor, made, each) for each in (CHART, VALUE, TABLE, TEXT)),
        visitor.get(reverse("widget-edit", args=[made.id, CHART])).content.decode(),
    ]
    for shown in pages:
        assert "<script>alert" not in shown
        assert "<img" not in shown
        assert ">49<" not in shown


# Changes


def test_a_widget_is_added_by_its_form(visitor, dashboard):
    address = reverse("widget-new", args=[dashboard.id])
    assert "Add a widget" in visitor.get(address).content.decode()
    assert "X axis" in visitor.get(address, {"kind": "chart"}).content.decode()

    response = visitor.post(
        f"{address}?kind=chart",
        {
            "version": 1,
            "title": "Both",
            "set-metrics": ["train/loss", " ", "train/loss", "val/loss"],
            "set-axis": "time",
            "set-smoothing": "0.9",
            "set-log": "1",
            "runs_of": "query",
            "query": "params/lr > 0",
            "order": "-path:",
            "order_path": "params/lr",
            "first": "3",
        },
        headers=HTMX,
    )

    assert response.status_code == 200
    assert "dialog-done" in response["HX-Trigger"]
    made = next(each for each in board_of(dashboard).widgets if each.title == "Both")
    assert made.settings == {
        "metrics": ["train/loss", "val/loss"],
        "axis": "time",
        "smoothing": 0.9,
        "log": True,
    }
    assert made.run_set == RunSet(
        query="params/lr > 0", order="-path:params/lr", first=3
    )


def test_a_widget_can_name_its_runs(visitor, dashboard, runs):
    response = post(
        visitor,
        "widget-edit",
        dashboard.id,
        VALUE,
        **{
            "set-metric": "train/loss",
            "set-summary": "min",
            "set-over": "lowest",
            "set-reference": "slow",
            "runs_of": "list",
            "run": ["slow", str(runs[1].id), ""],
        },
    )

    assert response.status_code == 200
    made = board_of(dashboard).widget(VALUE)
    assert made.run_set == RunSet(runs=(runs[0].id, runs[1].id))
    assert made.settings["reference"] == str(runs[0].id)
    shown = body(visitor, dashboard, VALUE)
    assert "\u22120.25 (\u221250 %)" in shown
    assert "vs." in shown


REFUSED = {
    "no metric": ({"set-metrics": " "}, "Metrics must not be empty"),
    "too many": ({"set-metrics": list("abcdefg")}, "can have at most 6"),
    "smoothing": ({"set-smoothing": "2"}, "Smoothing must be a number"),
    "an axis": ({"set-axis": "up"}, "axis"),
    "axis ends": ({"set-y_low": "2", "set-y_high": "1"}, "must begin below its end"),
    "an axis end": ({"set-x_low": "nan"}, "x_low is invalid"),
    "a query": ({"runs_of": "query", "query": "a >"}, "query is not understood"),
    "an order": ({"runs_of": "query", "order": "path:"}, "Metric must not be empty"),
    "a count": ({"runs_of": "query", "first": "0"}, "Limit must be a whole number"),
    "no runs": ({"runs_of": "list"}, "must be 1 to 100 runs"),
    "a run": ({"runs_of": "list", "run": "nobody"}, "is not a run of this project"),
    "no view": ({"runs_of": "view"}, "must be a shared view of this project"),
    "a view": (
        {"runs_of": "view", "view": str(uuid4())},
        "must be a shared view of this project",
    ),
    "a place": ({"x": "13"}, "First column must be from 1 to 12"),
    "many digits": ({"x": "9" * 5_000}, "First column must be from 1 to 12"),
    "a version": ({"version": "x"}, "version must be a whole number"),
}


@pytest.mark.parametrize(("fields", "why"), REFUSED.values(), ids=REFUSED)
def test_a_refused_form_says_why_beside_what_was_typed(visitor, dashboard, fields, why):
    typed = {"set-metrics": "train/loss", **fields}
    response = post(visitor, "widget-edit", dashboard.id, CHART, **typed)

    assert response.status_code == 400
    assert why in response.content.decode()
    assert response["HX-Retarget"] == "#dialog-refusal"
    assert Dashboard.objects.get().version == 1


def test_a_dashboard_follows_a_shared_view(visitor, dashboard, project, member):
    address = reverse("dashboard-runs", args=[dashboard.id])
    assert "No shared views yet" in visitor.get(address).content.decode()
    kept = {"project": project, "owner": member.user}
    SavedView.objects.create(name="mine alone", **kept)
    view = SavedView.objects.create(name="good", is_shared=True, state="q=slow", **kept)

    form = visitor.get(address).content.decode()
    assert f'<option value="{view.id}">good</option>' in form
    assert "mine alone" not in form
    post(
        visitor,
        "dashboard-runs",
        dashboard.id,
        runs_of="view",
        view=view.id,
        first_of_view="4",
    )

    assert board_of(dashboard).run_set == RunSet(view=view.id, first=4)
    page = visitor.get(reverse("dashboard", args=[dashboard.id])).content.decode()
    assert "the first 4 runs of view “good”" in page
    form = visitor.get(address).content.decode()
    assert f'<option value="{view.id}" selected>good</option>' in form
    assert body(visitor, dashboard, TABLE).count('scope="row"') == 1

    view.state = "q=nothing"
    view.save()
    assert "No runs match the view “good”" in body(visitor, dashboard, TABLE)
    view.state = "q=fast"
    view.save()
    assert ">fast</span>" in body(visitor, dashboard, TABLE)


def test_a_view_that_is_gone_is_said_wherever_it_was_meant(
    visitor, dashboard, project, member
):
    view = SavedView.objects.create(project=project, name="good", is_shared=True)
    post(visitor, "dashboard-runs", dashboard.id, runs_of="view", view=view.id)
    view.delete()

    page = visitor.get(reverse("dashboard", args=[dashboard.id])).content.decode()
    assert "a deleted view" in page
    assert "deleted or is no longer shared" in body(visitor, dashboard, TABLE)
    form = visitor.get(reverse("dashboard-runs", args=[dashboard.id]))
    assert "Saved view was deleted" in form.content.decode()


def test_the_dashboards_runs_can_be_changed(visitor, dashboard):
    address = reverse("dashboard-runs", args=[dashboard.id])
    assert "Runs to show" in visitor.get(address).content.decode()

    post(visitor, "dashboard-runs", dashboard.id, query="name = slow", first="5")

    assert board_of(dashboard).run_set == RunSet(query="name = slow", first=5)
    figure = visitor.get(reverse("widget-figure", args=[dashboard.id, CHART])).json()
    assert [trace["name"] for trace in figure["data"]] == ["slow"]


def test_a_widget_is_moved(visitor, dashboard):
    place = {"x": "6", "y": "0", "width": "6", "height": "2"}
    response = post(visitor, "widget-place", dashboard.id, TABLE, **place)

    assert response.status_code == 200
    assert board_of(dashboard).widget(TABLE).place == Place(6, 0, 6, 2)


def test_a_removed_widget_can_be_put_back(visitor, dashboard):
    response = post(visitor, "widget-remove", dashboard.id, VALUE)
    assert "Undo" in response.content.decode()
    assert board_of(dashboard).widget(VALUE) is None

    post(visitor, "widget-put-back", dashboard.id, VALUE, version=2)
    assert board_of(dashboard).widget(VALUE).place == Place(6, 0, 3, 2)


def test_who_comes_second_is_told_and_keeps_what_they_typed(
    visitor, dashboard, client_of, member
):
    grace = client_of(make_member("grace", Role.MEMBER, workspace=member.workspace))
    post(grace, "widget-remove", dashboard.id, TEXT)

    response = post(
        visitor, "widget-edit", dashboard.id, CHART, **{"set-metrics": "val/loss"}
    )

    shown = response.content.decode()
    assert response.status_code == 409
    assert "grace changed this dashboard" in shown
    assert 'name="version" value="2"' in shown
    assert board_of(dashboard).widget(CHART).settings == {"metrics": ["train/loss"]}


def test_without_a_script_a_change_leads_back_to_the_page(visitor, dashboard):
    response = post(visitor, "widget-remove", dashboard.id, VALUE, htmx=False)

    assert response["Location"] == reverse("dashboard", args=[dashboard.id])


def test_renames_duplicates_and_deletes(visitor, dashboard, listed):
    post(visitor, "dashboard-rename", dashboard.id, name="nightly")
    assert Dashboard.objects.get().name == "nightly"

    post(visitor, "dashboard-duplicate", dashboard.id)
    assert Dashboard.objects.count() == 2

    response = post(visitor, "dashboard-delete", dashboard.id)
    assert response["Location"] == listed
    assert Dashboard.objects.get().name == "nightly (copy)"


def test_a_refused_name_keeps_the_page(visitor, dashboard):
    response = post(visitor, "dashboard-rename", dashboard.id, name=" ")

    assert response.status_code == 400
    assert "name must be text" in response.content.decode()
    assert Dashboard.objects.get().name == "overview"


# Permissions


PAGES = [
    ("dashboard", []),
    ("dashboard-runs", []),
    ("widget-new", []),
    ("widget-body", [CHART]),
    ("widget-figure", [CHART]),
    ("widget-edit", [CHART]),
]
CHANGES = [
    ("dashboard-rename", []),
    ("dashboard-duplicate", []),
    ("dashboard-delete", []),
    ("dashboard-runs", []),
    ("widget-new", []),
    ("widget-edit", [CHART]),
    ("widget-place", [CHART]),
    ("widget-remove", [CHART]),
    ("widget-put-back", [CHART]),
]


def test_a_viewer_may_look_but_not_change(viewer, dashboard, listed):
    shown = viewer.get(reverse("dashboard", args=[dashboard.id])).content.decode()
    assert "Add widget" not in shown
    assert "Edit" not in shown

    for name, arguments in CHANGES:
        assert post(viewer, name, dashboard.id, *arguments).status_code == 403, name
    assert viewer.post(listed, {"name": "x"}).status_code == 403
    assert Dashboard.objects.get().version == 1


def test_for_a_stranger_there_is_no_such_dashboard(
    client_of, stranger, dashboard, listed
):
    visitor = client_of(stranger)

    for name, arguments in PAGES:
        address = reverse(name, args=[dashboard.id, *arguments])
        assert visitor.get(address).status_code == 404, name
    for name, arguments in CHANGES:
        assert post(visitor, name, dashboard.id, *arguments).status_code == 404, name
    assert visitor.get(listed).status_code == 404


def test_changes_need_a_post(visitor, dashboard):
    for name, arguments in CHANGES:
        if (name, arguments) not in PAGES:
            address = reverse(name, args=[dashboard.id, *arguments])
            assert visitor.get(address).status_code == 405, name


def test_a_forged_request_is_refused(dashboard, member):
    visitor = Client(enforce_csrf_checks=True)
    visitor.force_login(member.user)

    assert post(visitor, "widget-remove", dashboard.id, CHART).status_code == 403
    assert Dashboard.objects.get().version == 1
