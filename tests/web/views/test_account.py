from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from tests.builders import make_member
from tracker.actions.access import authenticate, make_sign_in_link, make_token
from tracker.actor import Scope
from tracker.models import SignInLink, Token

pytestmark = [pytest.mark.django_db, pytest.mark.database]

FORM = {"name": "node", "scope": "log", "days": "30"}


@pytest.fixture
def link(member):
    return f"/sign-in/{make_sign_in_link(member.user)}"


@pytest.fixture
def form(member):
    return {**FORM, "workspace": member.workspace.slug}


def is_signed_in(visitor: Client) -> bool:
    return visitor.get("/settings/tokens").status_code == HTTPStatus.OK


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
    response = Client().post(link, {"next": "/settings/tokens"})

    assert response["Location"] == "/settings/tokens"


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


def test_a_new_token_is_shown_once_with_what_to_do_with_it(member, client_of, form):
    visitor = client_of(member)

    made = visitor.post("/settings/tokens", form).content.decode()
    later = visitor.get("/settings/tokens").content.decode()

    secret = made.split('id="secret">')[1].split("<")[0]
    assert authenticate(secret).scope == Scope.LOG
    assert f"export SEAMARK_TOKEN={secret}" in made
    assert settings.PUBLIC_URL in made
    assert secret not in later
    assert "node" in later


def test_a_token_expires_when_asked(member, client_of, form):
    client_of(member).post("/settings/tokens", form)

    left = Token.objects.get().expires_at - timezone.now()
    assert timedelta(days=29) < left <= timedelta(days=30)


def test_a_token_may_last(member, client_of, form):
    client_of(member).post("/settings/tokens", {**form, "days": ""})

    assert Token.objects.get().expires_at is None


def test_what_was_typed_of_a_token_stays_when_it_is_refused(member, client_of, form):
    typed = {**form, "name": "x" * 201, "scope": "manage", "days": ""}

    page = client_of(member).post("/settings/tokens", typed).content.decode()

    assert f'value="{"x" * 201}"' in page
    assert '<option value="manage" selected>' in page
    assert '<option value="" selected>' in page


@pytest.mark.parametrize(
    "bad",
    [
        {"name": ""},
        {"name": "x" * 201},
        {"name": "a\0b"},
        {"scope": "everything"},
        {"days": "9999"},
    ],
    ids=lambda bad: next(iter(bad)),
)
def test_a_token_that_cannot_be_made_says_why(member, client_of, form, bad):
    response = client_of(member).post("/settings/tokens", {**form, **bad})

    assert response.status_code == HTTPStatus.BAD_REQUEST
    assert b'role="alert"' in response.content
    assert not Token.objects.exists()


def test_nobody_makes_a_token_for_a_workspace_of_no_possible_name(
    member, client_of, form
):
    for address in ("/settings/tokens", "/settings/tokens/first"):
        refused = client_of(member).post(address, {**form, "workspace": "a\0b"})
        assert refused.status_code == 404


def test_nobody_makes_a_token_for_anothers_workspace(member, stranger, client_of, form):
    response = client_of(stranger).post("/settings/tokens", form)

    assert response.status_code == HTTPStatus.NOT_FOUND
    assert not Token.objects.exists()


def test_a_revoked_token_opens_nothing(member, client_of):
    secret = make_token(member, "node", Scope.MANAGE)

    response = client_of(member).post(
        f"/settings/tokens/{Token.objects.get().id}/revoke"
    )

    assert response.status_code == HTTPStatus.FOUND
    assert authenticate(secret) is None
    assert client_of(member).get("/settings/tokens").context["tokens"] == []


def test_nobody_sees_or_revokes_anothers_token(member, client_of):
    secret = make_token(member, "ada's node", Scope.MANAGE)
    colleague = client_of(make_member("bob", workspace=member.workspace))

    response = colleague.post(f"/settings/tokens/{Token.objects.get().id}/revoke")

    assert response.status_code == HTTPStatus.NOT_FOUND
    assert colleague.get("/settings/tokens").context["tokens"] == []
    assert authenticate(secret) is not None


def test_the_list_costs_the_same_for_many_tokens(
    member, client_of, django_assert_max_num_queries
):
    for number in range(30):
        make_token(member, f"node {number}", Scope.LOG)
    visitor = client_of(member)

    with django_assert_max_num_queries(5):
        visitor.get("/settings/tokens")
