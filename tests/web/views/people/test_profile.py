from __future__ import annotations

import pytest
from django.test import Client

from tracker.actions.people.accounts import create_account
from tracker.models import Mail

pytestmark = [pytest.mark.django_db, pytest.mark.database]

PASSWORD = "correct horse battery"


@pytest.fixture
def ada(db):
    return create_account("ada@example.org", "Ada", PASSWORD)


@pytest.fixture
def visitor(ada):
    browser = Client()
    browser.post("/sign-in", {"login": "ada", "password": PASSWORD})
    return browser


def test_a_name_is_saved(visitor, ada):
    form = {"name": "Ada  Lovelace", "email": "ada@example.org"}

    assert visitor.post("/account/", form)["Location"] == "/account/"

    ada.refresh_from_db()
    assert (ada.name, ada.initials) == ("Ada Lovelace", "AL")


def test_a_new_address_needs_the_password_and_is_reported_to_the_old(
    visitor, ada, settings
):
    settings.SMTP_URL = "smtp://127.0.0.1:25"
    form = {"name": "Ada", "email": "ada@new.example"}

    ask = visitor.post("/account/", form)["Location"]
    ada.refresh_from_db()
    assert ada.email == "ada@example.org"

    visitor.post(ask, {"password": PASSWORD, "next": "/account/"})
    ada.refresh_from_db()
    assert ada.email == "ada@new.example"
    mail = Mail.objects.get()
    assert mail.to == "ada@example.org"
    assert mail.subject == "The email address of your account was changed"


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"name": "", "email": "ada@example.org"}, b'id="name"'),
        ({"name": "Ada", "email": "bob@example.org"}, b'id="email"'),
        ({"name": "Ada", "email": "nobody"}, b'id="email"'),
    ],
)
def test_what_cannot_be_saved_is_shown_with_the_reason(visitor, form, field):
    create_account("bob@example.org", "Bob")
    visitor.post("/account/confirm", {"password": PASSWORD})

    page = visitor.post("/account/", form)

    assert page.status_code == 400
    assert field in page.content
    assert b'aria-invalid="true"' in page.content


def test_an_owner_with_neither_address_nor_password_is_asked_for_both(ada):
    ada.email = ""
    ada.set_unusable_password()
    ada.save()
    visitor = Client()
    visitor.force_login(ada)

    assert b"only one-time links sign you in" in visitor.get("/account/").content
