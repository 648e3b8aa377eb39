"""Runs are moved to another project of their workspace."""

from __future__ import annotations

import pytest
from django.db.models import F

from tests.builders import make_member, make_project, make_run, write_values
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.runs.moves import TABLES, move_run
from tracker.errors import InvalidInput
from tracker.models import Ladder, Project, Role, Run, Rung, State
from tracker.queries.ladders.ladders import ladder_rungs

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def audit(member):
    return AuditContext(member.user_id)


@pytest.fixture
def run(project):
    run = make_run(project, "baseline", State.FINISHED)
    write_values(run, {"params/lr": 0.1})
    return run


def test_a_moved_run_takes_its_rows_along(member, run, audit):
    target = make_project(member, "speech")

    move_run(run, target, audit)

    assert Run.objects.get(id=run.id).project == target
    for table in TABLES:
        rows = table._default_manager.filter(run=run.id)
        assert set(rows.values_list("project", flat=True)) <= {target.id}


def test_a_moved_run_leaves_the_ladders_of_its_project(member, project, run, audit):
    ladder = Ladder.objects.create(project=project, name="faster")
    for position, each in enumerate((run, make_run(project, "second"))):
        Rung.objects.create(ladder=ladder, run=each, position=position)

    move_run(run, make_project(member, "speech"), audit)

    assert [rung.run.name for rung in ladder_rungs(ladder)] == ["second"]
    assert not Rung.objects.exclude(run__project=F("ladder__project")).exists()


def test_every_table_that_repeats_the_project_of_a_run_is_moved():
    from django.apps import apps

    repeating = {
        model
        for model in apps.get_app_config("tracker").get_models()
        if {"run", "project"} <= {field.name for field in model._meta.get_fields()}
        and model is not Project
    }

    assert repeating == set(TABLES)


def test_a_taken_name_is_refused_or_gets_a_number(member, run, audit):
    target = make_project(member, "speech")
    make_run(target, "baseline", State.FINISHED)

    with pytest.raises(InvalidInput, match="taken"):
        move_run(run, target, audit)
    move_run(run, target, audit, renames=True)

    assert Run.objects.get(id=run.id).name == "baseline (2)"


def test_a_running_run_and_another_workspace_are_refused(
    member, project, stranger, run, audit
):
    live = make_run(project, "live")

    for moved, target in (
        (live, make_project(member, "speech")),
        (run, make_project(stranger, "elsewhere")),
        (run, project),
    ):
        with pytest.raises(InvalidInput):
            move_run(moved, target, audit)


def test_the_page_moves_to_projects_that_the_user_may_change(member, run, client_of):
    target, closed = make_project(member, "speech"), make_project(member, "closed")
    Project.objects.filter(id=closed.id).update(is_open=False)
    bob = client_of(make_member("bob", Role.MEMBER, workspace=member.workspace))
    address = f"/runs/{run.id}/move"

    page = bob.get(address).content.decode()
    refused = bob.post(address, {"project": "closed"})
    bob.post(address, {"project": "speech"})

    assert 'value="closed"' not in page
    assert refused.status_code == 404
    assert Run.objects.get(id=run.id).project == target


def test_ticked_runs_move_after_the_page_named_them(member, project, run, client_of):
    target, browser = make_project(member, "speech"), client_of(member)
    live = make_run(project, "live")
    address = f"/w/{project.workspace.slug}/{project.slug}/runs/move"
    ticked = {"runs": f"{run.id},{live.id}"}

    asked = browser.post(address, ticked)
    assert "Move 2 runs" in asked.content.decode()
    assert Run.objects.get(id=run.id).project == project
    moved = browser.post(address, {**ticked, "project": "speech"})

    assert moved.status_code == 400
    assert "live: the run is running" in moved.content.decode()
    assert Run.objects.get(id=run.id).project == target
    assert Run.objects.get(id=live.id).project == project


def test_all_runs_that_match_a_question_move(member, project, run, client_of):
    make_run(project, "other", State.FINISHED)
    target, browser = make_project(member, "speech"), client_of(member)
    address = f"/w/{project.workspace.slug}/{project.slug}/runs/move"

    asked = browser.post(address, {"question": "q=base"}).content.decode()
    assert "Move 1 run" in asked
    assert (
        browser.post(address, {"question": "q=base", "project": "speech"}).status_code
        == 302
    )

    assert [each.name for each in Run.objects.filter(project=target)] == ["baseline"]
