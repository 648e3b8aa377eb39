"""The importance of parameters on the comparison page and on a dashboard."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.builders import make_run, write_values
from tracker.actions.dashboards import create_dashboard
from tracker.boards.board import Board, RunSet, Widget
from tracker.queries.compare.importance import MIN_RUNS

pytestmark = pytest.mark.django_db

WIDGET = "c0c0c0c0"


@pytest.fixture
def visitor(client_of, member):
    return client_of(member)


@pytest.fixture
def sweep(project):
    runs = []
    for place in range(MIN_RUNS):
        run = make_run(project, f"run {place}", "finished")
        settings = {"params/lr": place / 8, "params/seed": place % 2}
        write_values(run, {**settings, "val/accuracy": float(place)})
        runs.append(run)
    return runs


@pytest.fixture
def page(visitor, project):
    """Return a function that opens the tab for these runs."""

    def page(runs, **query):
        address = reverse("compare", args=[project.workspace.slug, project.slug])
        asked = {"tab": "importance", "runs": ",".join(str(run.id) for run in runs)}
        return visitor.get(address, {**asked, **query}).content.decode()

    return page


def test_parameters_are_listed_by_their_importance(page, sweep):
    shown = page(sweep)

    assert shown.index("params/lr</a>") < shown.index("params/seed</a>")
    assert "+1.00" in shown
    assert "tab=scatter" in shown
    assert "10 finished runs" in shown


def test_few_runs_are_not_judged(page, sweep):
    shown = page(sweep[1:])

    assert "Importance needs at least 10 finished runs" in shown
    assert "9 runs have it" in shown


def test_the_other_runs_of_the_project_can_be_counted_too(page, sweep):
    assert "params/lr</a>" in page(sweep[:2], among="1")


def test_another_metric_can_be_named(page, sweep):
    shown = page(sweep, y="no/such")

    assert '<code class="wrap">no/such</code>; 0 runs have it' in shown


def test_a_dashboard_shows_it_as_a_widget(visitor, project, member, sweep):
    widget = Widget(id=WIDGET, kind="importance", settings={"metric": "val/accuracy"})
    board = Board(
        run_set=RunSet(runs=tuple(run.id for run in sweep)), widgets=(widget,)
    )
    made = create_dashboard(project, "sweep", board, user_id=member.user_id)

    body = visitor.get(reverse("widget-body", args=[made.id, WIDGET])).content.decode()

    assert "params/lr" in body
    assert "+1.00" in body
