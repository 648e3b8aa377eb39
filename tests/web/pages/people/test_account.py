from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from tracker.actions.access import make_sign_in_link
from tracker.models import SignInLink

pytestmark = [pytest.mark.django_db, pytest.mark.database]

FORM = {"name": "node", "scope": "log", "days": "30"}


@pytest.fixture
def link(member):
    return f"/sign-in/{make_sign_in_link(member.user)}"


@pytest.fixture
def form(member):
    return {**FORM, "workspace": member.workspace.slug}


def is_signed_in(visitor: Client) -> bool:
    return visitor.get("/account/keys").status_code == HTTPStatus.OK


def test_a_link_signs_in_once(link):
    first, second = Client(), Client()

    assert first.post(link).status_code == HTTPStatus.FOUND
    again = second.post(link)

    assert is_signed_in(first)
    assert again["Location"] == "/sign-in?spent"
    assert b"python3 manage.py link" in second.get("/sign-in?spent").content
    assert not is_signed_in(second)


def test_looking_at_a_link_does_not_use_it(link):
    visitor = Client()

    visitor.get(link)
    visitor.head(link)

    assert not is_signed_in(visitor)
    assert visitor.post(link).status_code == HTTPStatus.FOUND


def test_a_link_expires(link):
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert Client().post(link)["Location"] == "/sign-in?spent"


@pytest.mark.parametrize("secret", ["x", "%00", "é", "a" * 5_000])
def test_a_link_nobody_made_is_refused(secret):
    assert Client().post(f"/sign-in/{secret}")["Location"] == "/sign-in?spent"


def test_a_link_is_never_logged(link, caplog):
    secret = link.rpartition("/")[2]

    for _ in range(2):
        Client().post(link)

    assert secret not in caplog.text


def test_a_session_planted_before_is_worth_nothing(link):
    visitor = Client()
    session = visitor.session
    session["planted"] = True
    session.save()
    planted = session.session_key
    visitor.cookies[settings.SESSION_COOKIE_NAME] = planted

    visitor.post(link)

    thief = Client()
    thief.cookies[settings.SESSION_COOKIE_NAME] = planted
    assert visitor.session.session_key != planted
    assert not is_signed_in(thief)


def test_signing_in_leads_to_the_page_asked_for(link):
    response = Client().post(link, {"next": "/account/keys"})

    assert response["Location"] == "/account/keys"


@pytest.mark.parametrize("wanted", ["//evil.test", "https://evil.test", "/\\evil.test"])
def test_signing_in_never_leads_elsewhere(link, wanted):
    assert Client().post(link, {"next": wanted})["Location"] == "/"


def test_someone_signed_in_skips_the_sign_in_page(member, client_of):
    response = client_of(member).get("/sign-in?next=//evil.test")

    assert response["Location"] == "/"


def test_signing_out_ends_the_session(member, client_of):
    visitor = client_of(member)
    stolen = Client()
    stolen.cookies[settings.SESSION_COOKIE_NAME] = visitor.cookies[
        settings.SESSION_COOKIE_NAME
    ].value

    visitor.post("/sign-out")

    assert not is_signed_in(visitor)
    assert not is_signed_in(stolen)
