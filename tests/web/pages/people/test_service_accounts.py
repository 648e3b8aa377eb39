"""Service accounts: made, given keys, deleted."""

from __future__ import annotations

from http import HTTPStatus

import pytest

from tests.builders import Process, make_member, make_project
from tracker.actions.access import authenticate, make_sign_in_link, use_sign_in_link
from tracker.models import Member, Role, Run, User

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def site(member):
    return f"/w/{member.workspace.slug}/service-accounts"


@pytest.fixture
def make(member, client_of, site):
    """Return a function that creates an account by its form and returns its page."""

    def create(**fields):
        form = {"name": "Slurm", "role": "member", **fields}
        return client_of(member).post(f"{site}/new", form)["Location"]

    return create


def key_of(page, client, scope="log"):
    form = {"name": "login node", "scope": scope, "days": ""}
    made = client.post(page, form).content.decode()
    return made.split('id="secret">')[1].split("<")[0]


def test_runs_of_its_keys_bear_its_name_and_outlast_it(member, client_of, make):
    project, browser, page = make_project(member), client_of(member), make()
    process = Process(project, "run", actor=authenticate(key_of(page, browser)))
    process.open()
    run = process.run

    browser.post(f"{page}/delete")

    assert Run.objects.get(id=run.id).made_by.display_name == "Slurm"
    assert not Member.objects.filter(user__is_service=True).exists()
    assert browser.get(page).status_code == HTTPStatus.NOT_FOUND


def test_its_keys_end_with_it(member, client_of, make):
    browser, page = client_of(member), make()
    secret = key_of(page, browser)

    browser.post(f"{page}/delete")

    assert authenticate(secret) is None


def test_it_cannot_sign_in(make):
    make()
    user = User.objects.get(is_service=True)

    assert not user.has_usable_password()
    assert use_sign_in_link(make_sign_in_link(user)) is None


def test_an_account_of_chosen_projects_sees_no_other(member, client_of, api, make):
    for name in ("vision", "speech"):
        make_project(member, name)
    page = make(role="viewer", access="projects", projects=["speech"])

    secret = key_of(page, client_of(member), "read")

    seen = api(secret).get("/api/v1/projects").json()["projects"]
    assert [project["slug"] for project in seen] == ["speech"]


@pytest.mark.parametrize(
    "bad", [{"name": ""}, {"role": "owner"}, {"access": "projects"}], ids=str
)
def test_an_account_that_cannot_be_made_says_why(member, client_of, site, bad):
    form = {"name": "Slurm", "role": "member", **bad}

    response = client_of(member).post(f"{site}/new", form)

    assert response.status_code == HTTPStatus.BAD_REQUEST
    assert b'role="alert"' in response.content
    assert not User.objects.filter(is_service=True).exists()


def test_a_viewer_account_has_no_key_that_logs(member, client_of, make):
    page = make(role="viewer")

    response = client_of(member).post(page, {"name": "n", "scope": "log", "days": ""})

    assert response.status_code == HTTPStatus.BAD_REQUEST


def test_a_member_makes_and_sees_none(member, client_of, make, site):
    page = make()
    bob = client_of(make_member("bob", Role.MEMBER, workspace=member.workspace))

    for address in (page, f"{site}/new"):
        assert bob.get(address).status_code == HTTPStatus.FORBIDDEN
    assert bob.post(f"{page}/delete").status_code == HTTPStatus.FORBIDDEN
