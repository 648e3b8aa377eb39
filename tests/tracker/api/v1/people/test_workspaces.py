"""Projects and workspaces are created, changed and deleted over the API."""

from __future__ import annotations

import pytest

from tests.builders import make_member
from tests.tracker.api.v1.people.test_members import send
from tracker.models import AuditEntry, Project, Role, Workspace

pytestmark = [pytest.mark.django_db, pytest.mark.database]

WORKSPACE = "/api/v1/workspaces/ada-workspace"
PROJECTS = f"{WORKSPACE}/projects"
SPEECH = "/api/v1/projects/ada-workspace/speech"


@pytest.fixture
def manager(client_with, member, project):
    return client_with(member, "manage")


def test_a_project_is_created_changed_archived_and_deleted(manager, member):
    made = send(manager, "post", PROJECTS, name="speech", is_open=False).json()
    assert (made["owner"], made["is_open"], made["is_archived"]) == (
        "ada",
        False,
        False,
    )

    changes = {"name": "Speech", "retention_days": 30, "gpu_hour_price": 2.5}
    changed = send(manager, "patch", SPEECH, currency="EUR", owner=None, **changes)
    assert changed.json() == {**made, **changes, "currency": "EUR", "owner": None}
    assert manager.get(SPEECH).json() == changed.json()
    assert manager.post(f"{SPEECH}/archive").json()["is_archived"]
    assert send(manager, "patch", SPEECH, name="Other").status_code == 403
    assert not manager.post(f"{SPEECH}/restore").json()["is_archived"]
    assert manager.delete(SPEECH).json()["is_deleted"]
    assert manager.get(SPEECH).status_code == 404
    noted = AuditEntry.objects.order_by("id").values_list("action", flat=True)
    assert [*dict.fromkeys(noted)] == [
        "project.created",
        "project.changed",
        "project.archived",
        "project.restored",
        "project.deleted",
    ]


def test_fields_that_are_left_out_stay(manager):
    made = send(manager, "post", PROJECTS, name="speech", description="Words").json()
    send(manager, "patch", SPEECH, gpu_hour_price=3, currency="EUR")

    changed = send(manager, "patch", SPEECH, gpu_hour_price=4).json()

    assert changed == {**made, "gpu_hour_price": 4, "currency": "EUR"}
    assert send(manager, "patch", SPEECH, gpu_hour_price=None).json() == made


def test_a_member_sees_the_closed_project_that_they_made(client_with, member):
    bob = make_member("bob", Role.MEMBER, workspace=member.workspace)
    key = client_with(bob, "manage")

    assert send(key, "post", PROJECTS, name="speech", is_open=False).status_code == 200

    assert key.get(SPEECH).json()["is_open"] is False
    assert send(key, "patch", SPEECH, description="Mine").status_code == 200


@pytest.mark.parametrize(
    ("method", "address", "wanted"),
    [
        ("post", PROJECTS, {}),
        ("post", PROJECTS, {"name": ""}),
        ("post", PROJECTS, {"name": "vision"}),
        ("patch", "/api/v1/projects/ada-workspace/vision", {}),
        ("patch", "/api/v1/projects/ada-workspace/vision", {"name": "\0"}),
        ("patch", "/api/v1/projects/ada-workspace/vision", {"gpu_hour_price": -1}),
        ("patch", "/api/v1/projects/ada-workspace/vision", {"gpu_hour_price": True}),
        ("patch", WORKSPACE, {}),
        ("patch", WORKSPACE, {"name": None}),
        ("patch", WORKSPACE, {"retention_days": 0}),
        ("post", "/api/v1/workspaces", {"name": " "}),
    ],
)
def test_an_invalid_change_is_refused_without_an_audit_entry(
    manager, method, address, wanted
):
    assert send(manager, method, address, **wanted).status_code == 400
    assert not AuditEntry.objects.exists()


def test_a_workspace_is_created_changed_and_deleted(manager, member, client_with):
    made = send(manager, "post", "/api/v1/workspaces", name="Lab").json()
    assert made["slug"] == "lab"
    owner = member.user.memberships.get(workspace__slug="lab")
    key = client_with(owner, "manage")
    lab = "/api/v1/workspaces/lab"

    changed = send(key, "patch", lab, name="The Lab", retention_days=90).json()
    assert changed == {**made, "name": "The Lab", "retention_days": 90}
    assert manager.get(lab).status_code == 404
    assert manager.delete(WORKSPACE).status_code == 400
    assert key.delete(lab).json() == {"slug": "lab", "is_deleted": True}
    assert not Workspace.objects.filter(slug="lab").exists()


def test_readers_read_and_sessions_change_nothing(client_with, client_of, manager):
    from tracker.models import Member

    ada = Member.objects.get(user__username="ada")
    reader, browser = client_with(ada, "read"), client_of(ada)

    for client, status in ((reader, 403), (browser, 401)):
        assert client.get(WORKSPACE).status_code == 200
        assert send(client, "post", PROJECTS, name="new").status_code == status
        assert send(client, "patch", WORKSPACE, name="new").status_code == status
        assert (
            send(client, "post", "/api/v1/workspaces", name="n").status_code == status
        )
    assert Project.objects.count() == 1
