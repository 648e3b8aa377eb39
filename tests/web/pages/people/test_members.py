"""Owners and admins invite, change and remove members in the browser."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from tests.builders import make_member, make_project
from tracker.models import Invitation, Member, Project, ProjectMember, Role, User

pytestmark = [pytest.mark.django_db, pytest.mark.database]

MEMBERS = "/w/ada-workspace/members"
PASSWORD = "long enough and rare"


@pytest.fixture
def ada(client_of, member):
    return client_of(member)


@pytest.fixture
def bob(member):
    return make_member("bob", Role.MEMBER, workspace=member.workspace)


def form(**fields):
    return {"role": "member", "project": "", "days": "7", "uses": "1", **fields}


def link_in(page):
    return re.search(r"http\S+(/join/smi_[\w-]+)", page.content.decode())[1]


def test_three_people_join_from_the_browser_and_do_what_their_role_allows(
    ada, member, project
):
    """A member, an admin, and a viewer of one project."""
    make_project(member, "speech")
    people = {}
    for name, wanted in {
        "bob": form(),
        "carl": form(role="admin", email="carl@example.com"),
        "dora": form(role="viewer", project="vision"),
    }.items():
        made = ada.post(f"{MEMBERS}/invite", wanted)
        assert made.status_code == 201
        browser = people[name] = Client()
        link = link_in(made)
        assert browser.get(link).status_code == 200
        typed = {
            "email": f"{name}@example.com",
            "name": name.title(),
            "password": PASSWORD,
        }
        assert browser.post(link, typed).status_code == 302
        assert Client().post(link, typed).status_code == 410

    opens = {
        name: [
            browser.get(path).status_code
            for path in (
                "/w/ada-workspace/vision/",
                "/w/ada-workspace/speech/",
                MEMBERS,
                f"{MEMBERS}/{member.id}",
            )
        ]
        for name, browser in people.items()
    }
    assert opens == {
        "bob": [200, 200, 200, 403],
        # An admin does not change an owner.
        "carl": [200, 200, 200, 403],
        "dora": [200, 404, 403, 403],
    }


def test_looking_at_an_invitation_does_not_use_it(ada):
    link = link_in(ada.post(f"{MEMBERS}/invite", form()))

    for _ in range(2):
        assert Client().get(link).status_code == 200
        assert Client().head(link).status_code == 200

    assert Invitation.objects.get().use_count == 0


def test_a_refused_account_keeps_what_was_typed_and_uses_nothing(ada, bob):
    bob.user.email = "bob@example.com"
    bob.user.save()
    link = link_in(ada.post(f"{MEMBERS}/invite", form()))
    typed = {"email": "Bob@example.com", "name": "Bobby", "password": PASSWORD}

    taken = Client().post(link, typed)
    weak = Client().post(link, {**typed, "email": "x@example.com", "password": "1234"})

    assert taken.status_code == weak.status_code == 400
    assert b"another account" in taken.content
    assert b'value="Bobby"' in taken.content
    assert PASSWORD.encode() not in taken.content
    assert Invitation.objects.get().use_count == 0


def test_another_address_gets_a_page_that_says_so(ada, client_of, bob):
    link = link_in(ada.post(f"{MEMBERS}/invite", form(email="eve@example.com")))

    page = client_of(bob).get(link)

    assert page.status_code == 403
    assert b"eve@example.com" in page.content
    assert b"Sign out" in page.content


def test_an_unknown_invitation_is_not_there():
    for secret in ("smi_x", "%00", "é", "a" * 5_000):
        assert Client().get(f"/join/{secret}").status_code == 404
        assert Client().post(f"/join/{secret}").status_code == 404


def test_joining_needs_the_form_of_the_page(ada, client_of, bob):
    link = link_in(ada.post(f"{MEMBERS}/invite", form()))
    strict = Client(enforce_csrf_checks=True)

    assert strict.post(link, {"email": "x@example.com"}).status_code == 403
    assert not User.objects.filter(email="x@example.com").exists()


def test_a_session_planted_before_joining_is_worth_nothing(ada, settings):
    link = link_in(ada.post(f"{MEMBERS}/invite", form()))
    visitor = Client()
    session = visitor.session
    session["planted"] = True
    session.save()
    planted = visitor.cookies[settings.SESSION_COOKIE_NAME] = session.session_key

    visitor.post(link, {"email": "x@example.com", "name": "X", "password": PASSWORD})

    assert visitor.session.session_key != planted


def test_the_links_host_is_the_configured_one(ada, settings):
    settings.ALLOWED_HOSTS = ["*"]
    settings.PUBLIC_URL = "https://seamark.example"

    made = ada.post(f"{MEMBERS}/invite", form(), headers={"host": "evil.test"})

    assert b"https://seamark.example/join/smi_" in made.content
    assert b"evil.test" not in made.content


def test_an_admin_gives_no_role_above_their_own_and_changes_no_owner(
    member, client_of, bob
):
    carl = make_member("carl", Role.ADMIN, workspace=member.workspace)
    admin = client_of(carl)

    assert admin.post(f"{MEMBERS}/invite", form(role="owner")).status_code == 403
    for what in ("role", "deactivate", "offboard", "remove"):
        path = f"{MEMBERS}/{member.id}/{what}"
        assert admin.post(path, {"role": "viewer"}).status_code == 403
    assert admin.post(f"{MEMBERS}/{bob.id}/role", {"role": "owner"}).status_code == 403
    assert admin.post(f"{MEMBERS}/{carl.id}/role", {"role": "owner"}).status_code == 403
    assert admin.post(f"{MEMBERS}/{bob.id}/role", {"role": "admin"}).status_code == 302
    assert Member.objects.get(id=member.id).role == Role.OWNER


def test_the_page_says_why_the_last_owner_stays(ada, member):
    for what in ("role", "deactivate", "offboard", "remove"):
        refused = ada.post(f"{MEMBERS}/{member.id}/{what}", {"role": "viewer"})
        assert refused.status_code == 400
        assert b"last owner" in refused.content


def test_members_are_of_their_workspace_alone(ada, stranger, client_of):
    other = client_of(stranger)
    for path in (MEMBERS, f"{MEMBERS}/1"):
        assert other.get(path).status_code == 404
    assert ada.get(f"{MEMBERS}/{stranger.id}").status_code == 404
    assert ada.post(f"{MEMBERS}/{stranger.id}/remove").status_code == 404


def test_a_pending_invitation_is_renewed_and_revoked(ada):
    first = link_in(ada.post(f"{MEMBERS}/invite", form()))
    path = f"/w/ada-workspace/invitations/{Invitation.objects.get().id}"

    second = link_in(ada.post(f"{path}/renew"))
    assert Client().get(first).status_code == 404
    assert Client().get(second).status_code == 200

    ada.post(f"{path}/revoke")
    assert Client().get(second).status_code == 410
    assert b"No pending invitations" in ada.get(MEMBERS).content


def test_offboarding_signs_out_at_once(ada, client_of, bob):
    browser = client_of(bob)
    assert b"1 session" in ada.get(f"{MEMBERS}/{bob.id}").content

    ada.post(f"{MEMBERS}/{bob.id}/offboard")

    assert browser.get("/")["Location"].startswith("/sign-in")


def test_a_closed_project_is_seen_by_chosen_members_with_a_role_of_their_own(
    ada, client_of, bob, project
):
    place = "/w/ada-workspace/vision/"
    browser = client_of(bob)
    ada.post(f"{place}members/access", {"access": "chosen"})
    assert not Project.objects.get().is_open
    assert browser.get(place).status_code == 404

    ada.post(f"{place}members", {"who": "bob", "role": "viewer"})
    assert browser.get(place).status_code == 200
    assert browser.post(f"{place}members", {"who": "bob"}).status_code == 403

    ada.post(f"{place}members/{bob.id}/role", {"role": "admin"})
    assert browser.post(f"{place}members/access", {"access": "open"}).status_code == 302

    ada.post(f"{place}members/{bob.id}/remove")
    assert not ProjectMember.objects.exists()


def test_only_members_of_the_workspace_are_added_to_a_project(ada, project, stranger):
    for who in ("mallory", "", "a\0b", "ada"):
        refused = ada.post(
            "/w/ada-workspace/vision/members", {"who": who, "role": "viewer"}
        )
        assert refused.status_code == 400
    assert not ProjectMember.objects.exists()


def test_a_mailed_invitation_is_not_shown(ada, settings):
    settings.SMTP_URL = "smtp://localhost"

    sent = ada.post(f"{MEMBERS}/invite", form(email="bob@example.com"))

    assert b"Invitation sent to bob@example.com" in sent.content
    assert b"smi_" not in sent.content


def test_a_person_with_an_account_signs_in_on_the_way_and_joins(ada, stranger):
    stranger.user.email = "mallory@example.com"
    stranger.user.set_password(PASSWORD)
    stranger.user.save()
    browser = Client()
    page = browser.get(link_in(ada.post(f"{MEMBERS}/invite", form()))).content.decode()
    way = re.search(r'href="(/sign-in\?next=/join/[^"]+)"', page)[1]
    typed = {"login": "mallory@example.com", "password": PASSWORD}

    back = browser.post(way, typed)["Location"]
    browser.post(back)

    assert browser.get(MEMBERS).status_code == 200
