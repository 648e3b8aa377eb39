"""Projects are created, renamed, archived and deleted."""

from __future__ import annotations

import pytest

from tests.builders import Process, actor_of, make_member, make_project, make_run
from tracker.access.runs import editable_run, readable_run
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.projects import (
    ProjectRequest,
    archive_project,
    change_project,
    create_project,
    delete_project,
    purge_deleted_projects,
    restore_project,
)
from tracker.actions.runs.purging import purge_run
from tracker.errors import Archived, InvalidInput, NotAllowed, NotFound
from tracker.models import Project, Role, Run, State

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def audit(member):
    return AuditContext(member.user_id)


def test_scripts_log_to_a_project_that_was_created_before(member, audit):
    workspace = member.workspace
    created = create_project(
        workspace, ProjectRequest("Vision", "Images"), audit, is_open=False
    )

    process = Process(created, "run", actor=actor_of(member))
    process.open()

    assert process.run.project == created
    assert (created.owner_id, created.is_open) == (member.user_id, False)


@pytest.mark.parametrize("name", ["", "x" * 201, "vision"], ids=["no", "long", "taken"])
def test_a_project_needs_a_free_name(member, project, audit, name):
    with pytest.raises(InvalidInput):
        create_project(member.workspace, ProjectRequest(name), audit, is_open=True)


def test_a_renamed_project_keeps_its_address_and_its_scripts(member, project, audit):
    change_project(project, ProjectRequest("Vision 2"), audit)

    process = Process(project, "run", actor=actor_of(member))
    process.open()

    assert Project.objects.get().name == "Vision 2"
    assert process.run.project.slug == "vision"


def test_an_owner_is_a_member(project, stranger, audit):
    project_request = ProjectRequest("vision", owner_id=stranger.user_id)

    with pytest.raises(InvalidInput):
        change_project(project, project_request, audit)


def test_an_archived_project_is_read_and_not_changed_until_it_is_restored(
    member, project, audit
):
    run, actor = make_run(project, "done", State.FINISHED), actor_of(member)
    running = Process(project, "live", actor=actor)
    running.open()

    archive_project(project, audit)

    assert readable_run(actor, run.id) == run
    with pytest.raises(Archived, match="archived"):
        editable_run(actor, run.id)
    with pytest.raises(NotAllowed):
        Process(project, "new", actor=actor).open()
    restore_project(project, audit)
    assert editable_run(actor, run.id) == run


def test_a_deleted_project_is_gone_at_once_and_its_rows_soon(member, project, audit):
    run, actor = make_run(project, "done", State.FINISHED), actor_of(member)

    delete_project(project, audit)

    with pytest.raises(NotFound):
        readable_run(actor, run.id)
    again = make_project(member)
    assert again.id != project.id
    purge_deleted_projects()
    purge_run(run.id, seconds=60)
    purge_deleted_projects()
    assert not Run.objects.filter(id=run.id).exists()
    assert list(Project.objects.all()) == [again]


def test_members_manage_no_project(member, project, client_of):
    bob = client_of(make_member("bob", Role.MEMBER, workspace=member.workspace))
    base = f"/w/{member.workspace.slug}/{project.slug}/settings"

    for what in ("change", "archive", "restore", "delete"):
        answer = bob.post(f"{base}/{what}", {"name": project.name})
        assert answer.status_code == 403, what
    project.refresh_from_db()
    assert project.archived_at is None
    assert project.deleted_at is None
