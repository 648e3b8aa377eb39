"""Workspaces and projects in the pages."""

from __future__ import annotations

from http import HTTPStatus

import pytest

from tests.builders import make_member, make_project
from tracker.actions.found_projects import find_or_make_project
from tracker.models import Member, Project, Role, Workspace

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def site(member):
    return f"/w/{member.workspace.slug}"


def test_a_project_is_created_renamed_archived_and_deleted_in_the_pages(
    member, client_of, site
):
    browser = client_of(member)

    made = browser.post(f"{site}/projects/new", {"name": "Vision", "access": "chosen"})
    assert made["Location"] == f"{site}/vision/"
    assert not Project.objects.get().is_open
    changed = {"name": "Vision 2", "description": "Images", "owner": ""}
    browser.post(f"{site}/vision/settings/change", changed)
    browser.post(f"{site}/vision/settings/archive")
    home = browser.get("/").content.decode()
    assert "1 archived project" in home
    page = browser.get(f"{site}/vision/settings").content.decode()
    assert "Restore project" in page
    kept = browser.post(f"{site}/vision/settings/delete", {"name": "Vision"})
    assert kept.status_code == HTTPStatus.BAD_REQUEST
    browser.post(f"{site}/vision/settings/delete", {"name": "Vision 2"})
    gone = browser.get(f"{site}/vision/")
    assert gone.status_code == HTTPStatus.NOT_FOUND


def test_an_archived_project_says_so_where_it_is_changed(member, project, client_of):
    browser = client_of(member)
    base = f"/w/{member.workspace.slug}/{project.slug}/settings"
    browser.post(f"{base}/archive")

    refused = browser.post(base, {"retention_days": "3"})

    assert refused.status_code == HTTPStatus.FORBIDDEN
    assert "The project is archived" in refused.content.decode()


def test_new_projects_take_the_defaults_of_the_workspace(member, client_of, site):
    form = {
        "name": "Lab",
        "access": "chosen",
        "retention_days": "30",
        "gpu_hour_price": "2,5",
        "currency": "EUR",
    }
    client_of(member).post(f"{site}/settings", form)

    workspace = Workspace.objects.get(slug=member.workspace.slug)
    made = find_or_make_project(workspace, "speech", member.user_id)

    assert workspace.name == "Lab"
    assert (made.is_open, made.retention_days) == (False, 30)
    assert (made.gpu_hour_price, made.currency) == (2.5, "EUR")


def test_who_creates_a_workspace_owns_it(member, client_of):
    browser = client_of(member)

    made = browser.post("/workspaces/new", {"name": "Robotics lab"})
    page = browser.get(made["Location"]).content.decode()

    assert "Robotics lab" in page
    own = Member.objects.get(workspace__slug="robotics-lab")
    assert (own.user, own.role) == (member.user, Role.OWNER)


def test_a_workspace_is_deleted_only_without_projects(member, client_of, site):
    browser, name = client_of(member), member.workspace.name
    project = make_project(member)

    refused = browser.post(f"{site}/delete", {"typed": name})
    assert refused.status_code == HTTPStatus.BAD_REQUEST
    project.delete()
    assert browser.post(f"{site}/delete", {"typed": "x"}).status_code == 400
    browser.post(f"{site}/delete", {"typed": name})

    assert not Workspace.objects.filter(id=member.workspace_id).exists()


@pytest.mark.parametrize("role", [Role.ADMIN, Role.MEMBER, Role.VIEWER, Role.GUEST])
def test_roles_below_owner_delete_no_workspace(member, client_of, site, role):
    bob = client_of(make_member("bob", role, workspace=member.workspace))

    refused = bob.post(f"{site}/delete", {"typed": member.workspace.name})

    assert refused.status_code == HTTPStatus.FORBIDDEN


@pytest.mark.parametrize("role", [Role.VIEWER, Role.GUEST])
def test_viewers_and_guests_create_nothing(member, client_of, site, role):
    bob = client_of(make_member("bob", role, workspace=member.workspace))

    for address in (f"{site}/projects/new", "/workspaces/new"):
        assert bob.post(address, {"name": "x"}).status_code == HTTPStatus.FORBIDDEN
    assert not Project.objects.exists()


def test_another_workspace_looks_absent(stranger, client_of, site):
    browser = client_of(stranger)

    for path in ("/", "/settings", "/projects/new"):
        assert browser.get(f"{site}{path}").status_code == HTTPStatus.NOT_FOUND
