"""Dashboards and reports as strangers see them by a share link."""

from __future__ import annotations

import html
import re

import pytest
from django.test import Client
from django.urls import reverse

from tests.builders import (
    browser_of,
    make_project,
    make_run,
    write_series,
    write_tags,
    write_values,
)
from tests.web.shared_boards import (
    BAR,
    CHART,
    HISTOGRAM,
    IMPORTANCE,
    LADDER,
    LEDGER,
    LOGGED,
    MEDIA,
    MIXED,
    PARALLEL,
    SCATTER,
    SETTING,
    SPREAD,
    TABLE,
    TEXT,
    VALUE,
)
from tests.web.shared_site import ALL_PARTS, MARKS, NEVER, crawl, make_site, slow
from tracker.actions.dashboards import (
    create_dashboard,
    rename_dashboard,
    set_run_set,
)
from tracker.actions.deletions import delete_made, delete_made_for_good, restore_made
from tracker.actions.ladders import RungRequest, arrange_ladder
from tracker.actions.reports import create_report, save_version
from tracker.actions.runs.trash import move_to_trash, restore
from tracker.actions.shares import LinkRequest, make_link
from tracker.actor import Part
from tracker.boards.board import Board, Place, RunSet, Widget
from tracker.errors import InvalidInput
from tracker.models import Dashboard, File, Member, SavedView, ShareLink
from tracker.series.compaction import compact_run
from web.pages.dashboards.frozen_pages import frozen_dashboard, frozen_report
from web.pages.reports.text import readable_blocks
from web.widgets import KINDS

pytestmark = [pytest.mark.django_db, pytest.mark.database]

# A stage's failure is no attribute, so no widget shows it.
TOLD = {
    part: [mark for mark in marks if mark != "text-of-failure"]
    for part, marks in MARKS.items()
}
# Parts of the text of a run set's query.
QUERIES = ["contains", "this-about"]
CHECKPOINT = "model/checkpoint-of-theirs"
ALSO_NEVER = [*QUERIES, "older version", "A draft", "csrf", "hx-post"]


@pytest.fixture
def site(member, settings, tmp_path):
    settings.DATA_FOLDER = tmp_path
    return make_site(make_project(member), member)


@pytest.fixture
def runs(project):
    made = [make_run(project, name, "finished") for name in ("slow", "fast")]
    for place, run in enumerate(made):
        write_tags(run, "shown")
        write_series(run, "train/loss", [1.0, 0.5 - place / 4])
        write_values(run, {"params/lr": 0.1})
        compact_run(run.id)
    return made


def of_kind(kind: str, widget_id: str, **settings) -> Widget:
    return Widget(id=widget_id, kind=kind, place=Place(), settings=settings)


WIDGETS = (
    of_kind("chart", CHART, metrics=["train/loss"]),
    of_kind("table", TABLE, columns=["train/loss"]),
)
SHOWN = RunSet(query='tags contains "shown"')
REPORT = (
    "Words.\n\n```seamark\nwidget: table\ncolumns: train/loss\n"
    'query: tags contains "shown"\n```\n'
)


@pytest.fixture
def dashboard(project, runs, member):
    board = Board(run_set=SHOWN, widgets=WIDGETS)
    return create_dashboard(project, "overview", board, user_id=member.user_id)


@pytest.fixture
def report(project, runs, member):
    made = create_report(project, "What helped", user_id=member.user_id)
    save_version(made, "What helped", REPORT, user_id=member.user_id, based_on=0)
    made.refresh_from_db()
    return made


@pytest.fixture
def share(project, member):
    """Return a function that makes a link to a thing; return its address."""

    def make(kind, thing, **wanted):
        link = LinkRequest(kind, str(thing.id), **wanted)
        return f"/s/{make_link(project, browser_of(member), link)}/"

    return make


def as_frozen(thing):
    """Freeze a dashboard or report as its owner sees it."""
    freeze = frozen_dashboard if isinstance(thing, Dashboard) else frozen_report
    return freeze(browser_of(Member.objects.get(user__username="ada")), thing)


def get(base, path=""):
    response = Client().get(base + path.lstrip("/"), follow=True)
    assert response.status_code == 200
    return response.content.decode()


def table_of(base, thing):
    """Return the visible table of a shared dashboard or report."""
    if isinstance(thing, Dashboard):
        return get(base, reverse("widget-body", args=[thing.id, TABLE]))
    key = readable_blocks(REPORT)[0].key
    return get(base, reverse("report-widget-body", args=[thing.id, key]))


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("dashboard", frozenset()),
        ("report", ALL_PARTS),
        *[slow("dashboard", part) for part in Part],
        slow("report"),
    ],
    # Test processes must agree on the names, so each set is sorted.
    ids=lambda value: value if isinstance(value, str) else "+".join(sorted(value)),
)
def test_whatever_is_shown_tells_no_more_than_was_ticked(site, kind, parts):
    base = site.link(kind, parts)

    # Plotly's own code contains many of the words that are searched for.
    answers = {
        address: answer
        for address, answer in crawl(Client(), base).items()
        if "example.org" not in address and not address.endswith("/plotly.js")
    }

    assert [address for address in answers if not address.startswith(base)] == []
    assert {a: status for a, (status, _) in answers.items() if status >= 400} == {}
    texts = {address: text for address, (_, text) in answers.items()}
    untold = [mark for part in Part if part not in parts for mark in TOLD[part]]
    leaked = {
        mark: where(mark, texts)
        for mark in [*untold, *NEVER, *ALSO_NEVER, str(site.sibling.id)]
    }
    assert {mark: places for mark, places in leaked.items() if places} == {}
    # The profile is on a tab of a run.
    of_runs = {"function-of-theirs"}
    told = [mark for part in parts for mark in TOLD[part] if mark not in of_runs]
    assert [mark for mark in told if not where(mark, texts)] == []
    for shown in (
        "train/loss",
        "test/accuracy",
        "a processor",
        "Words for everybody",
        "seen at last",
        "that run",
        "https://example.org/paper",
        "first",
        "second",
    ):
        assert where(shown, texts), shown


def where(mark, texts):
    return [address for address, text in texts.items() if mark in text]


def test_the_page_offers_nothing_to_change_and_no_way_on(site):
    for kind in ("dashboard", "report"):
        page = get(site.link(kind, ALL_PARTS))

        assert "Shared, view only" in page
        assert '<meta name="robots" content="noindex">' in page
        for absent in ("Edit", "Delete", "Share</a>", "version 2", "member-who-made"):
            assert absent not in page


# Each kind of widget, with its withheld parts


@pytest.fixture
def asked(site):
    """Return a function from parts and a widget to its visible content."""

    def body(widget_id, *parts, part="body"):
        base = site.link("dashboard", frozenset(parts))
        return get(base, f"dashboards/{site.dashboard.id}/widgets/{widget_id}/{part}")

    return body


def test_what_was_configured_is_left_out_and_that_is_said(site, asked):
    page = get(site.link("dashboard"))
    bare, ticked = asked(TABLE), asked(TABLE, Part.CONFIG)

    assert "test/accuracy" in bare
    assert "params/optimizer" not in bare
    assert "Some columns are not shared." in bare
    assert "chosen-optimizer of first" in ticked
    assert "not shared" not in ticked
    assert "<a" not in bare + ticked
    assert "This content is not shared." in asked(SETTING)
    assert 'aria-label="Value"' in page
    assert "count-of-theirs" not in page
    assert ">7<" in asked(SETTING, Part.CONFIG)
    assert "0.9" in asked(VALUE)


def test_a_title_that_somebody_wrote_is_shown(share, project, runs, member):
    setting = Widget(
        id=SETTING, kind="value", title="Ours", settings={"metric": "params/lr"}
    )
    board = create_dashboard(
        project, "one", Board(widgets=(setting,)), user_id=member.user_id
    )

    page = get(share("dashboard", board))

    assert "Ours" in page
    assert "params/lr" not in page


def test_a_chart_names_what_it_draws_and_nothing_else(asked):
    legend = asked(MIXED)
    figure = asked(MIXED, part="figure")

    assert "train/loss" in legend
    assert "note" not in legend
    assert "count-of-theirs" not in legend + figure
    assert '"name":"first · train/loss"' in figure


def test_a_ledger_costs_nothing_and_a_ladder_leads_nowhere(
    asked, client_of, member, site
):
    members = client_of(member)
    ledger = reverse("widget-body", args=[site.dashboard.id, LEDGER])

    assert "CCY" in members.get(ledger).content.decode()
    assert "CCY" not in asked(LEDGER, *Part)
    shown = asked(LADDER, *Part)
    assert "faster" in shown
    assert f"ladders/{site.ladder.id}" not in shown
    assert "first" in asked(LADDER, part="figure")


def test_values_of_the_configuration_are_hidden_in_every_plot(asked):
    for plot in (BAR, SCATTER, PARALLEL, IMPORTANCE):
        assert "This content is not shared." in asked(plot), plot
    for plot in (BAR, SCATTER, PARALLEL):
        figure = asked(plot, part="figure")
        for hidden in ("chosen-optimizer", "params/optimizer", "count-of-theirs"):
            assert hidden not in figure
    assert "first" in asked(BAR, Part.CONFIG, part="figure")
    assert "test/accuracy" in asked(HISTOGRAM, part="figure")


def test_texts_need_logs_and_media_need_files(asked):
    for widget, part in ((LOGGED, Part.LOGS), (MEDIA, Part.FILES)):
        others = [each for each in Part if each != part]
        assert "This content is not shared." in asked(widget, *others)
    assert "printed-line" in asked(LOGGED, Part.LOGS)
    assert "<img" in asked(MEDIA, Part.FILES)
    assert "data-figure-url" in asked(SPREAD)
    assert '"heatmap"' in asked(SPREAD, part="figure")


def test_a_widget_of_every_kind_is_shared(site):
    board = site.dashboard.content["widgets"]

    assert {widget["kind"] for widget in board} == KINDS.keys()


def test_a_text_has_its_pictures_where_files_are_ticked(asked, site):
    bare, ticked = asked(TEXT), asked(TEXT, Part.FILES)

    assert "<img" not in bare
    assert "picture: seen at last" in bare
    address = re.search(r'<img src="([^"]+)"', ticked)[1]
    assert f"/dashboards/{site.dashboard.id}/widgets/{TEXT}/pictures/" in address
    assert Client().get(address)["Content-Type"] == "image/png"
    assert Client().get(address[:-8] + "0" * 8).status_code == 404
    move_to_trash(site.first)
    assert Client().get(address).status_code == 404


def place_of(address):
    return address.partition("dashboards/")[2]


def test_a_media_widget_sends_its_files_and_no_others(site, asked):
    shown = asked(MEDIA, Part.FILES)
    address = html.unescape(re.search(r'<img src="([^"]+)"', shown)[1])
    place = f"/widgets/{MEDIA}/media/{site.first.id}/picture?"
    assert place in address
    assert "/runs/" not in shown

    visitor = Client()
    assert visitor.get(address)["Content-Type"] == "image/png"
    checkpoint = File.objects.get(run=site.first, path=CHECKPOINT)
    for other in (
        address.replace(str(site.first.id), str(site.sibling.id)),
        address.replace(MEDIA, TABLE),
        address.replace("/picture?", "/recording?"),
        address.replace("/picture?", "/unknown?"),
        address[:-8] + "0" * 8,
        # Only the path of the widget counts.
        f"{address.partition('?')[0]}?path={CHECKPOINT}&digest={checkpoint.digest}",
    ):
        assert visitor.get(other).status_code == 404, other
    without = site.link("dashboard", frozenset({*Part} - {Part.FILES}))
    assert visitor.get(f"{without}dashboards/{place_of(address)}").status_code == 404
    move_to_trash(site.first)
    assert visitor.get(address).status_code == 404


# Values over all runs


@pytest.fixture
def tile(share, project, runs, member):
    """Return a function that shows a value to a stranger, next to "fast" alone."""

    def tile(metric, *parts, is_frozen=False, then=lambda: None):
        value = of_kind("value", VALUE, metric=metric)
        board = Board(
            run_set=RunSet(query=SHOWN.query, first=1, order="name"), widgets=(value,)
        )
        name = f"tile {Dashboard.objects.count()}"
        made = create_dashboard(project, name, board, user_id=member.user_id)
        options = {"frozen": as_frozen(made)} if is_frozen else {}
        base = share("dashboard", made, parts=frozenset(parts), **options)
        then()
        return get(base, f"dashboards/{made.id}/widgets/{VALUE}/body")

    return tile


def test_a_stranger_sees_a_value_over_all_runs_without_a_link(tile, project):
    unshown = make_run(project, "unshown", "finished")
    write_series(unshown, "train/loss", [9.0])
    compact_run(unshown.id)

    shown = tile("train/loss")

    assert "highest of 2 runs:" in shown
    assert ">0.5<" in shown
    assert "slow" in shown
    assert "<a" not in shown


def test_a_value_over_all_runs_withholds_parameters_of_every_run(tile, runs):
    slow, fast = runs
    write_values(fast, {"score": 0.5})
    write_values(slow, {"score": 7})

    assert ">0.5<" in tile("score")
    assert "slow" not in tile("score")
    assert ">7<" in tile("score", Part.CONFIG)


def test_a_frozen_link_keeps_the_value_over_all_runs(tile, project):
    def add_better():
        better = make_run(project, "better", "finished")
        write_tags(better, "shown")
        write_series(better, "train/loss", [9.0])
        compact_run(better.id)

    shown = tile("train/loss", is_frozen=True, then=add_better)

    assert ">0.5<" in shown
    assert "slow" in shown


# Later changes


@pytest.mark.parametrize("kind", ["dashboard", "report"])
def test_a_link_goes_on_with_the_runs_that_are_found(request, share, project, kind):
    thing = request.getfixturevalue(kind)
    base = share(kind, thing)
    assert "newest" not in table_of(base, thing)

    write_tags(make_run(project, "newest", "finished"), "shown")

    assert "newest" in table_of(base, thing)


@pytest.mark.parametrize("kind", ["dashboard", "report"])
def test_a_frozen_link_shows_no_runs_but_those_it_had(request, share, project, kind):
    thing = request.getfixturevalue(kind)
    base = share(kind, thing, frozen=as_frozen(thing))

    write_tags(make_run(project, "newest", "finished"), "shown")

    shown = table_of(base, thing)
    assert "newest" not in shown
    assert "slow" in shown
    assert "fast" in shown


def test_a_frozen_dashboard_stays_as_it_was(share, dashboard, member):
    base = share("dashboard", dashboard, frozen=as_frozen(dashboard))

    rename_dashboard(dashboard, "another name")
    other = RunSet(query="state = failed")
    set_run_set(dashboard, other, version=1, user_id=member.user_id)

    assert "<h1>overview</h1>" in get(base)
    assert "as of" in get(base)
    assert "2 runs" in get(base)
    assert "slow" in table_of(base, dashboard)


def test_of_a_view_its_runs_are_shown_and_not_its_name(share, dashboard, project):
    view = SavedView.objects.create(
        project=project, name="name-of-view", is_shared=True, state="q=slow"
    )
    set_run_set(dashboard, RunSet(view=view.id), version=1, user_id=None)
    dashboard.refresh_from_db()
    live = share("dashboard", dashboard)
    frozen = share("dashboard", dashboard, frozen=as_frozen(dashboard))
    view.state = "q=fast"
    view.save()

    for base, shown, hidden in ((live, "fast", "slow"), (frozen, "slow", "fast")):
        table = table_of(base, dashboard)
        assert shown in table
        assert hidden not in table
        assert "name-of-view" not in get(base) + table

    view.delete()
    gone = table_of(live, dashboard)
    assert "Runs could not be loaded" in gone
    assert "view" not in gone.replace("view only", "")
    assert "slow" in table_of(frozen, dashboard)


def test_a_report_is_its_newest_version_and_a_frozen_one_stays(share, report, member):
    live = share("report", report)
    frozen = share("report", report, frozen=as_frozen(report))
    by = {"user_id": member.user_id, "based_on": 1}

    save_version(report, "Later", "Written later.", **by)

    assert "Written later." in get(live)
    assert "Written later." in get(live, f"reports/{report.id}/?version=1")
    assert "Written later." not in get(frozen)
    assert "Words." in get(frozen)
    assert "slow" in table_of(frozen, report)
    for asked in ("?draft=1", "?version=9", "?version=1"):
        assert "Words." in get(frozen, f"reports/{report.id}/{asked}")


def test_a_frozen_ladder_keeps_its_rungs(site, member):
    frozen = LinkRequest(
        "dashboard",
        str(site.dashboard.id),
        frozen=as_frozen(site.dashboard),
    )
    base = f"/s/{make_link(site.project, browser_of(member), frozen)}/"
    address = f"dashboards/{site.dashboard.id}/widgets/{LADDER}/figure"
    rung_requests = [RungRequest(str(run.id)) for run in (site.sibling, site.first)]
    assert "sibling" not in get(base, address)

    arrange_ladder(site.ladder, "faster", rung_requests)

    shown = get(base, address)
    assert "sibling" not in shown
    assert "first" in shown


# The end


@pytest.mark.parametrize("is_frozen", [False, True])
def test_a_run_in_the_trash_is_not_shown(share, dashboard, runs, is_frozen):
    frozen = as_frozen(dashboard) if is_frozen else None
    base = share("dashboard", dashboard, frozen=frozen)

    move_to_trash(runs[0])

    shown = table_of(base, dashboard)
    assert "slow" not in shown
    assert "fast" in shown
    assert "trash" not in shown
    move_to_trash(runs[1])
    assert "No runs to show." in table_of(base, dashboard)
    restore(runs[1])
    assert "fast" in table_of(base, dashboard)


@pytest.mark.parametrize("is_frozen", [False, True])
def test_links_to_what_is_deleted_open_nothing_until_it_is_back(
    share, dashboard, report, member, is_frozen
):
    frozen = as_frozen(dashboard) if is_frozen else None
    bases = share("dashboard", dashboard, frozen=frozen), share("report", report)

    def answers():
        return [Client().get(base, follow=True).status_code for base in bases]

    assert answers() == [200, 200]
    for thing in (dashboard, report):
        delete_made(thing, user_id=member.user_id)
    assert answers() == [404, 404]
    restore_made(dashboard)
    assert answers() == [200, 404]
    delete_made_for_good(report)
    assert ShareLink.objects.get(kind="report").ended_at is not None
    assert ShareLink.objects.get(kind="dashboard").ended_at is None


def test_a_report_without_a_version_cannot_be_shared(share, project, member, client_of):
    begun = create_report(project, "begun", user_id=member.user_id)

    with pytest.raises(InvalidInput, match="no version"):
        share("report", begun)
    page = client_of(member).get(reverse("report", args=[begun.id])).content.decode()
    assert "/shares/new" not in page


def test_whoever_shares_is_told_what_comes_and_may_freeze_it(
    client_of, member, project, dashboard
):
    visitor = client_of(member)
    slugs = [project.workspace.slug, project.slug]
    asked = {"kind": "dashboard", "of": str(dashboard.id)}

    dialog = visitor.get(reverse("share", args=slugs), asked).content.decode()
    visitor.post(reverse("shares", args=slugs), {**asked, "frozen": "1"})
    visitor.post(reverse("shares", args=slugs), asked)

    assert "including later runs and edits" in dialog
    assert "It currently includes 2 runs" in dialog
    frozen = [link.frozen for link in ShareLink.objects.order_by("id")]
    assert frozen[0]["name"] == "overview"
    assert frozen[1] is None
    listed = visitor.get(reverse("shares", args=slugs)).content.decode()
    assert listed.count("Frozen") == 1


def test_a_run_cannot_be_frozen(share, dashboard, runs):
    with pytest.raises(InvalidInput, match="frozen"):
        share("run", runs[0], frozen=as_frozen(dashboard))
