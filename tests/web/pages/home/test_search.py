"""Results of the command palette, by permission."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from django.urls import reverse
from django.utils import timezone

from tests.builders import make_member, make_project, make_run
from tracker.actions.dashboards import create_dashboard
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.actions.reports import create_report
from tracker.actions.runs.trash import move_to_trash
from tracker.boards.board import Board
from tracker.models import Project, Run, State
from tracker.queries.projects.search import SHOWN

pytestmark = pytest.mark.django_db


@pytest.fixture
def find(client_of, member):
    client = client_of(member)

    def find(text="", **query):
        response = client.get(reverse("places"), {"q": text, **query})
        assert response.status_code == 200
        return response.json()["places"]

    return find


def labels(places, kind):
    return [place["label"] for place in places if place["kind"] == kind]


def test_runs_are_found_by_all_words_in_any_order(find, project):
    for name in ("resnet 50 warm", "resnet 18", "vit warm"):
        make_run(project, name)

    assert labels(find("warm RESNET"), "run") == ["resnet 50 warm"]
    assert labels(find(""), "run") == []


@pytest.mark.parametrize(
    "text", ["%", "_", "\\", "'", '"; DROP', "a\0b", "x" * 5_000, "x " * 50, "\u202e"]
)
def test_whatever_is_typed_is_only_text(find, project, text):
    make_run(project, "plain")

    assert labels(find(text), "run") == []


def test_those_of_the_project_at_hand_come_first(find, member, project):
    make_run(project, "near base")
    make_run(make_project(member, "other"), "far base")

    near = find("base", workspace=member.workspace.slug, project="vision")
    assert labels(near, "run") == ["near base", "far base"]
    assert labels(find("base"), "run") == ["far base", "near base"]


def test_what_was_made_of_runs_is_found_by_name(find, member, project):
    run = make_run(project)
    create_ladder(project, "Faster loading", [RungRequest(str(run.id))])
    create_dashboard(project, "Loading now", Board(), user_id=member.user_id)
    create_report(project, "On loading", user_id=member.user_id)

    found = find("loading")
    assert labels(found, "ladder") == ["Faster loading"]
    assert labels(found, "dashboard") == ["Loading now"]
    assert labels(found, "report") == ["On loading"]
    assert labels(find("visi"), "project") == ["vision"]


def test_a_project_at_hand_offers_its_pages(find, member, project):
    offered = labels(find(workspace=member.workspace.slug, project="vision"), "page")

    tabs = Path("web/templates/components/project_tabs.html").read_text()
    named = set(re.findall(r'{% icon \S+ %}{% translate "(.+?)" %}</a>', tabs))
    assert named
    assert named <= set(offered)
    assert labels(find(workspace="nowhere", project="nothing"), "page") == []


@pytest.mark.parametrize("text", ["\0", "a\0b", "é", "a b"])
def test_a_project_of_no_possible_name_is_none(find, client_of, member, text):
    assert labels(find(workspace=text, project=text), "page") == []
    page = client_of(member).get(f"/w/{quote(text)}/{quote(text)}/")
    assert page.status_code == 404


def test_a_run_that_was_not_heard_of_for_a_while_is_silent(find, project):
    for name, state in (("base one", State.RUNNING), ("base two", State.FINISHED)):
        make_run(project, name, state)
    Run.objects.update(last_seen_at=timezone.now() - timedelta(minutes=5))

    runs = [place for place in find("base") if place["kind"] == "run"]
    hints = {run["label"]: run["hint"] for run in runs}
    assert hints == {
        "base one": "vision, not responding",
        "base two": "vision, finished",
    }


def test_what_is_hidden_is_not_offered(find, client_of, stranger, project):
    run = make_run(project, "secret", State.FINISHED)
    client = client_of(stranger)
    asked = {"q": "secret", "workspace": "ada-workspace", "project": "vision"}

    places = client.get(reverse("places"), asked).json()["places"]
    assert {place["kind"] for place in places} == {"action"}

    move_to_trash(run)
    assert labels(find("secret"), "run") == []


def test_an_address_is_given_for_everything(find, member, project):
    make_run(project, "base")

    for place in find("base", workspace=member.workspace.slug, project="vision"):
        assert place["url"].startswith("/")


def test_costs_the_same_however_much_there_is(
    member, find, project, django_assert_max_num_queries
):
    other = make_member("zoe").workspace
    Project.objects.create(workspace=other, name="theirs", slug="theirs")
    for number in range(2 * SHOWN):
        make_run(make_project(member, f"p{number}"), f"base {number}")

    with django_assert_max_num_queries(8):
        found = find("base", workspace=member.workspace.slug, project="vision")

    assert len(labels(found, "run")) == SHOWN
