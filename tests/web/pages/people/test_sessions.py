from __future__ import annotations

from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.test import Client
from django.utils import timezone

from tracker.actions.people.accounts import create_account
from tracker.actions.people.sessions import delete_ended_sessions
from tracker.models import AuditEntry
from tracker.queries.people.sessions import device_of
from web.sign_in.activity import SEEN_AT

pytestmark = [pytest.mark.django_db, pytest.mark.database]

PASSWORD = "correct horse battery"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15"
    " (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"
)


def signed_in(name: str = "ada", **extra) -> Client:
    visitor = Client(**extra)
    visitor.post("/sign-in", {"login": name, "password": PASSWORD})
    return visitor


def is_signed_in(visitor: Client) -> bool:
    return visitor.get("/account/").status_code == 200


@pytest.fixture
def browsers(db):
    create_account("ada@example.org", "Ada Lovelace", PASSWORD)
    here = signed_in(headers={"user-agent": FIREFOX}, REMOTE_ADDR="192.0.2.1")
    return here, signed_in(headers={"user-agent": SAFARI}, REMOTE_ADDR="192.0.2.2")


def test_the_list_names_device_address_and_this_browser(browsers):
    found = browsers[0].get("/account/sessions").context["sessions"]

    assert [(each.device, each.address, each.is_current) for each in found] == [
        ("Firefox on Linux", "192.0.2.1", True),
        ("Safari on iPhone", "192.0.2.2", False),
    ]


def test_a_client_without_an_address_signs_in_too(browsers):
    assert is_signed_in(signed_in(REMOTE_ADDR=""))


def test_one_session_can_be_ended(browsers):
    here, elsewhere = browsers
    other = here.get("/account/sessions").context["sessions"][1]

    here.post(f"/account/sessions/{other.id}/end")

    assert is_signed_in(here)
    assert not is_signed_in(elsewhere)
    assert AuditEntry.objects.latest("id").action == "sessions.ended"


def test_all_others_can_be_ended_at_once(browsers):
    here, elsewhere = browsers

    here.post("/account/sessions/end-others")

    assert is_signed_in(here)
    assert not is_signed_in(elsewhere)
    assert len(here.get("/account/sessions").context["sessions"]) == 1


def test_nobody_ends_anothers_session(browsers):
    create_account("bob@example.org", "Bob", PASSWORD)
    row = UserSession.objects.order_by("id").first()

    answer = signed_in("bob").post(f"/account/sessions/{row.id}/end")

    assert answer.status_code == 404
    assert is_signed_in(browsers[0])


def test_signing_out_leaves_the_list(browsers):
    here, elsewhere = browsers

    elsewhere.post("/sign-out")

    assert len(here.get("/account/sessions").context["sessions"]) == 1


def test_a_visit_is_recorded_at_most_once_in_ten_minutes(browsers):
    here = browsers[0]
    before = UserSession.objects.get(ip="192.0.2.1").last_seen_at
    is_signed_in(here)
    assert UserSession.objects.get(ip="192.0.2.1").last_seen_at == before

    session = here.session
    session[SEEN_AT] -= 601
    session.save()
    is_signed_in(here)

    assert UserSession.objects.get(ip="192.0.2.1").last_seen_at > before


def test_rows_of_ended_sessions_are_cleared_away(browsers):
    browsers[1].session.delete()

    delete_ended_sessions(timezone.now() + timedelta(hours=1))

    assert UserSession.objects.count() == 1


@pytest.mark.parametrize(
    ("user_agent", "device"),
    [("", "Unknown device"), ("curl/8.5.0", "curl"), ("<script>", "Unknown device")],
)
def test_a_client_that_is_no_browser_has_a_name(user_agent, device):
    assert device_of(user_agent) == device
