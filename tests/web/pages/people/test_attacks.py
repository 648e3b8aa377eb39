"""Attacks on sessions, passwords, invitations and links."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client

from tests.builders import make_member
from tests.tracker.test_route_policy import address, all_routes
from tracker.actions.access import make_sign_in_link
from tracker.actions.people.accounts import create_account
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.people.invitations import InvitationRequest, invite
from tracker.actions.people.joining import CannotJoin, Refusal, join
from tracker.models import Mail, Member, Role

pytestmark = [pytest.mark.django_db, pytest.mark.database]

PASSWORD = "correct horse battery"
FOREIGN = ["https://evil.test/", "//evil.test", "/\\evil.test", "javascript:alert(1)"]


@pytest.fixture
def ada(db):
    return create_account("ada@example.org", "Ada", PASSWORD)


def sign_in(visitor: Client, **form):
    typed = {"login": "ada@example.org", "password": PASSWORD, **form}
    return visitor.post("/sign-in", typed)


def is_signed_in(visitor: Client) -> bool:
    return visitor.get("/account/").status_code == 200


def test_a_session_cookie_writes_nothing_by_the_api(member, client_of):
    """Another site's page can send forms with cookies, but no API key."""
    visitor = client_of(member)
    answers = {
        (method, route): visitor.generic(method, address(route)).status_code
        for route in all_routes()
        if route.startswith("api/v1/") and route != "api/v1/"
        for method in ("POST", "PUT", "PATCH", "DELETE")
    }

    assert 401 in answers.values()
    assert {each for each, code in answers.items() if code not in (401, 405)} == set()


def test_a_session_planted_before_a_one_time_link_is_worthless(member):
    visitor, thief = Client(), Client()
    session = visitor.session
    session["planted"] = True
    session.save()
    for browser in (visitor, thief):
        browser.cookies[settings.SESSION_COOKIE_NAME] = session.session_key

    visitor.post(f"/sign-in/{make_sign_in_link(member.user)}")

    assert is_signed_in(visitor)
    assert not is_signed_in(thief)


def test_the_session_cookie_of_before_signing_out_is_worthless(ada):
    visitor, thief = Client(), Client()
    sign_in(visitor)
    thief.cookies = visitor.cookies.copy()

    visitor.post("/sign-out")

    assert not is_signed_in(thief)


@pytest.mark.parametrize("wanted", FOREIGN)
def test_signing_in_leads_to_no_other_host(ada, wanted):
    assert sign_in(Client(), next=wanted)["Location"].rstrip("/") == ""
    link = f"/sign-in/{make_sign_in_link(ada)}"
    assert Client().post(link, {"next": wanted})["Location"].rstrip("/") == ""


@pytest.mark.parametrize(
    ("path", "field"),
    [("/account/confirm", "password"), ("/account/password", "oldpassword")],
)
def test_a_stolen_session_cannot_guess_the_password(ada, path, field):
    visitor = Client()
    sign_in(visitor)
    new = {"password1": "staple paper clip", "password2": "staple paper clip"}

    for number in range(10):
        visitor.post(path, {**new, field: f"guess number {number}"})
    answer = visitor.post(path, {**new, field: PASSWORD})

    assert b"Too many" in answer.content
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


def test_reset_mails_to_one_address_are_limited(ada, settings):
    settings.SMTP_URL = "smtp://127.0.0.1:25"

    for number in range(6):
        visitor = Client(REMOTE_ADDR=f"192.0.2.{number}")
        visitor.post("/account/password/forgotten", {"email": "ada@example.org"})

    assert Mail.objects.count() == 3


@pytest.mark.django_db(transaction=True)
@pytest.mark.postgresql
def test_an_invitation_for_one_lets_one_in_of_four_at_once():
    owner = make_member("olga")
    users = [make_member(name).user for name in ("a", "b", "c", "d")]
    secret = invite(
        owner.workspace, InvitationRequest(Role.MEMBER), AuditContext(owner.user_id)
    )

    def attempt(user):
        try:
            join(secret, user)
        except CannotJoin as error:
            return error.refusal
        finally:
            connection.close()
        return None

    with ThreadPoolExecutor(4) as threads:
        refusals = list(threads.map(attempt, users))

    assert sorted(map(str, refusals)) == ["None", *[str(Refusal.USED)] * 3]
    assert Member.objects.filter(workspace=owner.workspace).count() == 2
