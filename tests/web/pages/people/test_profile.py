from __future__ import annotations

import io
import re

import pytest
from allauth.account.models import EmailAddress
from django.core.management import call_command
from django.test import Client

from tests.builders import make_member
from tracker.actions.people.accounts import create_account
from tracker.models import Mail, Role, User

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


def enter(visitor, email):
    visitor.post("/account/confirm", {"password": PASSWORD})
    return visitor.post("/account/", {"name": "Ada", "email": email})


def without_password(member):
    """Leave the member no method to confirm a change."""
    member.user.set_unusable_password()
    member.user.save()


def link_in(mail):
    return re.search(r"/account/email/\S+", mail.text)[0]


def test_a_new_address_needs_the_password(visitor, ada):
    form = {"name": "Ada", "email": "ada@new.example"}

    assert visitor.post("/account/", form)["Location"].startswith("/account/confirm")

    ada.refresh_from_db()
    assert (ada.email, ada.pending_email) == ("ada@example.org", "")


def test_a_new_address_counts_once_its_link_is_opened(visitor, ada, settings):
    settings.SMTP_URL = "smtp://127.0.0.1:25"
    enter(visitor, "Ada@new.example")
    ada.refresh_from_db()
    assert (ada.email, ada.pending_email) == ("ada@example.org", "ada@new.example")
    typed = {"login": "ada@new.example", "password": PASSWORD}
    assert Client().post("/sign-in", typed).status_code == 200
    mail = Mail.objects.get()
    assert mail.to == "ada@new.example"

    assert "ada@new.example" in visitor.get(link_in(mail)).content.decode()
    visitor.post(link_in(mail))

    ada.refresh_from_db()
    assert (ada.email, ada.pending_email) == ("ada@new.example", "")
    known = EmailAddress.objects.get(user=ada)
    assert (known.email, known.verified) == ("ada@new.example", True)
    assert Client().post("/sign-in", typed).status_code == 302
    reported = Mail.objects.exclude(id=mail.id).get()
    assert reported.to == "ada@example.org"
    assert reported.subject == "The email address of your account was changed"
    assert visitor.post(link_in(mail)).status_code == 404


def test_a_link_confirms_only_for_the_account_that_entered_the_address(
    visitor, settings
):
    settings.SMTP_URL = "smtp://127.0.0.1:25"
    enter(visitor, "ada@new.example")
    link = link_in(Mail.objects.get())
    other = Client()
    other.force_login(create_account("bob@example.org", "Bob"))

    assert other.post(link).status_code == 404
    enter(visitor, "ada@other.example")
    assert visitor.post(link).status_code == 404
    assert visitor.post("/account/email/x").status_code == 404


def test_an_address_that_was_taken_meanwhile_is_refused(visitor, ada, settings):
    settings.SMTP_URL = "smtp://127.0.0.1:25"
    enter(visitor, "ada@new.example")
    link = link_in(Mail.objects.get())
    create_account("ada@new.example", "Another")

    assert visitor.post(link).status_code == 400

    ada.refresh_from_db()
    assert ada.email == "ada@example.org"


def test_without_mail_an_admin_confirms_on_the_page_or_by_command(member, client_of):
    bob = make_member("bob", Role.MEMBER, workspace=member.workspace)
    without_password(bob)
    browser, admin = client_of(bob), client_of(member)
    page = f"/w/{member.workspace.slug}/members/{bob.id}"

    browser.post("/account/", {"name": "Bob", "email": "bob@example.org"})
    assert "is not confirmed yet" in browser.get("/account/").content.decode()
    assert "bob@example.org" in admin.get(page).content.decode()
    assert browser.post(f"{page}/confirm-email").status_code == 403
    # The admin confirms the address that the page showed, and no later one.
    User.objects.filter(id=bob.user_id).update(pending_email="eve@example.org")
    seen = {"email": "bob@example.org"}
    assert admin.post(f"{page}/confirm-email", seen).status_code == 400
    User.objects.filter(id=bob.user_id).update(pending_email="bob@example.org")
    admin.post(f"{page}/confirm-email", seen)
    assert User.objects.get(id=bob.user_id).email == "bob@example.org"
    assert admin.post(f"{page}/confirm-email", seen).status_code == 400

    User.objects.filter(id=bob.user_id).update(pending_email="bob@new.example")
    call_command("user", "confirm-email", "bob", stdout=io.StringIO())
    assert User.objects.get(id=bob.user_id).email == "bob@new.example"


def test_without_mail_an_owner_changes_their_own_address_at_once(member, client_of):
    without_password(member)

    client_of(member).post("/account/", {"name": "Ada", "email": "ada@example.org"})

    assert User.objects.get(id=member.user_id).email == "ada@example.org"


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
