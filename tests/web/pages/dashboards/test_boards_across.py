"""Dashboards and reports about runs of other projects of the workspace."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from tests.builders import (
    browser_of,
    make_project,
    make_run,
    write_series,
    write_values,
)
from tracker.actions.dashboards import create_dashboard
from tracker.actions.reports import create_report, save_version
from tracker.actions.shares import LinkRequest, make_link
from tracker.boards.board import Board, Place, RunSet, Widget, board_from
from tracker.models import Dashboard, Project, Run
from tracker.series.compaction import compact_run
from web.pages.reports.blocks import key_of
from web.pages.runs.run_set_form import run_id_of

pytestmark = pytest.mark.django_db

CHART, VALUE, TABLE, LEDGER = "c0c0c0c0", "aaaaaaaa", "bbbbbbbb", "dddddddd"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def runs(project, beside):
    made = []
    for its in (project, beside):
        run = make_run(its, "base", "finished")
        write_series(run, "train/loss", [1.0, 0.5])
        write_values(run, {"params/lr": 0.1, "accuracy": 0.5})
        compact_run(run.id)
        made.append(run)
    return made


@pytest.fixture
def make(project, member):
    """Return a function that makes a dashboard about a set of runs."""

    def make(run_set: RunSet) -> Dashboard:
        place = Place()
        loss = {"metrics": ["train/loss"]}
        widgets = (
            Widget(id=CHART, kind="chart", place=place, settings=loss),
            Widget(
                id=VALUE, kind="value", place=place, settings={"metric": "accuracy"}
            ),
            Widget(id=TABLE, kind="table", place=place),
            Widget(id=LEDGER, kind="ledger", place=place),
        )
        board = Board(run_set=run_set, widgets=widgets)
        name = f"both {Dashboard.objects.count()}"
        return create_dashboard(project, name, board, user_id=member.user_id)

    return make


def body(visitor, dashboard, widget_id: str) -> str:
    address = reverse("widget-body", args=[dashboard.id, widget_id])
    return visitor.get(address).content.decode()


BOTH = ("vision", "speech")


def of_both(runs) -> list[RunSet]:
    return [RunSet(runs=tuple(run.id for run in runs)), RunSet(projects=BOTH)]


@pytest.mark.parametrize("way", range(2), ids=["named", "found"])
def test_widgets_show_runs_of_both_by_their_projects(visitor, make, runs, way):
    made = make(of_both(runs)[way])

    for widget_id in (CHART, TABLE):
        shown = body(visitor, made, widget_id)
        assert "vision / base" in shown
        assert "speech / base" in shown
    assert "vision / base" in body(visitor, made, VALUE)
    figure = visitor.get(reverse("widget-figure", args=[made.id, CHART])).json()
    names = [line["name"] for line in figure["data"]]
    assert names == ["vision / base", "speech / base"]


def test_a_widget_may_be_of_another_project_alone(visitor, make, runs):
    shown = body(visitor, make(RunSet(projects=("speech",))), TABLE)

    assert "speech / base" in shown
    assert "vision" not in shown


def test_the_first_of_each_project_are_shown(visitor, make, beside, runs):
    make_run(beside, "later", "finished")

    shown = body(visitor, make(RunSet(projects=BOTH, first=1, order="-name")), TABLE)

    assert "vision / base" in shown
    assert "speech / later" in shown
    assert "speech / base" not in shown


def test_a_renamed_project_is_still_found(visitor, make, beside, runs):
    made = make(RunSet(projects=("speech",)))
    Project.objects.filter(id=beside.id).update(name="Speech, 2026")

    assert "Speech, 2026 / base" in body(visitor, made, TABLE)


def test_what_is_gone_is_said(visitor, make, runs):
    some = body(visitor, make(RunSet(projects=("vision", "gone"))), TABLE)
    none = body(visitor, make(RunSet(projects=("gone",))), TABLE)
    named = body(visitor, make(RunSet(runs=(runs[1].id, uuid4()))), TABLE)

    message = (
        "The project “gone” does not exist in this workspace, or you cannot access it."
    )
    assert message in some
    assert "base" in some
    assert message in none
    assert "1 run is in the trash or deleted, or you cannot access it." in named


def test_another_workspace_is_no_project(visitor, make, stranger, runs):
    theirs = make_run(make_project(stranger, "secret"), "theirs", "finished")

    found = body(visitor, make(RunSet(projects=("secret",))), TABLE)
    named = body(visitor, make(RunSet(runs=(theirs.id,))), TABLE)

    assert "project “secret” does not exist" in found
    assert "theirs" not in found + named


def test_each_costs_as_its_own_project_says_so_no_sum_is_shown(
    visitor, make, project, runs
):
    Project.objects.update(gpu_hour_price=2.0, currency="EUR")

    assert "EUR" not in body(visitor, make(of_both(runs)[0]), LEDGER)


def test_projects_are_ticked_in_the_dialog(visitor, make, runs):
    made = make(RunSet())
    address = reverse("dashboard-runs", args=[made.id])
    dialog = visitor.get(address).content.decode()
    assert 'name="project" value="speech">' in dialog
    assert 'name="project" value="vision" checked>' in dialog

    fields = {"version": 1, "runs_of": "query", "project": list(BOTH)}
    assert visitor.post(address, fields, headers=HTMX).status_code == 200

    made.refresh_from_db()
    assert board_from(made.content).run_set == RunSet(projects=BOTH)
    page = visitor.get(reverse("dashboard", args=[made.id])).content.decode()
    assert "the newest 10 runs from each of vision, speech" in page


def test_the_own_project_alone_needs_no_name(visitor, make, runs):
    made = make(RunSet(projects=BOTH))
    fields = {"version": 1, "runs_of": "query", "project": "vision"}
    visitor.post(reverse("dashboard-runs", args=[made.id]), fields, headers=HTMX)

    made.refresh_from_db()
    assert board_from(made.content).run_set == RunSet()


def test_too_many_projects_are_refused(visitor, make, runs):
    many = [f"project-{number}" for number in range(11)]
    fields = {"version": 1, "runs_of": "query", "project": many}

    response = visitor.post(
        reverse("dashboard-runs", args=[make(RunSet()).id]), fields, headers=HTMX
    )

    assert response.status_code == 400
    assert "must be at most 10" in response.content.decode()


def test_runs_are_named_by_their_project_and_their_name(project, beside, runs, member):
    actor = browser_of(member)
    odd = make_run(project, "speech / base")

    # A run of one's own goes before another's.
    assert run_id_of(actor, project, "speech / base") == odd.id
    Run.objects.filter(id=odd.id).delete()
    assert run_id_of(actor, project, "speech / base") == runs[1].id
    assert run_id_of(actor, project, "base") == runs[0].id
    assert run_id_of(actor, project, str(runs[1].id)) == runs[1].id


def test_names_are_offered_as_they_are_typed(visitor, project, stranger, runs):
    make_run(make_project(stranger, "secret"), "base")
    address = reverse("run-names", args=[project.workspace.slug, project.slug])

    def offered(text):
        return [row["name"] for row in visitor.get(address, {"q": text}).json()["rows"]]

    assert offered("ba") == ["base", "speech / base"]
    assert offered("speech / ba") == ["speech / base"]


BLOCK = "widget: table\nproject: vision\nproject: speech\nfirst: 3\n"


@pytest.fixture
def report(project, member, runs):
    made = create_report(project, "Both", user_id=member.user_id)
    text = f"# Both\n\n```seamark\n{BLOCK}```\n"
    save_version(made, "Both", text, user_id=member.user_id, based_on=0)
    return made


def of_report(client, address: str) -> str:
    return client.get(address).content.decode()


def test_a_report_holds_runs_of_several_projects(visitor, report, beside):
    address = reverse("report-widget-body", args=[report.id, key_of(BLOCK)])
    assert "speech / base" in of_report(visitor, address)

    Project.objects.filter(id=beside.id).update(name="Renamed")
    assert "Renamed / base" in of_report(visitor, address)

    Run.objects.filter(project=beside).update(trashed_at="2026-01-01T00:00Z")
    assert "Renamed" not in of_report(visitor, address)


@pytest.fixture
def shared(project, member):
    """Return a function that shares something, and the link's address."""

    def shared(kind, thing):
        link_request = LinkRequest(kind, str(thing.id))
        return f"/s/{make_link(project, browser_of(member), link_request)}/"

    return shared


def test_a_link_shows_what_its_widgets_show_and_no_page_of_a_run(
    shared, make, report, runs
):
    dashboard, client = make(of_both(runs)[1]), Client()
    base = shared("dashboard", dashboard)

    page = of_report(client, client.get(base)["Location"])
    at = reverse("widget-body", args=[dashboard.id, TABLE])
    table = of_report(client, base.rstrip("/") + at)

    assert "speech / base" in table
    assert 'name="project"' not in page
    assert "from each of" not in page
    assert client.get(f"{base}runs/{runs[1].id}/").status_code == 404


def test_as_many_queries_for_runs_of_many_projects_as_of_one(
    visitor, make, member, runs, django_assert_max_num_queries
):
    others = [
        make_run(make_project(member, f"more {number}"), "other", "finished")
        for number in range(3)
    ]
    few, many = (
        make(RunSet(runs=(runs[0].id,))),
        make(RunSet(runs=tuple(run.id for run in (*runs, *others)))),
    )
    with django_assert_max_num_queries(20) as before:
        body(visitor, few, TABLE)

    with django_assert_max_num_queries(len(before)):
        body(visitor, many, TABLE)
