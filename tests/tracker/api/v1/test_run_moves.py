"""Runs are moved to another project over the API."""

from __future__ import annotations

import pytest

from tests.builders import make_member, make_project, make_run
from tests.tracker.api.v1.people.test_members import send
from tracker.models import Role, Run, State

pytestmark = [pytest.mark.django_db, pytest.mark.database]

ADDRESS = "/api/v1/projects/ada-workspace/vision/move-runs"


@pytest.fixture
def ended(project):
    return make_run(project, "ended", State.FINISHED)


@pytest.fixture
def manager(client_with, member):
    return client_with(member, "manage")


def test_runs_that_ended_move_and_others_stay(manager, member, project, ended):
    target = make_project(member, "speech")
    live = make_run(project, "live")
    foreign = make_run(target, "foreign", State.FINISHED)
    runs = [str(run.id) for run in (ended, live, foreign)]

    done = send(manager, "post", ADDRESS, runs=runs, to="speech").json()

    assert done["moved"] == [str(ended.id)]
    [stayed] = done["stayed"]
    assert (stayed["id"], stayed["name"]) == (str(live.id), "live")
    assert "running" in stayed["reason"]
    assert Run.objects.get(id=ended.id).project == target


def test_a_taken_name_stays_or_gets_a_number(manager, member, ended):
    make_run(make_project(member, "speech"), "ended", State.FINISHED)
    body = {"runs": [str(ended.id)], "to": "speech"}

    assert send(manager, "post", ADDRESS, **body).json()["moved"] == []
    renamed = send(manager, "post", ADDRESS, renames=True, **body).json()

    assert renamed == {"moved": [str(ended.id)], "stayed": []}
    assert Run.objects.get(id=ended.id).name == "ended (2)"


def test_runs_move_only_where_the_caller_may_write(client_with, member, ended):
    closed = make_project(member, "closed")
    closed.is_open = False
    closed.save()
    bob = make_member("bob", Role.MEMBER, workspace=member.workspace)
    vera = make_member("vera", Role.VIEWER, workspace=member.workspace)
    body = {"runs": [str(ended.id)], "to": "closed"}

    for caller, status in ((bob, 404), (vera, 403)):
        answer = send(client_with(caller, "manage"), "post", ADDRESS, **body)
        assert answer.status_code == status
    assert send(client_with(member, "log"), "post", ADDRESS, **body).status_code in (
        403,
        404,
    )
    assert Run.objects.get(id=ended.id).project.slug == "vision"


def test_an_invalid_list_of_runs_is_refused(manager, member, project):
    make_project(member, "speech")

    for wanted in ({"to": "speech"}, {"runs": ["x"], "to": "speech"}, {"runs": []}):
        assert send(manager, "post", ADDRESS, **wanted).status_code == 400
