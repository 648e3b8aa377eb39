"""The comparison page and the endpoints of its scripts."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

import orjson
import pytest
from django.urls import reverse
from django.utils import timezone

from tests.builders import (
    browser_of,
    make_project,
    make_run,
    points_message,
    set_message,
    write,
    write_series,
    write_values,
)
from tests.ladder_runs import DEMO, make_measured_run
from tests.web.sample_run import make_sample_run
from tracker.actions.chart_arrangements import keep_arrangement
from tracker.models import Attribute, Role, Run
from tracker.series.compaction import compact_run
from web.figures.traces import RUN_COLOURS
from web.pages.compare.frame import COLOUR_NAMES
from web.pages.compare.state import TABS

pytestmark = pytest.mark.django_db

MEASURED = ("monitoring/train/step/seconds", "monitoring/train/job/cpu_cores")


@pytest.fixture
def runs(project):
    return [make_run(project, name, "finished") for name in ("first", "second")]


@pytest.fixture
def visitor(client_of, member):
    return client_of(member)


@pytest.fixture
def get(visitor, project):
    """Return a function that opens one of the comparison's addresses."""

    def get(*runs, name="compare", headers=None, **query):
        ids = ",".join(str(getattr(run, "id", run)) for run in runs)
        address = reverse(name, args=[project.workspace.slug, project.slug])
        return visitor.get(address, {"runs": ids, **query}, headers=headers)

    return get


def text(response) -> str:
    return response.content.decode()


def test_says_how_to_begin_when_nothing_is_chosen(get):
    page = text(get())

    assert "Nothing to compare yet" in page
    assert "runs table" in page


def test_one_run_asks_for_a_second(get, runs):
    assert "Add a second run" in text(get(runs[0]))


def test_each_run_has_its_colour_and_a_way_to_remove_it(get, runs):
    page = text(get(*runs))

    listed = page.split("compare-runs__list")[1].split("</ul>")[0]
    assert re.findall(r"run-colour--(\d)", listed) == ["0", "1"]
    assert 'name="change" value="remove.0"' in page
    assert get(*runs, change="remove.0").headers["Location"] == (
        f"/w/ada-workspace/vision/compare?runs={runs[1].id}&colours=1"
    )


def test_a_silent_run_is_marked_and_the_list_asks_again(get, project):
    silent, ended = make_run(project, "silent"), make_run(project, "ended", "failed")
    heard = timezone.now() - timedelta(minutes=5)
    Run.objects.filter(project=project).update(last_seen_at=heard)

    page = text(get(silent, ended, tab="table", colours="4.2"))
    (asked,) = re.findall(r'id="compare-states" hx-get="([^"]+)"', page)
    again = text(get(silent, ended, colours="4.2", headers={"hx-request": "true"}))

    # As a hint, and as a text.
    assert page.count("running, but not responding for 5 min") == 2
    assert unescape(asked).endswith(f"?runs={silent.id},{ended.id}&colours=4.2")
    assert len(again) < 2_000
    for slot, said in ((4, "not responding for 5 min"), (2, "chip--failed")):
        state = again.split(f'id="state-{slot}" hx-swap-oob')[1].split("state-")[0]
        assert said in state


def test_when_all_have_ended_the_list_asks_no_more(get, runs):
    Run.objects.update(ended_at=timezone.now() - timedelta(hours=1))

    assert "hx-get" not in text(get(*runs, headers={"hx-request": "true"}))


def test_a_run_of_many_is_told_from_that_with_the_same_colour(get, project):
    runs = [make_run(project, f"run-{number}", "finished") for number in range(32)]
    write_series(runs[31], "train/loss", [2.0, 1.0])

    page = text(get(*runs))
    figure = get(*runs, name="compare-figure", path="train/loss").json()

    assert page.count("run-colour--1 run-colour--round-1") == 1
    assert page.count("run-colour--1 run-colour--round-3") == 1
    (trace,) = figure["data"]
    assert trace["line"]["color"] == "var(--run-1)"
    assert trace["line"]["dash"] == "dashdot"
    assert figure["slots"] == [[31]]


def test_a_list_of_many_runs_can_be_searched_and_hidden_at_once(get, project, runs):
    many = [make_run(project, f"run-{number}") for number in range(13)]

    assert "Find a run" not in text(get(*runs))
    page = text(get(*many))
    assert "Find a run" in page
    assert "hidden=0.1.2.3.4.5.6.7.8.9.10.11.12" in page


@pytest.mark.parametrize(
    "hidden",
    ["00000000-0000-4000-8000-000000000000", "nonsense", "a\0b", "<script>alert(1)"],
)
def test_unknown_runs_are_named_without_breaking_the_page(get, runs, hidden):
    response = get(*runs, hidden)

    assert response.status_code == 200
    assert "This run does not exist, or you cannot access it" in text(response)
    assert "<script>alert" not in text(response)


def test_forbidden_and_absent_runs_look_the_same(get, runs, stranger):
    hidden = make_run(make_project(stranger, "secret"), "hidden")
    absent = uuid4()

    of_hidden, of_absent = text(get(*runs, hidden)), text(get(*runs, absent))

    mask = r'name="csrfmiddlewaretoken" value="[^"]*"|"X-CSRFToken": "[^"]*"'
    assert re.sub(mask, "", of_hidden).replace(str(hidden.id), "?") == re.sub(
        mask, "", of_absent
    ).replace(str(absent), "?")


def test_says_how_many_runs_are_too_many(get):
    assert "3 more runs in this URL are not shown" in text(
        get(*(uuid4() for _ in range(103)))
    )


def test_a_chart_for_each_series_that_any_run_has(get, runs):
    write_series(runs[0], "train/loss", [2.0, 1.0])
    write_series(runs[1], "monitoring/train/job/cpu_cores", [1.0])

    page = text(get(*runs))

    assert "2 charts" in page
    assert page.index("train/loss") < page.index("monitoring/train/job/cpu_cores")
    assert page.count('data-behaviour="chart"') == 1
    assert "[&quot;monitoring/train/job/cpu_cores&quot;]" in page


def test_charts_can_be_narrowed_by_their_path(get, runs):
    write_series(runs[0], "train/loss", [1.0])
    write_series(runs[0], "train/accuracy", [1.0])

    assert text(get(*runs, text="LOSS")).count('data-behaviour="chart"') == 1
    assert "No series path contains “xyz”" in text(get(*runs, text="xyz"))


def test_a_figure_has_a_line_for_each_run_that_has_the_series(get, runs):
    write_series(runs[1], "train/loss", [2.0, 1.0])

    figure = get(*runs, name="compare-figure", path="train/loss").json()

    (trace,) = figure["data"]
    assert (trace["name"], trace["line"]["color"]) == ("second", "var(--run-1)")
    assert figure["live"] is False


@pytest.mark.parametrize("axis", ["step", "relative", "time"])
def test_a_figure_has_the_axis_asked_for(get, runs, axis):
    write_series(runs[0], "train/loss", [2.0, 1.0])

    figure = get(*runs, name="compare-figure", path="train/loss", axis=axis).json()

    kind = "date" if axis == "time" else "linear"
    assert figure["layout"]["xaxis"]["type"] == kind


@pytest.mark.parametrize("path", ["", "nothing", "a\0b", "x" * 2_000, "__proto__"])
def test_a_figure_of_no_series_is_empty(get, runs, path):
    assert get(*runs, name="compare-figure", path=path).json()["data"] == []


@pytest.mark.parametrize("low", ["x", "nan", "inf"])
def test_a_range_must_be_of_numbers(get, runs, low):
    response = get(*runs, name="compare-figure", path="train/loss", low=low)

    assert response.status_code == 400


def test_the_table_has_values_changes_and_marks(get, runs):
    write_values(runs[0], {"test/score": 0.1, "params/name": "adam"})
    write_values(runs[1], {"test/score": 0.2})

    answer = get(*runs, name="compare-table").json()

    assert answer == {
        "rows": [
            [
                "params/name",
                "params",
                False,
                [["adam", "", False, ""], [None, "", True, ""]],
                False,
            ],
            [
                "test/score",
                "test",
                False,
                [["0.1", "", False, "0.1"], ["0.2", "+0.1 (+100 %)", True, "0.2"]],
                False,
            ],
        ],
        "paths": 2,
        "next_offset": None,
        "live": False,
    }


def test_the_table_compares_with_the_reference_asked_for(get, runs):
    write_values(runs[0], {"test/score": 0.1})
    write_values(runs[1], {"test/score": 0.2})

    answer = get(*runs, name="compare-table", reference=str(runs[1].id)).json()

    ((_, _, _, cells, _),) = answer["rows"]
    assert [cell[1] for cell in cells] == ["\N{MINUS SIGN}0.1 (\N{MINUS SIGN}50 %)", ""]


def test_the_table_shows_everything_when_asked(get, runs):
    for run in runs:
        write_values(run, {"params/lr": 0.1})

    assert get(*runs, name="compare-table").json()["rows"] == []
    assert len(get(*runs, name="compare-table", rows="all").json()["rows"]) == 1


@pytest.mark.parametrize(
    "path", ["__proto__", "constructor/toString", "<script>", "a/../b"]
)
def test_strange_paths_are_values_never_keys(get, runs, path):
    write_values(runs[0], {path: 1})

    ((shown, *_),) = get(*runs, name="compare-table").json()["rows"]
    assert shown == path


def test_the_table_is_answered_page_by_page(get, runs):
    write_values(runs[0], {f"params/{number:04}": number for number in range(251)})

    first = get(*runs, name="compare-table").json()
    last = get(*runs, name="compare-table", offset=first["next_offset"]).json()

    assert (len(first["rows"]), len(last["rows"])) == (250, 1)
    assert last["next_offset"] is None


@pytest.mark.parametrize("offset", ["-1", "x", "1" * 12, "²"])
def test_an_offset_must_be_a_number(get, runs, offset):
    assert get(*runs, name="compare-table", offset=offset).status_code == 400


def test_finds_runs_to_add(get, runs, project):
    make_run(project, "third")
    heard = timezone.now() - timedelta(minutes=5)
    Run.objects.filter(name="third").update(last_seen_at=heard)

    found = text(get(runs[0], name="compare-search", q="i"))

    assert ">third<" in found
    assert "running, but not responding for 5 min" in found
    assert ">second<" not in found
    assert f"runs={runs[0].id}," in found


@pytest.mark.parametrize("query", ["a\0", "x" * 2_000])
def test_refuses_to_search_for_what_no_name_can_hold(get, runs, query):
    query = query.encode("utf-8", "surrogatepass")

    assert get(runs[0], name="compare-search", q=query).status_code in (200, 400)


def test_shows_diagnoses_side_by_side(get, project):
    runs = [make_measured_run(project, job) for job in (DEMO[0], DEMO[2])]

    page = text(get(*runs, tab="findings"))

    assert "Not enough data-loader workers" in page
    assert "<strong>fixed</strong>" in page
    # Time breakdowns side by side, above the findings.
    assert page.index("Time breakdown") < page.index("Not enough data-loader")


def test_a_finding_leads_to_the_run_that_has_it_and_to_its_rule(get, project):
    run, other = [make_measured_run(project, job) for job in (DEMO[0], DEMO[2])]

    page = text(get(run, other, tab="findings"))

    assert f'href="/runs/{run.id}/#too-few-loader-workers"' in page
    assert f'href="/runs/{other.id}/#too-few-loader-workers"' not in page
    assert 'href="/docs/rules/too-few-loader-workers"' in page


def test_a_finding_that_is_still_there_is_told_with_its_measure(get, project):
    runs = [make_measured_run(project, job) for job in DEMO[:2]]

    page = text(get(*runs, tab="findings"))

    assert re.search(r"compare-became--(smaller|larger)\">(smaller|larger)<", page)
    assert "share of step time, from data_wait_seconds; limit 10 %" in page


def test_says_which_runs_are_not_diagnosed(get, runs):
    assert "Not diagnosed yet" in text(get(*runs, tab="findings"))


def test_offers_a_ladder_to_those_who_may_edit(get, runs, client_of, project):
    from tests.builders import make_member

    viewer = make_member("vera", Role.VIEWER, workspace=project.workspace)
    address = reverse("compare", args=[project.workspace.slug, project.slug])
    query = {"runs": f"{runs[0].id},{runs[1].id}"}

    assert "Create ladder" in text(get(*runs))
    assert "Create ladder" not in text(client_of(viewer).get(address, query))


@pytest.mark.parametrize(
    "name",
    [
        "compare",
        "compare-figure",
        "compare-table",
        "compare-search",
        "compare-scatter",
        "compare-hardware",
    ],
)
def test_for_a_stranger_there_is_no_such_project(name, client_of, stranger, project):
    address = reverse(name, args=[project.workspace.slug, project.slug])

    assert client_of(stranger).get(address).status_code == 404


@pytest.mark.parametrize(
    "name",
    [
        "compare",
        "compare-figure",
        "compare-table",
        "compare-search",
        "compare-scatter",
        "compare-hardware",
    ],
)
def test_only_reads(name, visitor, client, project):
    address = reverse(name, args=[project.workspace.slug, project.slug])

    assert visitor.post(address).status_code == 405
    assert client.get(address).status_code == 302


@pytest.mark.parametrize("tab", ["charts", "table", "parallel", "scatter"])
def test_as_many_queries_for_many_attributes_as_for_few(
    tab, get, runs, django_assert_max_num_queries
):
    write_series(runs[0], "train/loss", [1.0])
    with django_assert_max_num_queries(20) as before:
        get(*runs, tab=tab)

    write(runs[1], [points_message(f"train/loss{n}", [1.0]) for n in range(60)])
    compact_run(runs[1].id)
    with django_assert_max_num_queries(len(before)):
        get(*runs, tab=tab)


@pytest.mark.parametrize(
    "asked",
    [
        *({"tab": tab} for tab in ("charts", "table", "source", "parallel", "scatter")),
        {"name": "compare-figure", "path": "train/loss"},
        {"name": "compare-figure", "path": "train/loss", "together": "params/lr"},
        {"name": "compare-figure", "path": "train/loss", "chart": "params/lr"},
        {"tab": "charts", "colour": "params/lr", "dash": "params/seed"},
        {"name": "compare-table"},
        {"name": "compare-scatter"},
        *({"name": "compare-hardware", "align": a} for a in ("run", "stage", "step")),
    ],
    ids=lambda asked: "-".join(asked.values()),
)
def test_as_many_queries_for_many_runs_as_for_few(
    asked, get, project, django_assert_max_num_queries
):
    runs = [make_run(project, f"run {number}", "finished") for number in range(6)]
    logged = [points_message(path, [2.0, 1.0]) for path in ("train/loss", *MEASURED)]
    for run in runs:
        write(run, [*logged, set_message("params/lr", 0.1)])
        compact_run(run.id)
    with django_assert_max_num_queries(30) as before:
        get(*runs[:2], **asked)

    with django_assert_max_num_queries(len(before)):
        get(*runs, **asked)


def test_as_many_queries_for_the_findings_of_many_runs_as_of_few(
    get, project, django_assert_max_num_queries
):
    runs = [make_sample_run(project, f"run {number}") for number in range(4)]
    with django_assert_max_num_queries(20) as before:
        get(*runs[:2], tab="findings")

    with django_assert_max_num_queries(len(before)):
        get(*runs, tab="findings")


def test_a_running_run_makes_the_charts_live(get, runs):
    write_series(runs[0], "train/loss", [1.0])
    Run.objects.filter(id=runs[0].id).update(state="running")

    assert 'data-live="true"' in text(get(*runs))


def test_a_hidden_run_is_listed_and_not_drawn(get, runs):
    for run in runs:
        write_series(run, "train/loss", [2.0, 1.0])

    page = text(get(*runs, hidden="0"))
    figure = get(*runs, name="compare-figure", path="train/loss", hidden="0").json()

    assert "1 hidden" in page
    assert "Show first" in page
    assert [trace["name"] for trace in figure["data"]] == ["second"]
    assert figure["data"][0]["line"]["color"] == "var(--run-1)"


def test_says_how_to_go_on_when_all_are_hidden(get, runs):
    assert "All runs are hidden" in text(get(*runs, hidden="0.1"))


def test_a_run_keeps_its_colour_when_another_leaves(get, runs):
    write_series(runs[1], "train/loss", [2.0, 1.0])

    figure = get(runs[1], name="compare-figure", path="train/loss", colours="7").json()

    assert figure["data"][0]["line"]["color"] == "var(--run-7)"


CHOOSES = 'role="menuitemradio"'


def test_a_run_is_given_a_colour_by_the_address(get, runs):
    for run in runs:
        write_series(run, "train/loss", [2.0, 1.0])

    answer = get(*runs, change="colour.0.1", hidden="0", tab="hardware")
    asked = dict(parse_qsl(urlsplit(answer.headers["Location"]).query))
    figure = get(
        *runs, name="compare-figure", path="train/loss", colours=asked["colours"]
    ).json()

    assert (asked["colours"], asked["hidden"], asked["tab"]) == ("1.0", "1", "hardware")
    assert [(trace["name"], trace["line"]["color"]) for trace in figure["data"]] == [
        *[("first", "var(--run-1)"), ("second", "var(--run-0)")]
    ]


def test_there_is_a_name_for_each_colour(get, runs):
    page = text(get(*runs))

    assert len(set(map(str, COLOUR_NAMES))) == RUN_COLOURS
    assert page.count(CHOOSES) == RUN_COLOURS
    assert page.count('data-part="run-menu"') == len(runs)


def test_no_colour_is_chosen_where_colours_tell_values(get, runs):
    for run in runs:
        write_values(run, {"params/lr": 0.1})

    for tab, offered in (("charts", 0), ("scatter", 0), ("table", RUN_COLOURS)):
        page = text(get(*runs, tab=tab, colour="params/lr"))
        assert page.count(CHOOSES) == offered, tab
        # The menus still set the reference and remove runs.
        assert page.count('data-part="run-menu"') == len(runs)


@pytest.mark.parametrize("number", range(1, 8))
def test_a_key_opens_each_tab(get, runs, number):
    assert f'aria-keyshortcuts="{number}"' in text(get(*runs))


@pytest.fixture
def sweep(project):
    """Runs of two optimizers and three learning rates, the last without an optimizer."""
    runs = []
    for number in range(6):
        run = make_run(project, f"sweep-{number}", "finished")
        values = {"params/lr": [0.1, 0.2, 0.3][number % 3]}
        if number < 5:
            values["params/optimizer"] = ["<b>adam</b>", "sgd"][number % 2]
        write_values(run, values)
        write_series(run, "train/loss", [2.0 + number, 1.0])
        runs.append(run)
    return runs


def drawn_of(figure) -> list[tuple[str, str, str]]:
    return [
        (trace["name"], trace["line"]["color"], trace["line"]["dash"])
        for trace in figure["data"]
    ]


def test_lines_are_divided_by_colour_and_by_dash(get, sweep):
    asked = {"colour": "params/lr", "dash": "params/optimizer"}

    page = text(get(*sweep, **asked))
    figure = get(*sweep, name="compare-figure", path="train/loss", **asked).json()

    assert "&lt;b&gt;adam&lt;/b&gt;" in page
    assert "not set" in page
    assert "colour=params%2Flr" in page
    assert drawn_of(figure) == [
        ("sweep-0", "var(--run-0)", "solid"),
        ("sweep-1", "var(--run-1)", "dash"),
        ("sweep-2", "var(--run-2)", "solid"),
        ("sweep-3", "var(--run-0)", "dash"),
        ("sweep-4", "var(--run-1)", "solid"),
        ("sweep-5", "var(--run-2)", "dot"),
    ]


def test_each_value_has_a_chart_as_high_as_the_others(get, sweep):
    page = text(get(*sweep, chart="params/optimizer"))
    figures = [
        get(
            *sweep,
            name="compare-figure",
            path="train/loss",
            chart="params/optimizer",
            part=str(part),
        ).json()
        for part in range(4)
    ]

    assert page.count('data-behaviour="chart"') == 3
    assert "Chart of train/loss, params/optimizer not set" in page
    assert [figure["slots"] for figure in figures] == [
        [[0], [2], [4]],
        [[1], [3]],
        [[5]],
        [],
    ]
    heights = {str(figure["layout"]["yaxis"]["range"]) for figure in figures[:3]}
    assert len(heights) == 1


def test_runs_of_one_setting_are_one_line_in_each_chart_and_colour(get, sweep):
    figure = get(
        *sweep,
        name="compare-figure",
        path="train/loss",
        together="params/lr",
        colour="params/lr",
        chart="params/optimizer",
        part="0",
    ).json()

    assert {trace["name"] for trace in figure["data"] if "name" in trace} == {
        *("0.1", "0.3", "0.2")
    }
    all_at_once = get(
        *sweep, name="compare-figure", path="train/loss", together="params/lr"
    ).json()
    assert [0, 3] in all_at_once["slots"]


def test_values_that_have_no_chart_are_counted(get, project):
    runs = [make_run(project, f"seed-{number}", "finished") for number in range(14)]
    for number, run in enumerate(runs):
        write_values(run, {"params/seed": number})
        write_series(run, "train/loss", [1.0])

    page = text(get(*runs, chart="params/seed"))

    assert page.count('data-behaviour="chart"') == 12
    assert "has 14 values" in page
    assert "2 runs with the other 2 are not shown" in page


@pytest.mark.parametrize("part", ["-1", "x", ""])
def test_a_part_must_be_a_number(get, runs, part):
    asked = {"name": "compare-figure", "path": "train/loss", "part": part}

    assert get(*runs, chart="params/lr", **asked).status_code == 400


def test_smoothing_and_logarithm_are_part_of_the_address(get, runs):
    write_series(runs[0], "train/loss", [2.0, 1.0])

    page = text(get(*runs, smoothing="0.6", log="1"))
    figure = get(
        *runs, name="compare-figure", path="train/loss", smoothing="0.6", log="1"
    ).json()

    assert "smoothing=0.6&amp;log=1" in page
    assert figure["layout"]["yaxis"]["type"] == "log"
    assert len(figure["data"]) == 2


def test_a_zoom_is_part_of_the_address_until_the_axis_is_another(get, runs):
    write_series(runs[0], "train/loss", [2.0, 1.0])

    page = text(get(*runs, low="0.5", high="2"))
    (asked,) = re.findall('data-chart-query="([^"]*)"', page)
    assert "low=0.5&amp;high=2.0" in asked
    assert re.search('data-part="unzoom">', page)
    ways = re.findall('<a data-keeps-zoom href="([^"]*)"', page)
    assert len(ways) >= len(TABS)
    assert all("low=0.5" in way for way in ways)
    axes = re.findall('<a href="([^"]*axis=(?:relative|time)[^"]*)"', page)
    assert len(axes) == 2
    assert not any("low=" in way for way in axes)
    assert 'data-part="unzoom" hidden>' in text(get(*runs))


PINNED = '{"pinned":[["val/loss"]],"size":"large"}'


@pytest.mark.parametrize("is_kept", [True, False])
def test_charts_stand_as_their_reader_or_the_address_arranges_them(
    get, runs, member, is_kept
):
    for path in ("train/loss", "val/loss"):
        write_series(runs[0], path, [2.0, 1.0])
    if is_kept:
        keep_arrangement(runs[0].project, browser_of(member), orjson.loads(PINNED))

    answer = get(*runs, **({} if is_kept else {"layout": PINNED}))

    first, _, training, validation = answer.context["sections"]
    assert [card.title for card in first.cards] == ["val/loss"]
    assert [card.title for card in training.cards] == ["train/loss"]
    assert (validation.shown_count, validation.is_open) == (0, True)
    assert 'data-size="large"' in text(answer)
    ways = re.findall('<a data-keeps-zoom href="([^"]*)"', text(answer))
    assert {"layout=" in way for way in ways} == {not is_kept}
    # The search also applies to pinned charts.
    searched = get(*runs, layout=PINNED, text="train")
    assert not searched.context["sections"][0].cards


def test_an_arrangement_that_no_page_writes_is_left_out(get, runs):
    write_series(runs[0], "train/loss", [2.0, 1.0])

    for layout in ("x", '{"size": "vast"}'):
        answer = get(*runs, layout=layout)
        assert answer.status_code == 200
        assert answer.context["state"].layout == ""


def test_compares_what_two_runs_were_made_from(get, runs):
    for run, lr in zip(runs, (0.1, 0.2), strict=True):
        write_values(
            run, {"params/lr": lr, "monitoring/train/source/text": f"a\nlr={lr}\nb"}
        )
    write_values(runs[1], {"monitoring/train/packages/list": "numpy==2.0"})

    page = text(get(*runs, tab="source"))

    assert "3 of 3 parts differ" in page
    assert "lr=0.<mark>1</mark>" in page
    assert "lr=0.<mark>2</mark>" in page
    assert "not captured for first" in page


@pytest.mark.parametrize("view", ["unified", "split"])
def test_sources_of_strangers_are_shown_letter_for_letter(get, runs, view):
    hostile = "<script>alert(1)</script>\x1b[31m"
    write_values(runs[0], {"monitoring/train/source/text": hostile})

    page = text(get(*runs, tab="source", view=view))

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_says_how_to_capture_when_nothing_was(get, runs):
    page = text(get(*runs, tab="source"))

    assert "No source captured" in page
    assert "SEAMARK_URL=http://testserver" in page
    assert "project=&quot;vision&quot;" in page


def test_parallel_coordinates_take_what_differs_and_what_says_most(get, runs):
    for run, lr in zip(runs, (0.1, 0.2), strict=True):
        write_values(run, {"params/lr": lr, "params/seed": 1, "test/accuracy": lr})

    page = text(get(*runs, tab="parallel"))

    axes = re.findall(r'<li class="chip"><span class="clip">([^<]+)', page)
    assert axes == ["params/lr", "test/accuracy"]


def test_parallel_coordinates_stand_beside_all_runs_of_a_query(get, runs, project):
    other = make_run(project, "other", "finished")
    write_values(other, {"params/lr": 0.5})

    found = text(get(*runs, tab="parallel", among="1", query="params/lr > 0.4"))
    mistaken = text(get(*runs, tab="parallel", among="1", query="params/lr >"))

    assert str(other.id) in found
    assert "plus 1" in found
    assert "Invalid query" in mistaken


def test_a_scatter_has_a_point_for_each_run_that_has_both_values(get, runs):
    write_values(runs[0], {"params/lr": 0.1, "score": 1.0})
    write_values(runs[1], {"params/lr": 0.2, "score": float("nan")})

    figure = get(*runs, name="compare-scatter", x="params/lr", y="score").json()

    (trace,) = figure["data"]
    assert trace["text"] == ["first"]
    assert trace["customdata"][0][0] == str(runs[0].id)
    assert "second" in figure["notes"][0]


@pytest.mark.parametrize("align", ["run", "stage", "step"])
def test_hardware_of_runs_lies_on_one_axis(get, project, align):
    runs = [make_measured_run(project, job) for job in DEMO[:2]]

    figure = get(*runs, name="compare-hardware", align=align).json()

    rows = {trace["name"] for trace in figure["data"]}
    assert rows == {"baseline", "decoded"}
    title = figure["layout"]["xaxis"]["title"]["text"]
    assert (
        title
        == {
            "run": "seconds since run start",
            "stage": "seconds since stage start",
            "step": "step",
        }[align]
    )


@pytest.mark.parametrize(
    "query",
    [
        {"tab": "parallel", "dimension": "__proto__", "brush": "x:y:z"},
        {"tab": "scatter", "x": "a\0b", "y": "<script>"},
        {"tab": "hardware", "stage": "nothing", "align": "sideways"},
        {"tab": "source", "left": "nonsense", "stage": "a\0"},
        {"hidden": "99", "colours": "0.0"},
    ],
)
def test_what_the_address_cannot_mean_breaks_no_tab(get, runs, query):
    response = get(*runs, **query)

    assert response.status_code == 200
    assert "<script>" not in text(response)


def test_runs_with_the_same_value_are_drawn_as_one_line(get, project):
    levels = {"a": ("adam", 1.0), "b": ("adam", 3.0), "c": ("sgd", 7.0)}
    runs = []
    for name, (optimizer, level) in levels.items():
        run = make_run(project, name, "finished")
        write_values(run, {"params/optimizer": optimizer})
        write_series(run, "train/loss", [level, level])
        runs.append(run)

    page = text(get(*runs, together="params/optimizer"))
    query = {"path": "train/loss", "together": "params/optimizer"}
    figure = get(*runs, name="compare-figure", **query).json()

    assert "together=params%2Foptimizer" in page
    lines = {trace["name"]: trace for trace in figure["data"] if "name" in trace}
    assert list(lines) == ["adam (2 runs)", "sgd"]
    assert figure["layout"]["showlegend"] is True
    alone = get(*runs, name="compare-figure", path="none", together="(started)")
    assert alone.json()["data"] == []
    without = get(*runs, name="compare-figure", path="train/loss").json()
    assert [t["name"] for t in without["data"] if "name" in t] == ["a", "b", "c"]


@pytest.mark.parametrize("dash", ["", "params/optimizer"])
def test_swatches_have_the_colors_of_the_lines_of_their_groups(get, project, dash):
    runs = []
    for name, optimizer in [("a", "sgd"), ("b", "adam"), ("c", "sgd"), ("d", "adam")]:
        run = make_run(project, name, "finished")
        write_values(run, {"params/optimizer": optimizer})
        write_series(run, "train/loss", [1.0, 2.0])
        runs.append(run)
    asked = {"together": "params/optimizer", "dash": dash, "hidden": "3"}

    page = text(get(*runs, **asked))
    query = {"path": "train/loss", "together": "params/optimizer", "dash": dash}
    lines = get(*runs, name="compare-figure", **query).json()["lines"]

    listed = page[page.index('data-part="list"') : page.index("</ul>")]
    assert re.findall(r'"run-colour run-colour--([^"]+)"', listed) == [
        *("1", "0", "1", "other")
    ]
    assert {line["name"]: line["colour"] for line in lines} == {
        "adam (2 runs)": "var(--run-0)",
        "sgd (2 runs)": "var(--run-1)",
    }
    assert CHOOSES not in page


def test_values_that_are_equal_only_when_rounded_are_separate_lines(get, project):
    runs = [make_run(project, name, "finished") for name in ("a", "b")]
    for run, rate in zip(runs, [1.00001, 1.00002], strict=True):
        write_values(run, {"params/lr": rate})
        write_series(run, "train/loss", [1.0, 2.0])
    query = {"path": "train/loss", "together": "params/lr"}

    figure = get(*runs, name="compare-figure", **query).json()

    assert [line["name"] for line in figure["lines"]] == ["1.00001", "1.00002"]


def test_a_line_that_is_called_otherwise_is_drawn_anew(get, project):
    run = make_run(project, "a", "finished")
    write_values(run, {"note": "before"})
    write_series(run, "train/loss", [1.0, 2.0])
    query = {"path": "train/loss", "together": "note"}

    def names():
        figure = get(run, name="compare-figure", **query).json()
        return [trace["name"] for trace in figure["data"] if "name" in trace]

    assert names() == ["before"]
    # As a page may, too, without a point being logged.
    Attribute.objects.filter(run=run, path="note").update(text="after")
    assert names() == ["after"]


def counted(project, name: str, epochs: float | None, path: str = "train/loss"):
    """Return a run of 40 steps that counts so many epochs in them, if any."""
    run = make_run(project, name, "finished")
    write_series(run, path, [float(step) for step in range(40)])
    if epochs is not None:
        write_series(run, "train/epoch", [epochs * step / 39 for step in range(40)])
    return run


def test_runs_are_laid_over_the_values_of_a_series(get, project):
    names = {"fast": 4.0, "slow": 2.0, "<b>none</b>": None}
    runs = [counted(project, name, epochs) for name, epochs in names.items()]
    query = {"name": "compare-figure", "path": "train/loss"}

    page = text(get(*runs))
    figure = get(*runs, **query, over="train/epoch").json()
    part = get(*runs, **query, over="train/epoch", low="1", high="1.5").json()

    assert "over=train%2Fepoch" in page
    assert [trace["name"] for trace in figure["data"]] == ["fast", "slow"]
    assert figure["layout"]["xaxis"]["title"]["text"] == "train/epoch"
    assert (figure["axis"], figure["over"]) == ("series", "train/epoch")
    assert figure["notes"] == ["Not shown (no values of train/epoch): <b>none</b>."]
    assert part["layout"]["xaxis"]["range"] == [1, 1.5]
    assert [trace["name"] for trace in part["data"]] == ["fast", "slow"]


@pytest.mark.parametrize("over", ["nothing", "a\0b", "x" * 3_000, "%(path)s"])
def test_over_what_no_run_has_none_is_drawn_and_all_are_named(get, project, over):
    run = counted(project, "one", None)

    query = {"name": "compare-figure", "path": "train/loss", "over": over}
    figure = get(run, run, **query).json()

    assert figure["data"] == []
    assert any(note.endswith(": one.") for note in figure["notes"])


def test_outliers_and_a_logarithmic_axis_are_part_of_the_address(get, project):
    run = make_run(project, "spiky", "finished")
    write_series(run, "train/loss", [*([1.0, 1.1] * 60), 900.0])
    other = counted(project, "other", None, "val/loss")

    page = text(get(run, other, logx="1", clip="1"))
    query = {"name": "compare-figure", "path": "train/loss"}
    figure = get(run, other, **query, logx="1", clip="1").json()
    by_time = get(run, other, **query, logx="1", axis="time").json()

    assert "logx=1&amp;clip=1" in page
    assert figure["layout"]["xaxis"]["type"] == "log"
    assert figure["layout"]["yaxis"]["range"][1] < 2
    assert figure["notes"][0].startswith("Outliers ignored: 1 of 121 points")
    assert by_time["layout"]["xaxis"]["type"] == "date"


def test_clipped_charts_of_a_division_are_as_high(get, project):
    runs = []
    for number in range(2):
        run = make_run(project, f"run {number}", "finished")
        write_values(run, {"kind": f"kind {number}"})
        spike = [900.0] if number else []
        write_series(run, "train/loss", [*([1.0, 1.1] * 60), *spike])
        runs.append(run)
    query = {"name": "compare-figure", "path": "train/loss", "chart": "kind"}

    calm, wild = (get(*runs, **query, clip="1", part=part).json() for part in "01")

    assert calm["layout"]["yaxis"]["range"] == wild["layout"]["yaxis"]["range"]
    assert calm["notes"] == []
    assert wild["notes"][0].startswith("Outliers ignored: 1 of 121 points")


def test_charts_are_found_by_an_expression_and_its_mistake_is_explained(get, runs):
    for path in ("train/loss", "val/loss", "val/accuracy"):
        write_series(runs[0], path, [1.0])

    found = text(get(*runs, text="^(TRAIN|val)/loss$", regex="1"))
    mistaken = text(get(*runs, text="(<b>", regex="1"))
    none = text(get(*runs, text="^loss", regex="1"))

    assert found.count('data-behaviour="chart"') == 2
    assert "Invalid regular expression: missing )" in mistaken
    assert "(&lt;b&gt;" in mistaken
    assert mistaken.count('data-behaviour="chart"') == 0
    assert "No series path matches “^loss”" in none
    assert text(get(*runs, text="(")).count('data-behaviour="chart"') == 0
