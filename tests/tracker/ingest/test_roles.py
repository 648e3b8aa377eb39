"""Permissions to log: workspace roles, project roles, and keys bound to projects."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.builders import (
    actor_of,
    frames,
    make_member,
    make_project,
    open_message,
    points_message,
)
from tracker.actions.access import authenticate, make_token
from tracker.actor import Actor, Scope
from tracker.errors import NotAllowed, OutOfOrder
from tracker.ingest.write import store_batch
from tracker.models import Member, Project, ProjectMember, Role, Run, Token

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def log_to(actor: Actor, project: str, run: str = "run") -> Run:
    """Open a run and send two more batches, the second of which may take the fast path."""
    spool = uuid4()
    first = frames([[open_message(run, project=project)]])
    store_batch(actor, spool, first)
    for number in (2, 3):
        batch = frames([[points_message("loss", [1.0], steps=[number])]], first=number)
        store_batch(actor, spool, batch)
    return Run.objects.get(spools=spool)


def role_of(member: Member, project: Project, role: str) -> None:
    ProjectMember.objects.create(project=project, member=member, role=role)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.GUEST])
def test_a_reader_logs_nothing_and_creates_no_project(member, role):
    make_project(member)
    reader = actor_of(make_member("bo", role, workspace=member.workspace))

    for name in ("vision", "new"):
        with pytest.raises(NotAllowed):
            log_to(reader, name)
    assert list(Project.objects.values_list("name", flat=True)) == ["vision"]


def test_a_guest_logs_to_the_project_that_lets_them(member):
    project = make_project(member)
    guest = make_member("bo", Role.GUEST, workspace=member.workspace)
    role_of(guest, project, Role.MEMBER)

    assert log_to(actor_of(guest), "vision").made_by == guest.user


def test_the_role_in_a_project_counts_more_than_the_one_in_the_workspace(member):
    project = make_project(member)
    lowered = make_member("bo", Role.MEMBER, workspace=member.workspace)
    role_of(lowered, project, Role.VIEWER)
    admin = make_member("di", Role.ADMIN, workspace=member.workspace)
    role_of(admin, project, Role.VIEWER)

    with pytest.raises(NotAllowed):
        log_to(actor_of(lowered), "vision")
    # An admin of a workspace cannot be excluded from one of its projects.
    log_to(actor_of(admin), "vision")


def test_a_closed_project_sounds_like_one_that_is_not_there(member):
    project = make_project(member, "secret")
    Project.objects.filter(id=project.id).update(is_open=False)
    guest = actor_of(make_member("bo", Role.GUEST, workspace=member.workspace))

    with pytest.raises(NotAllowed) as closed:
        log_to(guest, "secret")
    with pytest.raises(NotAllowed) as absent:
        log_to(guest, "sacred")
    assert str(closed.value) == str(absent.value).replace("sacred", "secret")


def test_the_creator_of_a_closed_project_is_its_admin(member):
    workspace = member.workspace
    workspace.projects_are_open = False
    workspace.save()
    maker = make_member("bo", Role.MEMBER, workspace=workspace)

    log_to(actor_of(maker), "new")

    project = Project.objects.get(name="new")
    assert not project.is_open
    assert project.owner == maker.user
    assert project.members.get().role == Role.ADMIN
    other = actor_of(make_member("di", Role.MEMBER, workspace=workspace))
    with pytest.raises(NotAllowed):
        log_to(other, "new")


def test_an_archived_project_takes_nothing_more(member, project):
    actor, spool = actor_of(member), uuid4()
    store_batch(actor, spool, frames([[open_message()]]))
    project.archived_at = project.created_at
    project.save()

    with pytest.raises(NotAllowed, match="archived"):
        log_to(actor, project.name)
    # The response asks the agent to open the run again, and that request gives the reason.
    with pytest.raises(OutOfOrder):
        store_batch(actor, spool, frames([[points_message("loss", [1.0])]], first=2))


def test_a_key_bound_to_a_project_logs_to_no_other(member):
    bound_to, other = make_project(member), make_project(member, "other")
    secret = make_token(member, "node", Scope.LOG)
    token = Token.objects.get()
    token.is_limited = True
    token.save()
    token.projects.add(bound_to)
    actor = authenticate(secret)
    assert actor is not None

    log_to(actor, bound_to.name)
    for name in (other.name, "new"):
        with pytest.raises(NotAllowed):
            log_to(actor, name)
    # Not even without any project left for the key.
    bound_to.delete()
    again = authenticate(secret)
    assert again is not None
    assert again.project_ids == frozenset()


def test_a_deactivated_member_is_let_in_nowhere(member, project):
    secret = make_token(member, "node", Scope.LOG)
    actor, spool = authenticate(secret), uuid4()
    assert actor is not None
    store_batch(actor, spool, frames([[open_message()]]))
    store_batch(actor, spool, frames([[points_message("loss", [1.0])]], first=2))
    member.is_active = False
    member.save()

    assert authenticate(secret) is None
    # An actor that was authenticated before is refused, too.
    with pytest.raises(NotAllowed):
        store_batch(actor, spool, frames([[points_message("loss", [2.0])]], first=3))
