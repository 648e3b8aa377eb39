from __future__ import annotations

import re
from http import HTTPStatus

import pytest
from django.conf import settings
from django.test import Client

from tracker.actions.people.accounts import create_account, make_reset_link
from tracker.models import AuditEntry, Mail

pytestmark = [pytest.mark.django_db, pytest.mark.database]

PASSWORD = "correct horse battery"
NEW_PASSWORD = "staple paper clip"


@pytest.fixture
def ada(db):
    return create_account("ada@example.org", "Ada Lovelace", PASSWORD)


def sign_in(visitor: Client, login="ada@example.org", password=PASSWORD, **form):
    return visitor.post("/sign-in", {"login": login, "password": password, **form})


def is_signed_in(visitor: Client) -> bool:
    return visitor.get("/account/").status_code == HTTPStatus.OK


def actions() -> list[str]:
    return list(AuditEntry.objects.order_by("id").values_list("action", flat=True))


@pytest.mark.parametrize("login", ["ada@example.org", " ADA@example.org ", "ada"])
def test_an_address_or_username_and_a_password_sign_in(ada, login):
    visitor = Client()

    response = sign_in(visitor, login, next="/account/sessions")

    assert response["Location"] == "/account/sessions"
    assert is_signed_in(visitor)
    assert actions()[-1] == "sign-in.succeeded"


def test_a_wrong_password_is_rejected_and_recorded_without_it(ada):
    page = sign_in(Client(), password="not this one")

    assert page.status_code == HTTPStatus.OK
    assert b"Wrong email address or password." in page.content
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.target) == ("sign-in.failed", "ada")
    assert entry.address == "127.0.0.1"


def test_what_was_typed_as_an_unknown_name_is_not_recorded(ada):
    sign_in(Client(), login="my-secret-password")

    assert AuditEntry.objects.latest("id").target == "unknown account"


def test_an_unknown_and_a_known_address_get_the_same_answer(ada):
    def words(page):
        changing = r'value="[^"]*"|X-CSRFToken": "[^"]*"'
        return re.sub(changing, "", page.content.decode())

    known = sign_in(Client(), password="not this one")
    unknown = sign_in(Client(), "bob@example.org", "not this one")

    assert words(known) == words(unknown)


def test_a_deactivated_account_does_not_sign_in(ada):
    ada.is_active = False
    ada.save()
    visitor = Client()

    assert sign_in(visitor)["Location"] == "/account/deactivated"
    assert not is_signed_in(visitor)


def test_sessions_of_a_deactivated_account_end_at_once(ada):
    visitor = Client()
    sign_in(visitor)

    ada.is_active = False
    ada.save()

    assert not is_signed_in(visitor)


def test_a_service_account_does_not_sign_in(ada):
    ada.is_service = True
    ada.save()
    visitor = Client()

    sign_in(visitor)

    assert not is_signed_in(visitor)


def test_a_session_planted_before_is_worth_nothing(ada):
    visitor, thief = Client(), Client()
    session = visitor.session
    session["planted"] = True
    session.save()
    for browser in (visitor, thief):
        browser.cookies[settings.SESSION_COOKIE_NAME] = session.session_key

    sign_in(visitor)

    assert is_signed_in(visitor)
    assert not is_signed_in(thief)


def test_forms_need_a_csrf_token(ada):
    visitor = Client(enforce_csrf_checks=True)

    for address in ("/sign-in", "/account/password/forgotten"):
        form = {"login": "ada", "password": PASSWORD, "email": "ada@example.org"}
        assert visitor.post(address, form).status_code == HTTPStatus.FORBIDDEN


def test_guessing_is_stopped_for_the_account_from_any_address(ada):
    for number in range(5):
        visitor = Client(REMOTE_ADDR=f"192.0.2.{number}")
        sign_in(visitor, password=f"guess number {number}")

    visitor = Client(REMOTE_ADDR="192.0.2.99")
    page = sign_in(visitor)

    assert b"Too many attempts" in page.content
    assert not is_signed_in(visitor)


@pytest.mark.processes
def test_guesses_are_counted_in_redis_where_there_is_one(ada, settings, valkey):
    backend = "django.core.cache.backends.redis.RedisCache"
    settings.CACHES = {"default": {"BACKEND": backend, "LOCATION": valkey.url}}
    for number in range(5):
        visitor = Client(REMOTE_ADDR=f"192.0.2.{number}")
        sign_in(visitor, password=f"guess number {number}")

    page = sign_in(Client(REMOTE_ADDR="192.0.2.99"))

    assert b"Too many attempts" in page.content


def test_guessing_is_stopped_for_the_address_on_any_account(ada):
    for number in range(10):
        sign_in(Client(), f"person{number}@example.org", "a guess")

    visitor = Client()
    assert b"Too many attempts" in sign_in(visitor).content
    assert not is_signed_in(visitor)


def test_links_cannot_be_tried_without_end():
    for number in range(20):
        assert Client().post(f"/sign-in/{number}").status_code == HTTPStatus.FOUND

    response = Client().post("/sign-in/x")

    assert response.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert b"Too many attempts" in response.content


@pytest.fixture
def mails(settings):
    settings.SMTP_URL = "smtp://127.0.0.1:25"
    settings.PUBLIC_URL = "https://seamark.example.org"
    return Mail.objects


def test_a_reset_mail_leads_to_the_public_address_whatever_the_host_header(ada, mails):
    response = Client().post(
        "/account/password/forgotten",
        {"email": "ada@example.org"},
        headers={"host": "localhost"},
    )

    assert response["Location"] == "/account/password/forgotten/sent"
    mail = mails.get()
    assert mail.to == "ada@example.org"
    assert "https://seamark.example.org/account/password/reset/" in mail.text
    assert "https://seamark.example.org/account/password/reset/" in mail.html
    assert "localhost" not in mail.text + mail.html


def test_without_mail_the_page_names_the_ways_in(settings):
    without = Client().get("/sign-in").content.decode()
    settings.SMTP_URL = "smtp://127.0.0.1:25"
    with_mail = Client().get("/sign-in").content.decode()

    assert "Ask an owner or admin of your workspace for a reset link." in without
    assert '<details class="gate__link" open>' in without
    assert "Forgot your password?" not in without
    assert "Forgot your password?" in with_mail


def test_an_unknown_address_gets_no_mail_and_the_same_answer(ada, mails):
    form = {"email": "bob@example.org"}
    response = Client().post("/account/password/forgotten", form)

    assert response["Location"] == "/account/password/forgotten/sent"
    assert not mails.exists()


def reset(visitor: Client, link: str, password: str = NEW_PASSWORD):
    path = link.removeprefix(settings.PUBLIC_URL)
    page = visitor.get(path, follow=True)
    address = page.request["PATH_INFO"]
    return visitor.post(address, {"password1": password, "password2": password})


def test_a_reset_link_sets_a_password_once_and_ends_all_sessions(ada, mails):
    old, visitor, later = Client(), Client(), Client()
    sign_in(old)
    link = make_reset_link(ada)

    assert reset(visitor, link)["Location"] == "/sign-in"
    again = reset(later, link, "yet another one")

    assert b"no longer works" in again.content
    assert not is_signed_in(old)
    sign_in(visitor, password=NEW_PASSWORD)
    assert is_signed_in(visitor)
    assert "password.changed" in actions()
    assert "Your password was changed" in mails.latest("id").subject


def test_a_reset_link_of_a_deactivated_account_does_not_work(ada):
    link = make_reset_link(ada)
    ada.is_active = False
    ada.save()

    assert b"no longer works" in reset(Client(), link).content


def test_a_weak_password_is_rejected(ada):
    page = reset(Client(), make_reset_link(ada), "password1234")

    assert b"too common" in page.content


def test_changing_the_password_keeps_this_session_and_ends_the_others(ada):
    here, elsewhere = Client(), Client()
    sign_in(here)
    sign_in(elsewhere)

    form = {"oldpassword": PASSWORD, "password1": NEW_PASSWORD}
    here.post("/account/password", {**form, "password2": NEW_PASSWORD})

    assert is_signed_in(here)
    assert not is_signed_in(elsewhere)
