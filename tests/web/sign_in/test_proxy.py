from __future__ import annotations

import ipaddress

import pytest
from django.core.exceptions import MiddlewareNotUsed
from django.test import Client

from tracker.actions.access import make_sign_in_link
from tracker.actions.people.accounts import create_account
from tracker.models import AuditEntry
from web.sign_in.proxy import ProxySignIn

pytestmark = [pytest.mark.django_db, pytest.mark.database]

NAMED = {"x-forwarded-email": "Ada@example.org"}
SECRET = {"x-seamark-proxy-secret": "proxy secret"}


@pytest.fixture(autouse=True)
def proxy(settings, db):
    settings.PROXY_USER_HEADER = "X-Forwarded-Email"
    settings.PROXY_SECRET = "proxy secret"
    settings.PROXY_ADDRESSES = []
    create_account("ada@example.org", "Ada")
    create_account("bob@example.org", "Bob")


def shown(visitor: Client, headers, **extra) -> str:
    return visitor.get("/account/", headers=headers, **extra).content.decode()


def test_the_proxys_user_is_signed_in():
    visitor = Client()

    assert "ada@example.org" in shown(visitor, {**NAMED, **SECRET})
    assert "ada@example.org" in shown(visitor, {**NAMED, **SECRET})
    assert AuditEntry.objects.filter(action="sign-in.succeeded").count() == 1


@pytest.mark.parametrize(
    "headers",
    [
        NAMED,
        {**NAMED, "x-seamark-proxy-secret": ""},
        {**NAMED, "x-seamark-proxy-secret": "guessed"},
        {**NAMED, "x-forwarded-for": "192.0.2.7"},
    ],
)
def test_the_header_alone_means_nothing(settings, headers):
    settings.PROXY_ADDRESSES = [ipaddress.ip_network("192.0.2.7")]

    assert shown(Client(), headers) == ""


def test_an_empty_secret_is_no_secret(settings):
    settings.PROXY_SECRET = ""

    assert shown(Client(), {**NAMED, "x-seamark-proxy-secret": ""}) == ""


def test_a_listed_address_needs_no_secret(settings):
    settings.PROXY_ADDRESSES = [ipaddress.ip_network("192.0.2.0/28")]

    assert "ada@example.org" in shown(Client(), NAMED, REMOTE_ADDR="192.0.2.7")
    assert shown(Client(), NAMED, REMOTE_ADDR="192.0.2.77") == ""


def test_another_user_of_the_proxy_gets_a_session_of_their_own():
    visitor = Client()
    shown(visitor, {**NAMED, **SECRET})
    before = visitor.session.session_key

    page = shown(visitor, {"x-forwarded-email": "bob@example.org", **SECRET})

    assert "bob@example.org" in page
    assert visitor.session.session_key != before


def test_the_session_of_the_user_before_is_not_for_an_unknown_one():
    visitor = Client()
    shown(visitor, {**NAMED, **SECRET})

    page = shown(visitor, {"x-forwarded-email": "eve@example.org", **SECRET})

    assert page == ""
    assert "_auth_user_id" not in visitor.session


def test_a_one_time_link_signs_in_whatever_the_proxy_says(member):
    visitor = Client()
    visitor.post(f"/sign-in/{make_sign_in_link(member.user)}")
    headers = {"x-forwarded-email": "eve@example.org", **SECRET}

    assert member.user.username in shown(visitor, headers)


def test_an_unknown_user_is_told_to_get_an_invitation():
    headers = {"x-forwarded-email": "eve@example.org", **SECRET}

    page = Client().get("/sign-in", headers=headers).content

    assert b"No active account has the address eve@example.org" in page


def test_without_the_setting_there_is_no_such_middleware(settings):
    settings.PROXY_USER_HEADER = ""

    with pytest.raises(MiddlewareNotUsed):
        ProxySignIn(lambda request: None)
